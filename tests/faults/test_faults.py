"""A short run with every `make test-all`; `make faults` is the long one."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pytest

from tests.faults.engine_sets import NAMES
from tests.faults.history import Outcome, What
from tests.faults.run import run

# At least so long and so many: a slow machine needs longer for a fault and its recovery.
SECONDS = 30
FAULTS = 4


pytestmark = pytest.mark.full


@pytest.mark.parametrize("engines", NAMES)
def test_promises_hold_while_everything_is_being_killed(tmp_path: Path, engines: str) -> None:
    seed = random.randrange(10_000)
    # Printed before the run, so that it is seen whatever ends it.
    print(f"again: python -m tests.faults --engines {engines} --seconds {SECONDS} --faults {FAULTS} --seed {seed}")
    report = run(tmp_path, seed, seconds=SECONDS, faults=FAULTS, engines=engines)
    print(report.summary())
    assert not report.violations, report.summary()
    done = Counter(operation.what for operation in report.history if operation.outcome is Outcome.OK)
    assert min(done[what] for what in (What.LOGIN, What.ME, What.REFRESH, What.LOGOUT, What.CHANGE)) > 0
    assert report.faults.total() >= FAULTS
