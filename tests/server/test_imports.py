"""What a worker must not carry: modules that are heavy and not needed to serve."""

import subprocess
import sys

_NOT_NEEDED = {"PIL", "alembic", "sqlalchemy.orm", "rich", "webauthn", "segno", "openpyxl", "hiredis", "asyncpg"}


def python(program: str) -> str:
    return subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout


def test_a_worker_loads_nothing_that_serving_does_not_need() -> None:
    program = "import sys, gatehouse.server.start, gatehouse.server.workers; print(*sys.modules)"
    assert not _NOT_NEEDED & set(python(program).split())


def test_captchas_are_painted_without_the_library_that_draws_the_letters() -> None:
    program = """
import sys
from gatehouse.server.start import _draw_glyphs
from gatehouse.server.workers import warm_up
drawn = _draw_glyphs()
for name in [name for name in sys.modules if name.split(".")[0] == "PIL"]:
    del sys.modules[name]
sys.modules["PIL"] = None
warm_up(drawn)
from gatehouse.auth.login.captcha import ALPHABET
from gatehouse.auth.login.captcha.image import CaptchaRenderer
renderer = CaptchaRenderer()
print(all(renderer.render(letter * 4).startswith(b"\\x89PNG") for letter in ALPHABET for _ in range(20)))
"""
    assert python(program) == "True\n"
