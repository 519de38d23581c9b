"""Which tests run, on which engines, in which order.

`pytest` runs what every change needs, on the embedded default. `--all` runs everything there is: the tests marked
`full`, every size of screen, generated cases in full number, and those marked `every_engine` on all sets of engines.
`--engines postgres` runs whatever can on that set alone.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import settings
from xdist.scheduler import LoadScopeScheduling

EMBEDDED = "embedded"
SETS = (EMBEDDED, "redis", "postgres")

# What takes longest begins first, so that nothing long is left for the end, where one worker would wait for the other.
FIRST = (
    "tests/faults/",
    "tests/examples/",
    "tests/browser/",
    "tests/server/",
    "tests/stores/",
    "tests/release/",
    "tests/test_",
)

# Long files without fixtures of their own: their tests run in whichever process is free.
SPREAD = {
    "tests/api/description/test_openapi.py",
    "tests/cli/test_move.py",
    "tests/faults/test_faults.py",
    "tests/server/test_durability.py",
    "tests/server/test_stopping.py",
    "tests/stores/test_postgres_failover.py",
    "tests/test_upgrade.py",
}
# The browser tests, in three parts of about the same length; what is not named is in the first.
BROWSER_PARTS = {
    "test_accessibility.py": "second",
    "test_admin.py": "second",
    "test_company_login.py": "second",
    "test_oauth_pages.py": "third",
    "test_painted.py": "third",
}

# Hypothesis: how many cases a test generates, as a share of what it asks for in full.
QUICK_SHARE = 0.2


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("gatehouse")
    group.addoption("--all", action="store_true", help="everything: see tests/support/selection.py")
    group.addoption("--engines", choices=SETS, help="one set of engines, for every test that can run on several")


def configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "full: only with --all, or when its file is named on the command line")
    config.addinivalue_line("markers", "every_engine: with --all on every set of engines: they could differ here")
    settings.register_profile("all", deadline=None, print_blob=True)
    settings.register_profile("quick", settings.get_profile("all"), max_examples=cases(100, all_of_them=False))
    settings.load_profile("all" if config.getoption("all") else "quick")


def cases(number: int, *, all_of_them: bool | None = None) -> int:
    """So many generated cases with --all, and a share of them without."""
    if all_of_them is None:
        all_of_them = settings.get_current_profile_name() == "all"
    return number if all_of_them else max(3, round(number * QUICK_SHARE))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "engine_set" not in metafunc.fixturenames:
        return
    one, everything = metafunc.config.getoption("engines"), metafunc.config.getoption("all")
    if one:
        metafunc.parametrize("engine_set", [one], indirect=True, scope="session")
    elif everything and metafunc.definition.get_closest_marker("every_engine"):
        metafunc.parametrize("engine_set", SETS, indirect=True, scope="session")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not config.getoption("all"):
        named = {argument.partition("::")[0] for argument in config.args if ".py" in argument}
        left_out = [item for item in items if item.get_closest_marker("full") and not _is_named(item, named)]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in set(left_out)]
    items.sort(key=_rank)


def _is_named(item: pytest.Item, named: set[str]) -> bool:
    return any(str(item.path).endswith(name) for name in named)


def _rank(item: pytest.Item) -> tuple[bool, int]:
    """Those that only --all runs are the long ones."""
    folder = next((place for place, start in enumerate(FIRST) if item.nodeid.startswith(start)), len(FIRST))
    return item.get_closest_marker("full") is None, folder


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> LoadScopeScheduling:
    return Scheduling(config, log)


class Scheduling(LoadScopeScheduling):
    """Tests of one file share its fixtures, so they run in one process, file by file in the order above."""

    def __init__(self, config: pytest.Config, log: Any) -> None:
        config.option.loadscopereorder = False
        super().__init__(config, log)

    def _split_scope(self, nodeid: str) -> str:
        file = nodeid.partition("::")[0]
        if file in SPREAD:
            return nodeid
        if "keycloak" in file.rpartition("/")[2]:
            return "keycloak"  # one server for all of them
        if not file.startswith("tests/browser/"):
            return file
        # With everything, three processes have a browser and a service of their own; otherwise one does.
        part = BROWSER_PARTS.get(file.rpartition("/")[2], "first") if self.config.getoption("all") else "first"
        return f"tests/browser, {part} part"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """One line for each thing that this machine lacks, and how many tests it has cost."""
    reasons = Counter(
        str(report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr).removeprefix("Skipped: ")
        for report in terminalreporter.getreports("skipped")
    )
    for reason, number in sorted(reasons.items()):
        tests = "1 test" if number == 1 else f"{number} tests"
        terminalreporter.write_line(f"LEFT OUT, {tests}: {reason}", yellow=True)
