"""`python -m tests.faults`: a run of any length. Exit code 1 if a promise was broken."""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
from pathlib import Path

from tests.faults.engine_sets import NAMES
from tests.faults.run import run

parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
parser.add_argument("--seed", type=int, default=random.randrange(10_000), help="repeats the plan of an earlier run")
parser.add_argument("--seconds", type=float, default=0, help="at least so long")
parser.add_argument("--faults", type=int, default=200, help="at least so many faults (200)")
parser.add_argument(
    "--engines", choices=NAMES, default="redis", help="embedded; redis: PostgreSQL and Redis (default); postgres: alone"
)
parser.add_argument("--nodes", type=int, default=2, help="nodes of Gatehouse (2)")
parser.add_argument("--forgetful-redis", action="store_true", help="without persistence: the checker must object")
parser.add_argument("--history", type=Path, help="write every operation to this file, a JSON array a line")
options = parser.parse_args()

with tempfile.TemporaryDirectory() as folder:
    report = run(
        Path(folder),
        options.seed,
        seconds=options.seconds,
        faults=options.faults,
        nodes=options.nodes,
        engines=options.engines,
        redis_options=["--appendonly", "no"] if options.forgetful_redis else [],
        progress=lambda line: print(line, file=sys.stderr, flush=True),
    )
print(report.summary())
if options.history:
    options.history.write_text("".join(json.dumps(operation) + "\n" for operation in report.history))
sys.exit(1 if report.violations else 0)
