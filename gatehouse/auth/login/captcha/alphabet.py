"""The eight letters that are drawn, and what people type for them: each of 36 characters stands for one of the eight.

A person who does not know which letters there are types A for a 4 and Z for a 2. Both are accepted. Guessing gains
nothing: the eight letters stay in eight groups, so there are still 8^4 different answers.
"""

from typing import Final

# The drawn letter first, then what stands for it. Most pairs are what `ddddocr` misread most often on 300 images of
# 0.1.0: E, C and U for L, R, D and B for P, G, Q, S and 0 for 9, 6 for 4. F, I, K, M, V, W, 1, 5 and 8 go by shape: OCR
# read them too seldom to tell, or, as with K and M, mostly for another letter.
GROUPS: Final = ("HMNW", "L1ICEU", "PBDFR", "T7J", "XKVY", "2Z3", "4A6", "9GQS058O")

# Capitals, because at 44 pixels' height they are larger and more distinct than small letters. Left out is
# all that was misread on sheets of samples, bent and crossed by a line: 0 O Q D U, C G 6, 1 I J 7 (T and L stay),
# K V Y (X stays), M N W (H stays), E F R (P stays), 3 5 8 B S (9 stays), Z (2 stays), A (4 stays). That leaves 4,096
# answers: guessing blindly, at one try each, is still far worse than OCR. And no words.
ALPHABET: Final = "".join(group[0] for group in GROUPS)

_DRAWN: Final = str.maketrans({character: group[0] for group in GROUPS for character in group})


def fold(typed: str) -> str:
    """The drawn letters that were meant. Other characters stay as they are, and so the answer is wrong."""
    return typed.upper().translate(_DRAWN)
