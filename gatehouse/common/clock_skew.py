"""How far the clocks of two nodes may differ without harm.

What must outlive something (a used captcha, a key that verifies) is kept this much longer than it.
"""

from __future__ import annotations

CLOCK_SKEW_SECONDS = 60
