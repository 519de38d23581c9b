"""Breaks each rule of the table in a copy of the tree and runs the tests that must fail: `python -m tests.mutants`."""

from __future__ import annotations

import argparse
import queue
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

from tests.mutants.table import MUTANTS, Mutant
from tests.mutants.tree_copy import Copy, Run, stale

CAUGHT, SURVIVED, ERROR = "caught", "SURVIVED", "ERROR"

# What pytest's exit codes say that are neither success nor a failed test.
MEANINGS = {
    2: "the tests could not be collected, or were interrupted",
    3: "pytest itself failed",
    4: "a test of the table does not exist",
    5: "no test ran: one that only `make test-all` runs needs a reason in the table",
    -1: "the tests did not end",
}


def main() -> int:
    arguments = _arguments()
    chosen = [mutant for mutant in MUTANTS if arguments.only.lower() in f"{mutant.rule} {mutant.file}".lower()]
    if not chosen:
        print(f"no rule of the table has {arguments.only!r} in it")
        return 1
    if problems := stale(chosen):
        print("The table is stale:", *problems, sep="\n  ")
        return 1
    if arguments.list:
        for mutant in chosen:
            print(f"{mutant.command:<14}{mutant.rule}\n{'':14}{mutant.file}  {', '.join(mutant.tests)}")
        return 0
    with tempfile.TemporaryDirectory(prefix="gatehouse-mutants-") as folder:
        copies = [Copy(Path(folder) / str(number)) for number in range(arguments.jobs)]
        return 0 if _unbroken(copies[0], chosen, arguments.jobs) and _break_each(copies, chosen) else 1


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("--only", metavar="SUBSTRING", default="", help="rules or files with this text in them")
    parser.add_argument("--list", action="store_true", help="say what is broken and which test must fail")
    parser.add_argument(
        "--jobs", metavar="N", type=int, choices=range(1, 65), default=2, help="copies that are tested side by side"
    )
    return parser.parse_args()


def _unbroken(copy: Copy, chosen: Sequence[Mutant], jobs: int) -> bool:
    """A test that fails anyway shows nothing."""
    for selection in sorted({mutant.selection for mutant in chosen}):
        tests = {test: None for mutant in chosen if mutant.selection == selection for test in mutant.tests}
        run = copy.test(tests, *selection, "-n", str(jobs))
        print(f"{len(tests)} tests on the tree as it is: {run.seconds:.0f} s")
        if run.exit_code != 0:
            print(run.output, "The tests fail, or do not run, with every rule in place.", sep="\n")
            return False
    return True


def _break_each(copies: Sequence[Copy], chosen: Sequence[Mutant]) -> bool:
    started = time.monotonic()
    free: queue.SimpleQueue[Copy] = queue.SimpleQueue()
    for copy in copies:
        free.put(copy)

    def run(mutant: Mutant) -> Run:
        copy = free.get()
        try:
            with copy.broken(mutant):
                return copy.test(mutant.tests, *mutant.selection, "-x")
        finally:
            free.put(copy)

    outcomes = []
    widths = [max(len(text) for text in column) for column in zip(*(map(_row, chosen)), strict=True)]
    with ThreadPoolExecutor(len(copies)) as pool:
        running = {pool.submit(run, mutant): mutant for mutant in chosen}
        for future in as_completed(running):
            mutant, done = running[future], future.result()
            outcomes.append(_outcome(done))
            cells = [text.ljust(width) for text, width in zip(_row(mutant), widths, strict=True)]
            failed = " ".join(name.removeprefix("tests/") for name in done.failed)
            print(f"{outcomes[-1]:<8}  {done.seconds:5.1f} s  {'  '.join(cells)}  {failed}", flush=True)
            if outcomes[-1] != CAUGHT:
                print(done.output, MEANINGS.get(done.exit_code, ""), sep="\n", flush=True)
    counts = [f"{outcomes.count(outcome)} {outcome}" for outcome in (CAUGHT, SURVIVED, ERROR) if outcome in outcomes]
    print(f"{len(outcomes)} rules broken, {', '.join(counts)}, in {time.monotonic() - started:.0f} s")
    return outcomes.count(CAUGHT) == len(outcomes)


def _row(mutant: Mutant) -> tuple[str, str, str]:
    return mutant.command, mutant.rule, mutant.file


def _outcome(run: Run) -> str:
    if run.exit_code == 0:
        return SURVIVED
    # A fixture that breaks is no test that fails, although the exit code is the same.
    return CAUGHT if run.exit_code == 1 and run.failed else ERROR


if __name__ == "__main__":
    sys.exit(main())
