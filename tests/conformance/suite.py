"""The conformance suite of the OpenID Foundation, through its HTTP interface."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from enum import StrEnum
from typing import Any, NamedTuple

import httpx

# What a plan leaves open. One that it has fixed itself must not be given.
VARIANTS = {
    "server_metadata": "discovery", "client_registration": "static_client", "response_type": "code",
    "response_mode": "default", "client_auth_type": "private_key_jwt",
}  # fmt: skip
POLL_SECONDS = 0.3


class Verdict(StrEnum):
    PASSED = "PASSED"
    REVIEW = "REVIEW"  # nothing is wrong, but a person has to look at a page
    SKIPPED = "SKIPPED"  # what the module tests is not offered
    WARNING = "WARNING"
    FAILED = "FAILED"


class Page(NamedTuple):
    """One of ours that a module ended at."""

    source: str
    pattern: str


class ModuleResult(NamedTuple):
    name: str
    verdict: Verdict
    seconds: float
    reasons: list[str]
    pages: list[Page]
    log: list[dict[str, Any]]


class Suite:
    def __init__(self, url: str, *, patience: float) -> None:
        """`patience`: how many seconds one module may take."""
        self.url = url
        self._patience = patience
        self._http = httpx.Client(base_url=url, verify=False, timeout=60)  # a certificate of its own, on the loopback

    def close(self) -> None:
        self._http.close()

    def run(
        self,
        plan: str,
        config: dict[str, Any],
        is_wanted: Callable[[str], bool],
        waiting: Mapping[str, Callable[[], object]],
    ) -> Iterator[ModuleResult]:
        """The modules of the plan that are wanted, one after another.

        Those in `waiting` do not begin by themselves: something has to be done first.
        """
        offered = next(
            each["variants"] for each in self._call("GET", "/api/plan/available") if each["planName"] == plan
        )
        variant = {name: value for name, value in VARIANTS.items() if name in (offered or {})}
        created = self._call("POST", "/api/plan", config, planName=plan, variant=json.dumps(variant))
        for module in created["modules"]:
            if is_wanted(module["testModule"]):
                yield self._run_module(created["id"], module, waiting.get(module["testModule"]))

    def _run_module(self, plan: str, module: dict[str, Any], first: Callable[[], object] | None) -> ModuleResult:
        variant = json.dumps(module.get("variant") or {})
        began = time.monotonic()
        test = self._call("POST", "/api/runner", test=module["testModule"], plan=plan, variant=variant)["id"]
        info: dict[str, Any] = {}
        while info.get("status") not in {"FINISHED", "INTERRUPTED"} and time.monotonic() < began + self._patience:
            time.sleep(POLL_SECONDS)
            info = self._call("GET", f"/api/info/{test}")
            if first is not None and info["status"] == "CONFIGURED":
                first()
                first = None
                self._call("POST", f"/api/runner/{test}")
        log = self._call("GET", f"/api/log/{test}")
        finished = info.get("status") == "FINISHED"
        if info.get("status") not in {"FINISHED", "INTERRUPTED"}:
            self._call("DELETE", f"/api/runner/{test}")
        known = {verdict.value for verdict in Verdict}
        verdict = Verdict(info["result"]) if finished and info.get("result") in known else Verdict.FAILED
        reasons = _reasons(log) + ([] if finished else [f"ended as {info.get('status')}"])
        seconds = time.monotonic() - began
        return ModuleResult(module["testModule"], verdict, seconds, reasons, _pages(log), log)

    def _call(self, method: str, path: str, body: object = None, **query: str) -> Any:
        answer = self._http.request(method, path, json=body, params=query)
        assert answer.is_success, f"{method} {path}: {answer.status_code} {answer.text[:500]}"
        return answer.json() if answer.content else None


def _reasons(log: list[dict[str, Any]]) -> list[str]:
    """Why a module did not simply pass, each said once."""
    said = {
        f"{entry['result']} {entry.get('src')}: {entry.get('msg') or entry.get('error')}"[:300]: None
        for entry in log
        if entry.get("result") in {"FAILURE", "WARNING", "SKIPPED"}
    }
    return list(said)


def _pages(log: list[dict[str, Any]]) -> list[Page]:
    """Those that the browser has shown for somebody to look at."""
    return [Page(entry["page_source"], entry["matched_regexp"]) for entry in log if entry.get("matched_regexp")]
