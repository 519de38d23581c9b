"""Makes the table of tokens and serves it, with the keys to check it by, on the loopback.

    python make_tokens.py --port 8099

`GET /tokens` returns the table: `name`, `token`, `status`. `try_tokens.py` sends each token to a service and compares.
"""

from __future__ import annotations

import argparse
import sys

from issuer import Issuer
from tokens import make


def main() -> None:
    parser = argparse.ArgumentParser(description="Serve a test issuer and its table of tokens on the loopback.")
    parser.add_argument("--port", type=int, default=8099)
    with Issuer(parser.parse_args().port) as issuer:
        sys.stdout.write(f"{len(make(issuer.signers, issuer.url))} tokens at {issuer.url}/tokens\n")
        sys.stdout.flush()
        issuer.serve()


if __name__ == "__main__":
    main()
