"""A captcha renderer for each difficulty, made once in each process: making one takes longer than most requests."""

from __future__ import annotations

from functools import cache

from gatehouse.auth.login.captcha.image import CaptchaRenderer

renderer = cache(CaptchaRenderer)
