"""Draws a terminal session for the README from what the commands really print.

python -m tests.support.terminal_picture [docs/images/terminal.svg]
"""

from __future__ import annotations

import re
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.text import Text

from tests.support.running import Running

# Rich names a font on a foreign host; the reader's own will do.
FOREIGN_FONT = re.compile(r"@font-face \{.*?\}\s*", re.DOTALL)


def main() -> None:
    target = Path(sys.argv[1] if len(sys.argv) > 1 else "docs/images/terminal.svg")
    screen = Console(record=True, width=96, file=Path("/dev/null").open("w"), force_terminal=True)  # noqa: SIM115
    with tempfile.TemporaryDirectory() as folder:
        service = Running(Path(folder) / "data", admin_password="", captcha_test_answer="", limits="on")
        service.env["COLUMNS"] = "96"
        with service:
            _type(screen, "make run")
            said = "".join(line for line in service.output().splitlines(keepends=True) if not line.startswith("{"))
            screen.print(Text(said.replace(str(service.port), "8000")))
            for words, stdin in (
                (("role", "add", "EDITOR", "--name", "Editor", "--allow", "cms:page:edit"), ""),
                (
                    ("user", "add", "ann", "--nickname", "Ann Lee", "--role", "EDITOR", "--password-stdin"),
                    "tulip rain lamp\n",
                ),
                (("user", "list"), ""),
            ):
                done = service.cli(*words, stdin=stdin)
                assert done.returncode == 0, done.stderr
                quoted = " ".join(f"'{word}'" if " " in word else word for word in words)
                _type(screen, ("echo 'tulip rain lamp' | " if stdin else "") + f"gatehouse {quoted}")
                screen.print(Text(done.stdout.rstrip()))
    target.write_text(FOREIGN_FONT.sub("", screen.export_svg(title="Gatehouse")), encoding="utf-8")


def _type(screen: Console, command: str) -> None:
    screen.print(Text("$ ", style="bold green") + Text(command, style="bold"))


if __name__ == "__main__":
    main()
