"""The table of broken rules fits the code: `make mutants` would say so too, but much later."""

from __future__ import annotations

from collections import Counter

from tests.mutants.table import MUTANTS
from tests.mutants.tree_copy import stale


def test_every_patch_fits_the_code_and_every_test_exists() -> None:
    assert stale(MUTANTS) == []


def test_every_rule_is_named_once() -> None:
    assert [rule for rule, times in Counter(mutant.rule for mutant in MUTANTS).items() if times > 1] == []
