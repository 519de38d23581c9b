"""A challenge opens from its id under its key and before its end, and from nothing else."""

import itertools
import re
import secrets
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gatehouse.auth.login.captcha import ALPHABET, LENGTH, Challenges
from gatehouse.auth.login.captcha.alphabet import GROUPS
from tests.support.selection import cases

TTL = 120
NOW = 1_800_000_000.25

keys = st.binary(min_size=16, max_size=16) | st.binary(min_size=32, max_size=32)
clocks = st.floats(min_value=0, max_value=2**32 - 2 * TTL)
answers = st.text("0123456789abcdefghijklmnopqrstuvwxyz", min_size=LENGTH, max_size=LENGTH)


def challenges(fixed: str | None = None) -> Challenges:
    return Challenges(secrets.token_bytes(32), TTL, fixed)


@given(key=keys, now=clocks, answer=answers)
def test_an_id_opens_to_what_was_issued(key: bytes, now: float, answer: str) -> None:
    issued = Challenges(key, TTL, answer).issue(now)
    assert Challenges(key, TTL).decode(issued.id, now) == issued
    assert issued.answer.lower() == answer
    assert issued.expires == int(now) + TTL


def test_an_answer_is_drawn_from_the_alphabet() -> None:
    source = challenges()
    drawn = {character for _ in range(500) for character in source.issue(NOW).answer}
    assert drawn == set(ALPHABET)


def test_it_lives_for_its_time_and_no_longer() -> None:
    source = challenges()
    issued = source.issue(NOW)
    assert source.decode(issued.id, issued.expires - 0.001) is not None
    assert source.decode(issued.id, issued.expires) is None
    assert source.decode(issued.id, issued.expires + 10**6) is None


def test_it_opens_on_a_node_whose_clock_is_a_little_behind_but_not_long_before_it_was_issued() -> None:
    source = challenges()
    issued = source.issue(NOW)
    assert source.decode(issued.id, NOW - 30) is not None
    assert source.decode(issued.id, NOW - 3600) is None


@given(key=keys, other=keys)
def test_another_key_does_not_open_it(key: bytes, other: bytes) -> None:
    issued = Challenges(key, TTL).issue(NOW)
    assert (Challenges(other, TTL).decode(issued.id, NOW) is None) == (key != other)


@given(bit=st.integers(0, 127))
def test_any_flipped_bit_closes_it(bit: int) -> None:
    source = challenges()
    issued = source.issue(NOW)
    flipped = f"{int(issued.id.replace('-', ''), 16) ^ (1 << bit):032x}"
    forged = "-".join((flipped[:8], flipped[8:12], flipped[12:16], flipped[16:20], flipped[20:]))
    assert source.decode(forged, NOW) is None


def test_another_spelling_of_the_id_is_the_same_challenge() -> None:
    source = challenges()
    issued = source.issue(NOW)
    assert source.decode(issued.id.upper(), NOW) == issued


@given(text=st.text(max_size=64) | st.text("0123456789abcdefABCDEF- \n", min_size=36, max_size=36))
def test_what_is_no_id_of_ours_does_not_open(text: str) -> None:
    assert challenges().decode(text, NOW) is None


@pytest.mark.parametrize("spelling", ["{0}", "{0:.32}", " {0}", "{0} ", "{{{0}}}", "urn:uuid:{0}"], ids=repr)
def test_only_the_dashed_form_is_taken(spelling: str) -> None:
    source = challenges()
    issued = source.issue(NOW)
    opened = source.decode(spelling.format(issued.id), NOW)
    assert (opened is not None) == (spelling == "{0}")
    assert source.decode(issued.id.replace("-", ""), NOW) is None


def test_white_space_cannot_stand_in_for_hex() -> None:
    source = challenges()
    text = source.issue(NOW).id
    assert source.decode(text[:-2] + "  ", NOW) is None


def test_ids_do_not_repeat_even_when_answer_and_second_do() -> None:
    source = challenges("abcd")
    assert len({source.issue(NOW).id for _ in range(20_000)}) == 20_000


def test_no_bit_of_the_answer_shows_in_the_id() -> None:
    """For every bit of the id, the share of ones is the same whichever of two answers is inside.

    5,000 ids each: the difference of two shares has a deviation of 0.01, so 0.055 is five and a half of
    them. Over 128 bits a sound cipher crosses that about once in two hundred thousand runs.
    """
    key, count = secrets.token_bytes(32), 5_000

    def shares(answer: str) -> list[float]:
        source = Challenges(key, TTL, answer)
        ones = [0] * 128
        for _ in range(count):
            number = int.from_bytes(source.issue(NOW).fingerprint)
            for bit in range(128):
                ones[bit] += number >> bit & 1
        return [share / count for share in ones]

    for left, right in zip(shares("0000"), shares("zzzz"), strict=True):
        assert abs(left - right) < 0.055
        assert abs(left - 0.5) < 0.04


@given(answer=answers)
def test_case_does_not_matter_in_an_answer(answer: str) -> None:
    issued = challenges(answer).issue(NOW)
    assert Challenges.matches(issued, answer.upper())
    assert Challenges.matches(issued, answer.lower())


@given(given_=st.text(max_size=8) | answers)
def test_anything_but_the_answer_and_its_look_alikes_is_wrong(given_: str) -> None:
    issued = challenges("abcd").issue(NOW)
    right = re.fullmatch("[4A6][PBDFR][L1ICEU][PBDFR]", given_.upper()) is not None
    assert Challenges.matches(issued, given_) == right


@pytest.mark.parametrize(
    ("typed", "drawn"),
    [tuple(pair) for pair in ("A4", "Z2", "NH", "MH", "KX", "YX", "IL", "1L", "RP", "7T", "g9", "q9")],
)
def test_a_look_alike_is_accepted_for_what_is_drawn(typed: str, drawn: str) -> None:
    """Who is not told which letters there are types what the shape looks like."""
    issued = challenges(drawn * LENGTH).issue(NOW)
    assert Challenges.matches(issued, typed * LENGTH)
    assert Challenges.matches(issued, drawn + typed.lower() + typed.upper() + drawn)


@pytest.mark.parametrize("typed", "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ")
def test_a_character_stands_for_one_drawn_letter(typed: str) -> None:
    meant = [drawn for drawn in ALPHABET if Challenges.matches(challenges(drawn * LENGTH).issue(NOW), typed * LENGTH)]
    assert len(meant) == 1
    assert typed not in ALPHABET or meant == [typed]


def test_the_docs_list_every_look_alike() -> None:
    text = (Path(__file__).parents[3] / "docs" / "captcha.md").read_text()
    rows = re.findall(r"^\| (\w) \| ((?:\w )+)\|$", text, re.MULTILINE)
    assert {drawn: set(others.split()) for drawn, others in rows} == {group[0]: set(group[1:]) for group in GROUPS}


@settings(max_examples=cases(20), deadline=None)
@given(typed=answers)
def test_whatever_is_typed_answers_one_challenge_of_4096(typed: str) -> None:
    """Look-alikes give a guess no second chance."""
    issued = challenges().issue(NOW)
    drawn = ("".join(letters) for letters in itertools.product(ALPHABET, repeat=LENGTH))
    met = [Challenges.matches(replace(issued, answer=answer), typed) for answer in drawn]
    assert (len(met), sum(met)) == (4096, 1)


def test_a_lone_surrogate_is_wrong_and_no_crash() -> None:
    issued = challenges("abcd").issue(NOW)
    assert not Challenges.matches(issued, "\ud800bcd")


@pytest.mark.parametrize("length", [0, 15, 24, 33])
def test_a_key_of_another_size_is_refused(length: int) -> None:
    with pytest.raises(ValueError, match="16 or 32"):
        Challenges(bytes(length), TTL)


@pytest.mark.parametrize("answer", ["", "abc", "abcde", "ab d", "abcß", "ab-d"])
def test_a_fixed_answer_that_cannot_be_typed_is_refused(answer: str) -> None:
    with pytest.raises(ValueError, match="letters or digits"):
        challenges(answer)


def test_a_time_to_live_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="one second"):
        Challenges(bytes(16), 0)


def test_importing_the_challenge_loads_no_drawing() -> None:
    program = "import sys, gatehouse.auth.login.captcha; print('numpy' in sys.modules, 'PIL' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]
