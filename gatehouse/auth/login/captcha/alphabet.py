"""What people type for a letter that is drawn: each of the 36 characters stands for exactly one of the eight.

A person who does not know which letters there are types A for a 4 and Z for a 2. Both are accepted. Guessing gains
nothing: the eight letters stay in eight groups, so there are still 8^4 different answers.
"""

from typing import Final

# The drawn letter first, then what stands for it. Most pairs are what `ddddocr` misread most often on 300 images of
# 0.1.0: E, C and U for L, R, D and B for P, G, Q, S and 0 for 9, 6 for 4. F, I, K, M, V, W, 1, 5 and 8 go by shape: OCR
# read them too seldom to tell, or, as with K and M, mostly for another letter.
GROUPS: Final = ("HMNW", "L1ICEU", "PBDFR", "T7J", "XKVY", "2Z3", "4A6", "9GQS058O")

_DRAWN: Final = str.maketrans({character: group[0] for group in GROUPS for character in group})


def fold(typed: str) -> str:
    """The drawn letters that were meant. Other characters stay as they are, and so the answer is wrong."""
    return typed.upper().translate(_DRAWN)
