"""Which addresses are an application's own: exactly those that are registered.

One exception: an application on somebody's own machine (a public client) listens on whatever port is free there, so
the port of a registered http address on loopback may differ (RFC 8252, 7.3).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from gatehouse.auth.oauth.definitions import ClientAuth

if TYPE_CHECKING:
    from gatehouse.auth.oauth.definitions import ClientConfig

_LOOPBACK = re.compile(r"http://(127\.0\.0\.1|\[::1\]|localhost)(:[0-9]{1,5})?(?=[/?]|\Z)")


def is_registered(uri: str, config: ClientConfig) -> bool:
    if uri in config.redirect_uris:
        return True
    if config.auth is not ClientAuth.NONE or not _LOOPBACK.match(uri):
        return False
    return without_port(uri) in {without_port(each) for each in config.redirect_uris}


def without_port(uri: str) -> str:
    """The address without its port if it is one on loopback, else unchanged."""
    return _LOOPBACK.sub(r"http://\1", uri, count=1)
