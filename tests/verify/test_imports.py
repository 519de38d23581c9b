"""What another service has to install: PyJWT and cryptography, and nothing else."""

from __future__ import annotations

import subprocess
import sys

# Refuses to import anything that is neither the standard library nor on the short list.
PROGRAM = """
import sys
ALLOWED = {"gatehouse", "jwt", "cryptography", "cffi", "_cffi_backend", "typing_extensions"} | sys.stdlib_module_names
class Gate:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] not in ALLOWED:
            raise ImportError(f"{name} is not on the list")
sys.meta_path.insert(0, Gate())
import gatehouse.verify, gatehouse.verify.asgi
gatehouse.verify.Verifier("https://login.example.com/jwks", "https://login.example.com")
ours = sorted(name for name in sys.modules if name.startswith("gatehouse"))
print(",".join(ours))
"""


def test_few_things_are_imported() -> None:
    run = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    loaded = run.stdout.strip().split(",")
    assert "gatehouse.verify.verifier" in loaded
    assert [name for name in loaded if name != "gatehouse" and not name.startswith("gatehouse.verify")] == []
