"""Runs the conformance suite of the OpenID Foundation against a Gatehouse of its own.

python -m tests.conformance.run --suite https://localhost:9443 --certificate suite.pem --issuer https://localhost:9444

The suite must be running, and something must take https at the issuer's address and pass it on to `--port`. Every
plan and module is printed; the exit code is 0 if none failed and none warned. docs/openid-conformance.md has the rest.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from cryptography.hazmat.primitives.asymmetric import ec
from jwt.algorithms import ECAlgorithm

from tests.conformance.browser_scripts import PASSWORD, USERNAME, scripts
from tests.conformance.suite import ModuleResult, Suite, Verdict
from tests.support.running import Running

ALIAS = "gatehouse"
CLAIMS = {
    "given_name": "Per", "family_name": "Son", "middle_name": "M.", "profile": "https://example.com/person",
    "website": "https://example.com", "birthdate": "1990-01-02", "zoneinfo": "Europe/Paris", "locale": "en",
    "address.formatted": "1 Rue du Test, 75001 Paris, France", "address.country": "France",
}  # fmt: skip


class Plan(NamedTuple):
    label: str
    name: str
    client: str = "suite-1"
    client2: str = "suite-2"
    left_out: str = ""  # a module


PLANS = (
    Plan("config", "oidcc-config-certification-test-plan"),
    Plan("basic", "oidcc-basic-certification-test-plan"),
    Plan("RP-initiated logout", "oidcc-rp-initiated-logout-certification-test-plan"),
    # A client of its own: in the other plans, a call to this address would be an error.
    Plan("back-channel logout", "oidcc-backchannel-rp-initiated-logout-certification-test-plan", "suite-backchannel"),
    # It says `form_post` in the request object alone, which we do not read, and cannot take the refusal as a query.
    Plan("form post", "oidcc-formpost-basic-certification-test-plan", left_out="oidcc-unsigned-request-object"),
    # All modules there are for what we do; ID tokens by ES256 here.
    Plan("all, private_key_jwt", "oidcc-test-plan", "suite-jwt-1", "suite-jwt-2"),
)


def add_person(running: Running) -> None:
    """With everything that an application may ask about; what is missing is a warning."""
    contact = ["--gender", "female", "--mobile", "+33 1 23 45 67 89", "--email", "person@example.com"]
    name = ["--nickname", "Person", "--avatar", "https://example.com/person.png"]
    _done(running, "user", "add", USERNAME, *name, *contact, "--password-stdin", stdin=PASSWORD)
    claims = [word for name, value in CLAIMS.items() for word in ("--claim", f"{name}={value}")]
    _done(running, "user", "edit", USERNAME, *claims)


def add_client(running: Running, suite: str, client_id: str) -> dict[str, Any]:
    """What the suite is told about it. One module asks without PKCE and without a nonce."""
    base = f"{suite}/test/a/{ALIAS}"
    words = ["--redirect-uri", f"{base}/callback", "--redirect-uri", f"{base}/callback?dummy1=lorem&dummy2=ipsum"]
    words += ["--post-logout-uri", f"{base}/post_logout_redirect", "--pkce", "optional"]
    if "backchannel" in client_id:
        words += ["--backchannel-uri", f"{base}/backchannel_logout"]
    keys, stdin = {}, ""
    if "jwt" in client_id:
        private = ec.generate_private_key(ec.SECP256R1())
        facts = {"kid": client_id, "alg": "ES256", "use": "sig"}
        keys["jwks"] = {"keys": [ECAlgorithm.to_jwk(private, as_dict=True) | facts]}
        stdin = json.dumps({"keys": [ECAlgorithm.to_jwk(private.public_key(), as_dict=True) | facts]})
        words += ["--auth", "private_key_jwt", "--jwks-file", "-", "--id-token-alg", "ES256"]
    added = json.loads(_done(running, "client", "add", client_id, *words, "--json", stdin=stdin))
    return {name: added[name] for name in ("client_id", "client_secret") if added.get(name)} | keys


def _done(running: Running, *words: str, stdin: str = "") -> str:
    done = running.cli(*words, stdin=stdin)
    assert done.returncode == 0, f"gatehouse {' '.join(words)}: {done.stderr}"
    return done.stdout


def run_plans(
    running: Running, suite: Suite, issuer: str, plans: Sequence[Plan], only: str
) -> dict[str, list[ModuleResult]]:
    add_person(running)
    names = ("suite-1", "suite-2", "suite-post", "suite-backchannel", "suite-jwt-1", "suite-jwt-2")
    clients = {name: add_client(running, suite.url, name) for name in names}
    found: dict[str, list[ModuleResult]] = {}
    waiting = {"oidcc-server-rotate-keys": lambda: _done(running, "key", "rotate")}
    for plan in plans:
        config: dict[str, Any] = {
            "alias": ALIAS,
            "description": "Gatehouse",
            "server": {"discoveryUrl": f"{issuer}/.well-known/openid-configuration"},
            "client": clients[plan.client],
            "client2": clients[plan.client2],
            "client_secret_post": clients["suite-post"],
            **scripts(issuer),
        }

        def is_wanted(module: str, left_out: str = plan.left_out) -> bool:
            return only in module and not (left_out and left_out in module)

        print(f"{plan.label} ({plan.name})", flush=True)
        found[plan.label] = []
        for result in suite.run(plan.name, config, is_wanted, waiting):
            found[plan.label].append(result)
            print(f"  {result.verdict:8}{result.name} ({result.seconds:.0f} s)", flush=True)
            for reason in result.reasons if result.verdict is not Verdict.PASSED else ():
                print(f"          {reason}", flush=True)
    return found


def print_table(found: dict[str, list[ModuleResult]]) -> None:
    print("\n| plan | modules |" + "".join(f" {verdict.value.lower()} |" for verdict in Verdict))
    print("|---|---|" + "---|" * len(Verdict))
    for label, results in found.items():
        counts = Counter(result.verdict for result in results)
        print(f"| {label} | {len(results)} |" + "".join(f" {counts[verdict]} |" for verdict in Verdict))


def keep(folder: Path, found: dict[str, list[ModuleResult]]) -> None:
    """The suite's logs, and the pages to look at."""
    folder.mkdir(parents=True, exist_ok=True)
    for label, results in found.items():
        plan = folder / label
        plan.mkdir(exist_ok=True)
        for result in results:
            (plan / f"{result.name}.json").write_text(json.dumps(result.log, indent=1))
            for number, page in enumerate(result.pages):
                (plan / f"{result.name}-{number}.html").write_text(page.source)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--suite", default="https://localhost:9443", help="where the suite answers")
    parser.add_argument("--certificate", type=Path, required=True, help="that of the suite, to which we post logouts")
    parser.add_argument("--issuer", default="https://localhost:9444", help="our address for the suite")
    parser.add_argument("--port", type=int, default=8103, help="where we listen behind it")
    parser.add_argument("--plan", default="", help="run the plans whose labels contain this")
    parser.add_argument("--only", default="", help="run the modules whose names contain this")
    parser.add_argument("--seconds", type=float, default=120, help="how long one module may take")
    parser.add_argument("--keep", type=Path, help="a folder for the suite's logs and the pages to look at")
    options = parser.parse_args()
    suite = Suite(options.suite.rstrip("/"), patience=options.seconds)
    with tempfile.TemporaryDirectory() as folder:
        running = Running(Path(folder) / "data", port=options.port, issuer=options.issuer, workers=2)
        running.env["SSL_CERT_FILE"] = str(options.certificate.resolve())
        with running:
            plans = [plan for plan in PLANS if options.plan in plan.label]
            found = run_plans(running, suite, options.issuer, plans, options.only)
        if options.keep:
            keep(options.keep, found)
            (options.keep / "gatehouse.log").write_text(running.output())
    suite.close()
    print_table(found)
    bad = {result.verdict for results in found.values() for result in results} & {Verdict.WARNING, Verdict.FAILED}
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
