"""The harness counts a reading as solved when the service would accept it."""

import pytest

from benchmarks.captcha_readings import as_read, mapped


@pytest.mark.parametrize("reading", ["AZNK", "4zhx", " A 2-H X", "42HX"])
def test_a_reading_is_mapped_onto_the_letters_that_are_drawn(reading: str) -> None:
    assert mapped(reading, "42HX")


@pytest.mark.parametrize("reading", ["AZNKK", "AZN", "", "AZNL"])
def test_a_reading_of_other_letters_or_another_length_is_not_solved(reading: str) -> None:
    assert not mapped(reading, "42HX")


def test_both_rates_are_counted() -> None:
    assert as_read(" 42-hx", "42HX")
    assert not as_read("AZNK", "42HX")
