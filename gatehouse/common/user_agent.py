"""A short name for a User-Agent, for people who look at a list of their sessions. A guess, nothing more."""

from __future__ import annotations

import re

# Sessions and audit events store no more of a User-Agent than this.
USER_AGENT_MAX_LENGTH = 200

# The order matters: most agents claim to be several others too, and the more particular name counts.
_BROWSERS = (
    ("MicroMessenger/", "WeChat"),
    ("Edg", "Edge"),
    ("OPR/", "Opera"),
    ("Firefox/", "Firefox"),
    ("FxiOS/", "Firefox"),
    ("CriOS/", "Chrome"),
    ("Chrome/", "Chrome"),
    ("Safari/", "Safari"),
)
_SYSTEMS = (
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Android", "Android"),
    ("Windows", "Windows"),
    ("Mac OS X", "macOS"),
    ("CrOS", "ChromeOS"),
    ("Linux", "Linux"),
)
_PRODUCT = re.compile(r"([A-Za-z][\w.-]{0,30})/")


def browser(agent: str) -> str:
    return " on ".join(part for part in (browser_name(agent), system_name(agent)) if part)


def browser_name(agent: str) -> str:
    name = next((name for sign, name in _BROWSERS if sign in agent), "")
    if not name:
        product = _PRODUCT.match(agent)
        name = product[1] if product else ""
    return name


def system_name(agent: str) -> str:
    return next((system for sign, system in _SYSTEMS if sign in agent), "")
