"""Draws the result of `benchmarks.speed` as an SVG for the docs.

python -m benchmarks.result_chart [.bench/speed.json] [docs/images/speed.svg]
"""

from __future__ import annotations

import json
import sys
from html import escape
from pathlib import Path
from typing import Any

ROW, LEFT, WIDTH, TOP = 46, 260, 460, 56


def draw(rows: list[dict[str, Any]]) -> str:
    """One bar an operation: its ratio to its baseline, against the mark of what is asked."""
    height = TOP + ROW * len(rows) + 20
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {LEFT + WIDTH + 150} {height}" role="img">',
        "<style>text { font: 13px system-ui, sans-serif; fill: #24343a }</style>",
        "<title>Gatehouse beside its baselines</title>",
        f'<rect width="{LEFT + WIDTH + 150}" height="{height}" rx="10" fill="#f6f5f1"/>',
        '<text x="20" y="30" style="font-size: 16px">Gatehouse as a share of its baseline (line: asked)</text>',
    ]
    for number, row in enumerate(rows):
        scale = 0.8 * WIDTH / max(row["ratio"], row["asked"])
        y = TOP + ROW * number
        name = f"{row['operation']} ({row['engine']})"
        rate = f"{row['ratio']:.2f} of it: {row['load']['rate']:,.0f}/s"
        parts += [
            f'<text x="20" y="{y + 16}">{escape(name)}</text>',
            f'<text x="20" y="{y + 32}" font-size="11" fill="#66777d">of {escape(row["baseline"])}</text>',
            f'<rect x="{LEFT + 30}" y="{y + 4}" width="{row["ratio"] * scale:.0f}" height="24" rx="4" fill="#10695c"/>',
            f'<rect x="{LEFT + 30 + row["asked"] * scale:.0f}" y="{y}" width="2" height="32" fill="#e8a33d"/>',
            f'<text x="{LEFT + 42 + 0.8 * WIDTH:.0f}" y="{y + 21}">{rate}</text>',
        ]
    return "\n".join([*parts, "</svg>\n"])


def main() -> None:
    source, target = (sys.argv[1:] + [".bench/speed.json", "docs/images/speed.svg"][len(sys.argv) - 1 :])[:2]
    rows = json.loads(Path(source).read_text())["rows"]
    Path(target).write_text(draw(rows), encoding="utf-8")


if __name__ == "__main__":
    main()
