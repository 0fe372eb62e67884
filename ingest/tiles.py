"""The 21 tile kinds and MPSZ notation; the bottom vocabulary of the project.

A *kind* is an integer 0-20: 0-8 are the ranks 1-9 of the first suit, 9-17 those of the second, 18 is 白 (5z),
19 发 (6z), 20 中 (7z).  Which letters the two suits carry is a property of a round, its *suits*: two of "m", "p",
"s" in that order (most tables play "ps").  Source: rules.md section 2; notation: log-format.md section 1.
"""

from collections.abc import Iterable

KINDS = 21
COPIES = 4
WALL_TILES = 44
ALL_TILES = 84
NO_TILE = 31  # the packed "no tile" of ingest.events
PAD = 255  # fills unused places of fixed-width tile columns

SUITS = ("ps", "mp", "ms")  # code in the `suits` column = index here
DRAGONS = ("5z", "6z", "7z")  # 白 发 中


class TileError(ValueError):
    """A text that is not MPSZ tiles of the two suits; the message quotes the part that is wrong."""


def names(suits: str = "ps") -> tuple[str, ...]:
    """The 21 two-character names in kind order, for example names("ps")[4] == "5p"."""
    return tuple(f"{rank}{suit}" for suit in suits for rank in range(1, 10)) + DRAGONS


NAMES = {suits: names(suits) for suits in SUITS}
KIND_OF = {suits: {name: kind for kind, name in enumerate(NAMES[suits])} for suits in SUITS}


def suits_of(text: str) -> str:
    """The suits that a text of tiles uses, completed to two ("ps" before "mp"); TileError on three suits."""
    used = "".join(letter for letter in "mps" if letter in text)
    for suits in SUITS:
        if set(used) <= set(suits):
            return suits
    raise TileError(f"tiles of three suits ({used}); a game has two of m, p, s")


def parse(text: str, suits: str = "ps") -> list[int]:
    """MPSZ text ("123p55s7z", grouped or not) to kinds, in the order written; TileError names the wrong part."""
    kinds: list[int] = []
    table = KIND_OF[suits]
    digits = ""
    for char in text:
        if char in "0123456789":
            digits += char
            continue
        if not digits:
            raise TileError(f"{char!r} without a digit before it in {text!r}")
        for digit in digits:
            kind = table.get(digit + char)
            if kind is None:
                raise TileError(f"{digit + char!r} is not a tile of suits {suits!r} and 5z 6z 7z")
            kinds.append(kind)
        digits = ""
    if digits:
        raise TileError(f"{digits!r} lacks its suit letter at the end of {text!r}")
    return kinds


def text(kinds: Iterable[int], suits: str = "ps") -> str:
    """Kinds to grouped MPSZ in the order given, runs of one suit sharing a letter: [0, 1, 18] -> "12p5z"."""
    out: list[str] = []
    last = ""
    table = NAMES[suits]
    for kind in kinds:
        digit, letter = table[kind]
        if last and letter != last:
            out.append(last)
        out.append(digit)
        last = letter
    return "".join(out) + last
