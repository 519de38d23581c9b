"""Every picture decodes, has its size, and stays small; drawing leaks nothing."""

import io
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from string import ascii_lowercase, digits

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from gatehouse.auth.login.captcha import ALPHABET, LENGTH, Challenges, Difficulty
from gatehouse.auth.login.captcha.appearance import HEIGHT, WIDTH
from gatehouse.auth.login.captcha.canvas import COLUMNS, ROWS
from gatehouse.auth.login.captcha.image import CaptchaRenderer
from tests.support.selection import cases

LIMIT = 2_500
SIZE = (COLUMNS, ROWS)
EVERY_CHARACTER = digits + ascii_lowercase

renderers = {level: CaptchaRenderer(level) for level in Difficulty}
answers = st.text(EVERY_CHARACTER, min_size=LENGTH, max_size=LENGTH)


def decoded(png: bytes) -> Image.Image:
    picture = Image.open(io.BytesIO(png))
    picture.load()
    return picture


@settings(deadline=None)
@given(answer=answers, level=st.sampled_from(Difficulty))
def test_every_answer_gives_a_picture_of_the_right_size(answer: str, level: Difficulty) -> None:
    png = renderers[level].render(answer)
    picture = decoded(png)
    assert (picture.format, picture.size) == ("PNG", SIZE)
    assert len(png) <= LIMIT


def test_its_shape_is_that_of_the_box() -> None:
    width, height = SIZE
    assert width * HEIGHT == height * WIDTH


@pytest.mark.parametrize("level", Difficulty)
def test_it_stays_small(level: Difficulty) -> None:
    challenges = Challenges(bytes(16), 120)
    assert max(len(renderers[level].render(challenges.issue(0).answer)) for _ in range(cases(1_000))) <= LIMIT


@pytest.mark.parametrize("character", EVERY_CHARACTER)
def test_every_character_can_be_drawn_in_either_case(character: str) -> None:
    for spelling in (character, character.upper()):
        tones = np.asarray(decoded(renderers[Difficulty.NORMAL].render(spelling * LENGTH)).convert("L"))
        # Ink is black or white, ground is neither: letters must cover a good part, and never all.
        assert 0.15 < np.mean((tones == 0) | (tones == 255)) < 0.75


def test_no_two_pictures_of_one_answer_are_alike() -> None:
    assert len({renderers[Difficulty.NORMAL].render("KX49") for _ in range(50)}) == 50


def test_two_painters_do_not_draw_alike() -> None:
    assert CaptchaRenderer().render("KX49") != CaptchaRenderer().render("KX49")


def test_the_alphabet_has_no_look_alikes() -> None:
    for family in ("0OQDCG6", "1IJ7T", "2Z", "38BS5", "4A", "CEFG", "PR", "HMNW", "KVXY", "UV"):
        assert len(set(family) & set(ALPHABET)) <= 1, family


def test_threads_may_share_a_painter() -> None:
    with ThreadPoolExecutor(4) as pool:
        pictures = list(pool.map(renderers[Difficulty.NORMAL].render, ["KX49"] * cases(400)))
    assert len(set(pictures)) == len(pictures)
    assert {decoded(picture).size for picture in pictures} == {SIZE}


def test_memory_does_not_grow() -> None:
    renderer = CaptchaRenderer()
    for _ in range(cases(200)):
        renderer.render("KX49")
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        for _ in range(cases(500)):
            renderer.render("KX49")
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert after - before < 16 * 1024
