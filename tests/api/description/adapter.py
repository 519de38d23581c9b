"""Requests of the `requests` library, which Schemathesis sends, answered by a service in this process."""

from __future__ import annotations

from io import BytesIO
from typing import Any

import httpx
import requests
import urllib3
from requests.adapters import HTTPAdapter

from tests.support.local import Local


class LocalAdapter(HTTPAdapter):
    def __init__(self, service: Local) -> None:
        super().__init__()
        self._transport = service.transport()

    def send(self, request: requests.PreparedRequest, *_: object, **__: object) -> requests.Response:
        sent = httpx.Request(
            str(request.method), str(request.url), headers=dict[Any, Any](request.headers), content=_bytes(request.body)
        )
        answer = self._transport.handle_request(sent)
        headers, body = urllib3.HTTPHeaderDict(answer.headers.multi_items()), BytesIO(answer.read())
        return self.build_response(
            request, urllib3.HTTPResponse(body, headers, answer.status_code, preload_content=False)
        )


def _bytes(body: Any) -> bytes | None:
    return body.encode() if isinstance(body, str) else body
