"""For mkdocs: links that leave docs/ have no page in the site; they become the path of the file in the repository.

A page that `nav` does not list yet is still reachable: it is listed under "More".
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
LINK = re.compile(r"\[([^\]]*)\]\((\.\./[^)#\s]+)(?:#[^)]*)?\)")


def on_config(config: Any) -> Any:
    listed = str(config["nav"])
    more = [path.name for path in sorted((ROOT / "docs").glob("*.md")) if f"'{path.name}'" not in listed]
    if more:
        config["nav"].append({"More": more})
    return config


def on_page_markdown(markdown: str, **_: Any) -> str:
    return LINK.sub(_as_path, markdown)


def _as_path(link: re.Match[str]) -> str:
    target = posixpath.normpath(posixpath.join("docs", link[2]))
    if not (ROOT / target).exists():
        return link[0]  # a dead link stays one, and the strict build reports it
    words = link[1].strip("`")
    return f"`{target}`" if words.strip("/") == target.strip("/") else f"{link[1]} (`{target}`)"
