"""The table of tokens that every adapter is tried with: good ones of all three algorithms, and many bad ones."""

from __future__ import annotations

import base64
import json
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import keys
from keys import EcKey, Json, Key, OkpKey, RsaKey

if TYPE_CHECKING:
    from collections.abc import Callable

OK, LOG_IN, FORBIDDEN = 200, 401, 403
PERM = "sys:user:add"
ENDED_SESSION = "7-ended"
# The feed cannot tell of sessions that ended before its gap; a token as old as this was issued before it.
MISSED_SESSION, MISSED_AGE, GAP_AGE = "7-missed", 3000, 1800
# It ended a while ago, and the feed has since said to keep less than that; tokens of the longer life are still valid.
EARLIER_SESSION, EARLIER_AGE = "7-earlier", 600
GUEST = {"roles": ["GUEST"], "authorities": ["ROLE_GUEST"]}  # for backends that know perms by the role
GONE = object()  # takes a claim or a header field away


@dataclass
class Row:
    """`status` is what an operation that needs the perm `sys:user:add` answers."""

    name: str
    token: str
    status: int
    only: str = ""  # the one adapter that this row is for


@dataclass
class Table:
    issuer: str
    audience: str = "gatehouse"
    now: int = field(default_factory=lambda: int(time.time()))
    rows: list[Row] = field(default_factory=list)

    def claims(self, **changes: Any) -> Json:
        given = {
            "iss": self.issuer, "aud": self.audience, "sub": "7", "sid": "7-open", "jti": "j-1",
            "iat": self.now, "exp": self.now + 3600,
            "preferred_username": "ada", "dept": 3, "roles": ["EDITOR"], "perms": [PERM, "sys:user:list"],
            "userId": 7, "deptId": 3, "username": "ada", "authorities": ["ROLE_EDITOR"],
            "dataScopes": [{"roleCode": "EDITOR", "dataScope": 3, "customDeptIds": []}],
        }  # fmt: skip
        return without_gone({**given, **changes})

    def add(self, name: str, token: str, status: int = LOG_IN, only: str = "") -> None:
        self.rows.append(Row(name, token, status, only))


def without_gone(given: Json) -> Json:
    return {name: value for name, value in given.items() if value is not GONE}


def header(key: Key, **changes: Any) -> Json:
    return without_gone({"alg": key.alg, "kid": key.kid, "typ": "at+jwt", **changes})


def token(head: object, body: object, sign: Callable[[bytes], bytes]) -> str:
    signed = f"{keys.encode(head)}.{keys.encode(body)}"
    return f"{signed}.{keys.b64(sign(signed.encode()))}"


class Signers:
    """The issuer's keys, and those of an attacker who gives them the same names."""

    def __init__(self) -> None:
        self.ec, self.ed, self.rsa = EcKey("ec-1"), OkpKey("ed-1"), RsaKey("rsa-1")
        self.ours: list[Key] = [self.ec, self.ed, self.rsa]
        self.foreign: list[Key] = [EcKey("ec-1"), OkpKey("ed-1"), RsaKey("rsa-1")]

    def jwks(self) -> Json:
        return {"keys": [key.jwk() for key in self.ours]}

    def attackers_jwks(self) -> Json:
        return {"keys": [key.jwk() for key in self.foreign]}


def make(signers: Signers, issuer: str) -> list[Row]:
    table = Table(issuer)
    for add_rows in (
        good,
        malformed,
        unsigned,
        hmac_with_a_public_key,
        signatures,
        key_names,
        algorithms,
        wrong_claims,
    ):
        add_rows(table, signers)
    youlai(table, signers)
    return table.rows


def good(table: Table, signers: Signers) -> None:
    for key in signers.ours:
        table.add(f"good, {key.alg}", token(header(key), table.claims(), key.sign), OK)
        other_perm = table.claims(perms=["a:b:c"], **GUEST)
        table.add(f"good, {key.alg}, without the perm", token(header(key), other_perm, key.sign), FORBIDDEN)
        ended = table.claims(sid=ENDED_SESSION)
        table.add(f"session has ended, {key.alg}", token(header(key), ended, key.sign))
    key = signers.ours[0]
    missed = table.claims(sid=MISSED_SESSION, iat=table.now - MISSED_AGE)
    table.add("issued before a gap of the feed", token(header(key), missed, key.sign))
    earlier = table.claims(sid=EARLIER_SESSION, iat=table.now - EARLIER_AGE)
    table.add("session has ended, and keep was lowered", token(header(key), earlier, key.sign))
    table.add("good, two audiences", token(header(key), table.claims(aud=["x", table.audience]), key.sign), OK)
    table.add("good, no perms claim", token(header(key), table.claims(perms=GONE, **GUEST), key.sign), FORBIDDEN)
    pattern = table.claims(perms=["sys:user:*", "*", "*:*:*"], **GUEST)
    table.add("good, a perm that looks like a pattern", token(header(key), pattern, key.sign), FORBIDDEN)
    pointers = header(key, jku=f"{table.issuer}/attacker/jwks.json", x5u=f"{table.issuer}/attacker/x5u")
    table.add("good, with jku and x5u that lead elsewhere", token(pointers, table.claims(), key.sign), OK)


def malformed(table: Table, signers: Signers) -> None:
    key = signers.ours[0]
    head, body, mark = token(header(key), table.claims(), key.sign).split(".")
    table.add("not a token", "not-a-token")
    table.add("only dots", "..")
    table.add("a refresh token", "7-" + "k" * 43)
    table.add("two parts", f"{head}.{body}")
    table.add("four parts", f"{head}.{body}.{mark}.{mark}")
    table.add("five parts, as an encrypted token has", f"{head}.{body}.{mark}.{body}.{mark}")
    table.add("header is not base64", f"!!!.{body}.{mark}")
    table.add("header is not JSON", f"{keys.b64(b'{')}.{body}.{mark}")
    table.add("header is a list", token([header(key)], table.claims(), key.sign))
    table.add("claims are a list", token(header(key), [table.claims()], key.sign))
    table.add("claims are null", token(header(key), None, key.sign))


def unsigned(table: Table, signers: Signers) -> None:
    for key in signers.ours:
        head, body, mark = token(header(key), table.claims(), key.sign).split(".")
        table.add(f"signature cut off, {key.alg}", f"{head}.{body}.")
        for none in ("none", "None", "NONE", "nOnE"):
            table.add(f"alg {none}, kid of {key.alg}", token(header(key, alg=none), table.claims(), lambda _: b""))
        table.add(f"alg none over a signature, {key.alg}", f"{keys.encode(header(key, alg='none'))}.{body}.{mark}")
    table.add("alg none, no kid", token({"alg": "none", "typ": "at+jwt"}, table.claims(), lambda _: b""))
    table.add("alg is missing", token(header(signers.ours[0], alg=GONE), table.claims(), signers.ours[0].sign))
    table.add("alg is empty", token(header(signers.ours[0], alg=""), table.claims(), signers.ours[0].sign))


def hmac_with_a_public_key(table: Table, signers: Signers) -> None:
    for key in signers.ours:
        secrets = {
            "PEM": keys.public_pem(key),
            "PEM without its last newline": keys.public_pem(key).rstrip(),
            "DER": keys.public_der(key),
            "JWK": json.dumps(key.jwk()).encode(),
            "empty": b"",
        }
        for form, secret in secrets.items():
            forged = token(header(key, alg="HS256"), table.claims(), lambda data, s=secret: keys.hs256(s, data))  # type: ignore[misc]
            table.add(f"HS256 with the public {key.alg} key as secret, {form}", forged)


def signatures(table: Table, signers: Signers) -> None:
    for key, other in zip(signers.ours, signers.foreign, strict=True):
        head, body, mark = token(header(key), table.claims(), key.sign).split(".")
        richer = keys.encode(table.claims(sub="1", userId=1))
        flipped = ("A" if mark[9] != "A" else "B").join((mark[:9], mark[10:]))
        table.add(f"claims changed, {key.alg}", f"{head}.{richer}.{mark}")
        table.add(f"signature changed, {key.alg}", f"{head}.{body}.{flipped}")
        table.add(f"signature of zeros, {key.alg}", token(header(key), table.claims(), lambda _: bytes(64)))
        table.add(f"another's key under our kid, {key.alg}", token(header(other), table.claims(), other.sign))
        for pointer, value in (
            ("jwk", other.jwk()),
            ("jku", f"{table.issuer}/attacker/jwks.json"),
            ("x5u", f"{table.issuer}/attacker/x5u"),
            ("x5c", [base64.b64encode(keys.public_der(other)).decode()]),
        ):
            head_with = header(other, **{pointer: value})
            table.add(f"another's key, named by {pointer}, {key.alg}", token(head_with, table.claims(), other.sign))
            no_kid = header(other, kid=GONE, **{pointer: value})
            table.add(f"another's key, {pointer} and no kid, {key.alg}", token(no_kid, table.claims(), other.sign))
    ec = signers.ec
    table.add("ES256 signature in DER form", token(header(ec), table.claims(), ec.sign_der))


def key_names(table: Table, signers: Signers) -> None:
    for key in signers.ours:
        table.add(f"kid is missing, {key.alg}", token(header(key, kid=GONE), table.claims(), key.sign))
        table.add(f"kid is unknown, {key.alg}", token(header(key, kid="nobody"), table.claims(), key.sign))
    key = signers.ours[0]
    for kid in ("", "../../etc/passwd", "ec-1' OR '1'='1", "EC-1", None, 1, ["ec-1"]):
        table.add(f"kid is {kid!r}", token(header(key, kid=kid), table.claims(), key.sign))


def algorithms(table: Table, signers: Signers) -> None:
    ec, ed, rsa = signers.ec, signers.ed, signers.rsa
    for key in signers.ours:
        for other in signers.ours:
            if key is not other:
                name = f"{other.alg} token under the kid of the {key.alg} key"
                table.add(name, token(header(other, kid=key.kid), table.claims(), other.sign))
                name = f"alg says {other.alg}, signed with the {key.alg} key"
                table.add(name, token(header(key, alg=other.alg), table.claims(), key.sign))
    table.add("PS256 with the RS256 key", token(header(rsa, alg="PS256"), table.claims(), rsa.sign_pss))
    table.add("RS512 with the RS256 key", token(header(rsa, alg="RS512"), table.claims(), rsa.sign_rs512))
    table.add("ES384 under the ES256 key", token(header(ec, alg="ES384"), table.claims(), ec.sign))
    table.add("Ed448 under the EdDSA key", token(header(ed, alg="Ed448"), table.claims(), ed.sign))
    table.add("alg in lower case", token(header(ec, alg="es256"), table.claims(), ec.sign))
    table.add("crit of an unknown extension", token(header(ec, crit=["x"], x=1), table.claims(), ec.sign))
    table.add("crit with b64 false", token(header(ec, crit=["b64"], b64=False), table.claims(), ec.sign))


def wrong_claims(table: Table, signers: Signers) -> None:
    now, issuer = table.now, table.issuer
    claims: dict[str, Json] = {
        "expired an hour ago": {"iat": now - 7200, "exp": now - 3600},
        "expired two minutes ago": {"iat": now - 7200, "exp": now - 120},
        "not valid for another hour": {"nbf": now + 3600},
        "exp is missing": {"exp": GONE},
        "exp is a word": {"exp": "never"},
        "exp is null": {"exp": None},
        "issuer is another": {"iss": "https://login.example.net"},
        "issuer has a slash too many": {"iss": f"{issuer}/"},
        "issuer begins like ours": {"iss": f"{issuer}.example.net"},
        "issuer is missing": {"iss": GONE},
        "issuer is a list": {"iss": [issuer]},
        "audience is another": {"aud": "another-service"},
        "audience is a list without us": {"aud": ["another-service", "gatehouse-2"]},
        "audience is missing": {"aud": GONE},
        "audience is an empty list": {"aud": []},
        "sub is missing": {"sub": GONE},
        "sub is null": {"sub": None},
        "sub is a word": {"sub": "seven"},
        "sid is missing": {"sid": GONE},
        "sid is null": {"sid": None},
        "sid is empty": {"sid": ""},
    }
    for key in signers.ours:
        for name, changes in claims.items():
            table.add(f"{name}, {key.alg}", token(header(key), table.claims(**changes), key.sign))
        for typ in ("JWT", "rt+jwt", "secevent+jwt", "", GONE):
            name = "typ is missing" if typ is GONE else f"typ is {typ!r}"
            table.add(f"{name}, {key.alg}", token(header(key, typ=typ), table.claims(), key.sign))


def youlai(table: Table, signers: Signers) -> None:
    """That backend shows every row to a user without data scopes or id, or with a scope that it does not know."""
    key = signers.ours[0]

    def add(name: str, status: int = LOG_IN, **changes: Any) -> None:
        table.add(name, token(header(key), table.claims(**changes), key.sign), status, only="youlai-boot")

    def scope(value: object, departments: object = None) -> list[Json]:
        return [{"roleCode": "EDITOR", "dataScope": value, "customDeptIds": departments}]

    add("dataScopes is missing", dataScopes=GONE)
    add("dataScopes is null", dataScopes=None)
    add("dataScopes is empty", dataScopes=[])
    add("dataScopes is a word", dataScopes="all")
    add("dataScopes holds a word", dataScopes=["all"])
    for value in (None, 0, 6, -1, "1", "all", 1.5, True, 2**32 + 1):
        add(f"a data scope of {value!r}", dataScopes=scope(value))
    add("one data scope is fine, one unknown", dataScopes=scope(3) + scope(9))
    add("chosen departments are words", dataScopes=scope(5, ["one"]))
    add("chosen departments are one number", dataScopes=scope(5, 1))
    add("userId is missing", userId=GONE)
    add("userId is null", userId=None)
    add("userId is a word", userId="seven")
    add("userId is not the sub", userId=8)
    add("deptId is missing", deptId=GONE)
    add("username is missing", username=GONE)
    add("authorities are missing", authorities=GONE)
    add("authorities are one word", authorities="ROLE_ROOT")
    for value in (1, 2, 3, 4, 5):
        add(f"good, a data scope of {value}", OK, dataScopes=scope(value, [3, 4] if value == 5 else None))
    add("good, chosen departments are none", OK, dataScopes=scope(5, []))
