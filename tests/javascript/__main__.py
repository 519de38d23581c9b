"""Writes generated.d.ts: what the type check knows of the API and of the HTML of the pages."""

from __future__ import annotations

from pathlib import Path

from tests.javascript import api_types, element_types

HEAD = "// Made by `python -m tests.javascript` from the OpenAPI document and the pages.\n"

Path(__file__).with_name("generated.d.ts").write_text(
    f"{HEAD}{api_types.types()}\n{element_types.types()}\n", encoding="utf-8"
)
