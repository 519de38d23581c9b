"""The elements of the pages by their ids in TypeScript, from the HTML: an id that no page has is an error."""

from __future__ import annotations

from collections import defaultdict
from html.parser import HTMLParser
from pathlib import Path

PAGES = Path(__file__).parents[2] / "gatehouse/api/pages/static"
CONTROLS = {"input", "select", "textarea", "button"}


class Ids(HTMLParser):
    """Which element has which id, and which controls a form has by their names."""

    def __init__(self) -> None:
        super().__init__()
        self.elements: dict[str, set[str]] = defaultdict(set)
        self.controls: dict[str, dict[str, str]] = defaultdict(dict)
        self._form = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        name = given.get("id") or ""
        if tag == "form":
            self._form = name
        if name:
            self.elements[name].add(tag)
        if tag in CONTROLS and self._form:
            self.controls[self._form].update(dict.fromkeys(filter(None, (name, given.get("name"))), tag))

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self._form = ""


def types() -> str:
    ids = Ids()
    for page in sorted(PAGES.glob("*.html")):
        ids.feed(page.read_text(encoding="utf-8"))
        ids.close()
    lines = []
    for name, tags in sorted(ids.elements.items()):
        kind = " | ".join(f'HTMLElementTagNameMap["{tag}"]' for tag in sorted(tags))
        controls = "; ".join(
            f'"{control}": HTMLElementTagNameMap["{tag}"]' for control, tag in ids.controls.get(name, {}).items()
        )
        lines.append(f'  "{name}": {kind}{f" & {{ elements: {{ {controls} }} }}" if controls else ""};')
    return "\n".join(["interface PageElements {", *lines, "}"])
