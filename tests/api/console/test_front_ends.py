"""Consoles of all generations ask the same paths and mean different things: each gets what it understands."""

import pytest

from tests.api.console.conftest import Console, FormConsole, OlderConsole
from tests.support.inprocess import InProcess

ROLE = {"name": "Editors", "code": "EDITOR", "sort": 1, "status": 1}
DEPARTMENT_AND_BELOW = 2


def as_2_10(gatehouse: InProcess) -> Console:
    return FormConsole(gatehouse)


def as_2_18(gatehouse: InProcess) -> Console:
    console = OlderConsole(gatehouse)
    console.get("notices/my-page")
    return console


def as_3_4(gatehouse: InProcess) -> Console:
    console = FormConsole(gatehouse)
    console.get("notices/my-page", pageNum=1, pageSize=5, isRead=0)
    return console


@pytest.mark.parametrize(
    ("generation", "folder"), [(as_2_10, "CATALOG"), (as_2_18, "CATALOG"), (as_3_4, 2), (Console, "C")]
)
def test_each_reads_the_menus_in_its_own_words(gatehouse: InProcess, generation: type[Console], folder: object) -> None:
    [system] = generation(gatehouse).get("menus")
    assert system["type"] == folder


@pytest.mark.parametrize(("generation", "sent"), [(as_2_10, 1), (as_2_18, 1), (as_3_4, 2), (Console, 2)])
def test_department_and_below_is_stored_as_that_whoever_sends_it(
    gatehouse: InProcess, generation: type[Console], sent: int
) -> None:
    console = generation(gatehouse)
    console.done("POST", "roles", ROLE | {"dataScope": sent})
    [role] = [role for role in gatehouse.run(gatehouse.service.accounts.roles.all()) if role.code == "EDITOR"]
    assert role.data_scope == DEPARTMENT_AND_BELOW
    assert console.get(f"roles/{role.id}/form")["dataScope"] == sent


def test_the_figures_of_the_dashboard_are_a_list_for_the_oldest_alone(gatehouse: InProcess) -> None:
    assert [one["type"] for one in as_2_18(gatehouse).get("logs/visit-stats")] == ["pv", "uv"]
    # 2.25 to 3.4 ask for them at the same time as for their notices.
    assert "todayPvCount" in FormConsole(gatehouse).get("logs/visit-stats")
    assert "todayPvCount" in as_3_4(gatehouse).get("logs/visit-stats")


@pytest.mark.parametrize(
    "path", ["dicts/gender/items/options", "dicts/gender/items", "dict-data/gender/options", "dict/gender/options"]
)
def test_genders_are_found_where_each_looks_for_them(gatehouse: InProcess, path: str) -> None:
    assert [item["value"] for item in Console(gatehouse).get(path)] == ["1", "2", "0"]
