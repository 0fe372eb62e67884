"""The cheats that can be planted in simulated rounds, by name: what each does, its arguments, and how they are written.

    NAME:argument=value,argument=value        for example  upgrade:account=u7,q=0.05

Some entries are honest: what looks like a cheat and must not be taken for one.  `docs/cheats.md` is made of this list.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

from replay import cheat_record as record

Value = int | float | str


class CheatError(Exception):
    """A cheat that cannot be planted as written; the message says what is wrong and what was expected."""


@dataclass(frozen=True)
class Argument:
    """What an argument means; its least and largest number, or the words it may be."""

    what: str
    low: float = 0
    high: float = 0
    words: tuple[str, ...] = ()

    @property
    def expected(self) -> str:
        """What a value must be, in words."""
        if self.words:
            return " or ".join(self.words)
        if not self.high:
            return "the name of an account"
        return f"a number from {self.low:,} to {self.high:,}" + ("" if self.high == 1 else ", whole")


DAYS = 36_500
ARGUMENTS = {
    "account": Argument("whose cheat it is"),
    "partner": Argument("for whom, or together with whom"),
    "seat": Argument("the seat it works for, whoever sits there", 0, 2),
    "q": Argument("with what probability it is done, at each chance to", 0, 1),
    "k": Argument("riffles; losses in a row", 1, 100),
    "n": Argument("exchanges; rounds; acts in a round; wins in a row", 1, 100_000),
    "bits": Argument("bits of a random number or seed", 1, 32),
    "face": Argument("the face of a die", 1, 6),
    "ms": Argument("milliseconds of a decision", 50, 60_000),
    "points": Argument("points, in base stakes", 1, 1_000_000),
    "log": Argument("what the log shows of it: a wall, order and commitment made up to fit; the wall as drawn beside "
                    "the order committed to; the wall as it was before", words=("clean", "commitment", "wall")),
    "kind": Argument("no place may keep its tile; the first place always does", words=("sattolo", "first_fixed")),
    "shape": Argument("always the same time; a third more or less; a person's times, whatever the choice",
                      words=("constant", "jittered", "blind")),
    "mutual": Argument("whether both do it for each other", words=("yes", "no")),
    "from": Argument("the first day of it, counted from the first day played", 0, DAYS),
    "until": Argument("the first day without it", 0, DAYS),
}  # fmt: skip


@dataclass(frozen=True)
class Kind:
    """One kind of cheat.

    given: its arguments in order with their usual values, None where one must be given; shows: what an act's `was` and
    `now` are, "" for nothing; checks: the audit's checks that it is planted for; breaks: the codes that `kwx check`
    then finds; honest: it is no cheat.
    """

    name: str
    family: str
    code: int
    what: str
    given: dict[str, Value | None]
    checks: tuple[int, ...]
    shows: str = ""
    breaks: tuple[str, ...] = ()
    honest: bool = False


def _kinds() -> Iterable[Kind]:
    r = record
    span: dict[str, Value | None] = {"from": 0, "until": DAYS}
    one: dict[str, Value | None] = {"account": None}
    two = one | {"partner": None}

    def deck(name: str, code: int, what: str, checks: tuple[int, ...], **given: Value) -> Kind:
        return Kind(name, "deck", code, what, {**given, "q": 1.0, **span}, checks)

    yield deck("swap_any", r.SWAP_ANY, "shuffles by exchanging every place with any place", (7,))
    yield deck("off_by_one", r.OFF_BY_ONE, "shuffles with one place too few to choose from", (7,), kind="sattolo")
    yield deck("modulo", r.MODULO, "shuffles with the rest of a random number of few bits", (7,), bits=8)
    yield deck("riffle", r.RIFFLE, "riffles a new deck k times", (8, 7), k=5)
    yield deck("carry_over", r.CARRY_OVER, "exchanges n pairs of tiles in the deck of the table's last round", (9,),
               n=150)  # fmt: skip
    yield deck("lcg", r.LCG, "shuffles from a seed of few bits, so that walls repeat", (6,), bits=16)
    yield deck("clock_seed", r.CLOCK_SEED, "shuffles from the millisecond of the day at which the round starts", (6,))
    yield Kind("sorted_wall", "deck", r.SORTED_WALL, "sorts the wall by kind after the deal", {"q": 0.05, **span},
               (10, 8))  # fmt: skip

    yield Kind("best_deal", "deal", r.BEST_DEAL, "shuffles twice and keeps the deal with which an account is nearer",
               one | {"q": 0.2, **span}, (11,), "shanten")  # fmt: skip
    yield Kind("best_deal_seat", "deal", r.BEST_DEAL, "the same for a seat", {"seat": 0, "q": 0.2, **span}, (11,),
               "shanten")  # fmt: skip
    yield Kind("dragon_swap", "deal", r.DRAGON_SWAP, "exchanges a tile of an account's hand for a dragon of the wall",
               one | {"q": 0.05, **span}, (11,), "tile")  # fmt: skip
    yield Kind("dragon_swap_seat", "deal", r.DRAGON_SWAP, "the same for a seat", {"seat": 0, "q": 0.05, **span}, (11,),
               "tile")  # fmt: skip
    yield Kind("loaded_dealer", "deal", r.LOADED_DEALER, "makes an account the first dealer of its games",
               one | {"q": 0.3, **span}, (12,), "seat")  # fmt: skip
    yield Kind("loaded_dice", "deal", r.LOADED_DICE, "lets each die show one face",
               {"face": 6, "q": 0.1, **span}, (12,), "number")  # fmt: skip

    draws = (
        ("upgrade", r.UPGRADE, "draws a useful tile of the wall in place of one that is not", {"q": 0.05}, (15, 14)),
        ("upgrade_ready", r.UPGRADE_READY, "the same, once ready: draws what completes the hand", {"q": 0.1}, (16,)),
        ("upgrade_revealed", r.UPGRADE_REVEALED, "the same, once revealed", {"q": 0.1}, (16,)),
    )
    for name, code, what, given, checks in draws:
        yield Kind(name, "draw", code, what, one | given | {"log": "clean", **span}, checks, "tile")
    yield Kind("swapped_draw", "draw", r.UPGRADE, "draws a useful tile after the wall was committed to",
               one | {"q": 0.05, "log": "commitment", **span}, (4, 15), "tile",
               ("deal_not_from_order",))  # fmt: skip
    yield Kind("comeback", "draw", r.COMEBACK, "lets whoever has lost k rounds in a row draw useful tiles",
               {"k": 3, "q": 0.1, "log": "clean", **span}, (14,), "tile")  # fmt: skip
    yield Kind("honeymoon", "draw", r.HONEYMOON, "lets every account draw useful tiles in its first n rounds",
               {"n": 50, "q": 0.1, "log": "clean", **span}, (14,), "tile")  # fmt: skip
    yield Kind("best_replacement", "draw", r.BEST_REPLACEMENT, "draws the better of two tiles after a kong",
               one | {"q": 1.0, "log": "clean", **span}, (17,), "tile")  # fmt: skip
    yield Kind("best_horse", "draw", r.BEST_HORSE, "turns the better of two horse tiles on a self-draw",
               one | {"q": 1.0, "log": "clean", **span}, (17,), "tile")  # fmt: skip

    yield Kind("dump", "play", r.DUMP, "discards what the partner can win on, when it holds it",
               two | {"q": 0.5, **span}, (19, 20), "tile")  # fmt: skip
    yield Kind("soft", "play", r.SOFT, "passes wins on the partner's tiles", two | {"q": 1.0, "mutual": "yes", **span},
               (20,), "tile")  # fmt: skip
    yield Kind("signal", "play", r.SIGNAL, "discards what the partner needs for a pung, n times a round at most",
               two | {"q": 0.7, "n": 1, **span}, (22,), "tile")  # fmt: skip
    yield Kind("peek", "play", r.PEEK, "keeps back what hidden hands wait for", one | {"q": 0.5, **span}, (23,),
               "tile")  # fmt: skip
    yield Kind("superuser", "play", r.SUPERUSER, "sees all hands and the tiles left: plays by them without a slip",
               one | {"q": 1.0, **span}, (18, 23), "tile")  # fmt: skip
    yield Kind("next_tile", "play", r.NEXT_TILE, "sees the next tile: pungs unless it helps the next seat, kongs only "
               "if the replacement helps", one | {"q": 1.0, **span}, (23,), "tile")  # fmt: skip

    yield Kind("queue_pair", "seating", r.OUTSIDE, "sits down at the partner's table when it can",
               two | {"q": 0.9, **span}, (21,))  # fmt: skip
    yield Kind("bot", "timing", r.BOT, "is a program: its thinking times give it away",
               one | {"ms": 900, "shape": "constant", **span}, (24,))  # fmt: skip
    yield Kind("clone", "timing", r.CLONE, "is the same program as the partner: the same choice before the same view",
               two | span, (24,))  # fmt: skip
    yield Kind("drop_lost", "log", r.OUTSIDE, "takes rounds that the account lost out of the log",
               one | {"q": 0.2, **span}, (5,), "", ("lost_round",))  # fmt: skip
    yield Kind("wrong_payout", "log", r.OUTSIDE, "pays the account more than the rules say, at another's cost",
               one | {"points": 1, "q": 0.1, **span}, (3,), "number", ("points",))  # fmt: skip

    for name, what, given in (
        ("strong_defender", "never slips and keeps back what open hands wait for", one),
        ("always_reveals", "reveals whenever it is ready", one),
        ("friends", "sit down at one table when they can, and play straight", two | {"q": 0.9, **span}),
        ("whale", "plays at the highest stake, every day", one),
        ("dealer_streak", "wins n rounds in a row as dealer, once, against two who throw tiles about",
         one | {"n": 12, **span}),
    ):
        shows = "number" if name == "dealer_streak" else ""
        yield Kind(name, "honest", r.OUTSIDE, what, given, (), shows, honest=True)


KINDS = {kind.name: kind for kind in _kinds()}


@dataclass(frozen=True)
class Cheat:
    """A planted cheat: its kind and every argument's value."""

    kind: Kind
    values: dict[str, Value] = field(default_factory=dict)

    @property
    def accounts(self) -> list[str]:
        """The accounts that it names."""
        return [str(self.values[name]) for name in ("account", "partner") if name in self.values]

    @property
    def number(self) -> int:
        """Its one number (k, n, bits, …), 0 for none."""
        return next((int(self.values[name]) for name in ("k", "n", "bits", "face", "ms") if name in self.values), 0)

    @property
    def mode(self) -> int:
        """Its one word as its index, 0 for none."""
        words = (name for name in ("log", "kind", "shape") if name in self.values)
        return next((ARGUMENTS[name].words.index(str(self.values[name])) for name in words), 0)

    @property
    def share(self) -> float:
        """Its q, 1 where it has none."""
        return float(self.values.get("q", 1.0))

    def on(self, day: int) -> bool:
        """Whether it is done on a day."""
        return int(self.values.get("from", 0)) <= day < int(self.values.get("until", DAYS))

    def __str__(self) -> str:
        return f"{self.kind.name}:{','.join(f'{name}={value}' for name, value in self.values.items())}"


def parse(text: str) -> Cheat:
    """A cheat from its text; CheatError says what is wrong with it."""
    name, _, rest = text.partition(":")
    kind = KINDS.get(name)
    if kind is None:
        near = get_close_matches(name, KINDS, 1)
        hint = f"; did you mean {near[0]}?" if near else "; --list-cheats lists them"
        raise CheatError(f"--cheat {text}: unknown cheat {name!r}{hint}")
    given: dict[str, Value] = {}
    for part in filter(None, rest.split(",")):
        key, equals, value = part.partition("=")
        if key not in kind.given or not equals:
            raise CheatError(f"--cheat {text}: {part!r}, expected one of {', '.join(f'{one}=…' for one in kind.given)}")
        if key in given:
            raise CheatError(f"--cheat {text}: {key} stands twice")
        given[key] = _value(text, key, value)
    if missing := [key for key, usual in kind.given.items() if usual is None and key not in given]:
        raise CheatError(f"--cheat {text}: {missing[0]} is missing, {ARGUMENTS[missing[0]].what}")
    if given.get("account") is not None and given.get("account") == given.get("partner"):
        raise CheatError(f"--cheat {text}: account and partner must differ")
    return Cheat(kind, {key: given.get(key, usual) for key, usual in kind.given.items()})  # type: ignore[misc]


def _value(text: str, key: str, value: str) -> Value:
    known = ARGUMENTS[key]
    if known.words:
        if value not in known.words:
            raise CheatError(f"--cheat {text}: {key}={value}, expected {known.expected}")
        return value
    if not known.high:
        if not value:
            raise CheatError(f"--cheat {text}: {key} is empty, expected {known.expected}")
        return value
    try:
        number: Any = float(value) if known.high == 1 else int(value)
    except ValueError:
        number = known.high + 1
    if not known.low <= number <= known.high:
        raise CheatError(f"--cheat {text}: {key}={value}, expected {known.expected}")
    return number


def listing_text() -> str:
    """All cheats with their arguments, for people."""
    lines = ["--cheat NAME:argument=value,…  (may be repeated; labels go to FILE.labels.jsonl)", ""]
    family = ""
    for kind in KINDS.values():
        if kind.family != family:
            family = kind.family
            lines += ["honest, and must not be flagged:" if kind.honest else f"{family}:"]
        usual = ",".join(name if value is None else f"{name}={value}" for name, value in kind.given.items()
                         if name not in ("from", "until"))  # fmt: skip
        lines += [f"  {kind.name}:{usual}" if usual else f"  {kind.name}", f"      {kind.what}"]
    lines += ["", "arguments:", *(f"  {name:8} {one.what} ({one.expected})" for name, one in ARGUMENTS.items())]
    return "\n".join(lines) + "\n"


def document() -> str:
    """docs/cheats.md, made of this list."""
    rows = []
    for kind in KINDS.values():
        given = "<br>".join(f"`{name}`" if usual is None else f"`{name}={usual}`" for name, usual in kind.given.items()
                            if name not in ("from", "until"))  # fmt: skip
        checks = ", ".join(map(str, kind.checks)) or "–"
        breaks = ", ".join(f"`{code}`" for code in kind.breaks) or "–"
        rows.append(f"| `{kind.name}` | {kind.family} | {kind.what} | {given} | {checks} | {breaks} |")
    arguments = [f"| `{name}` | {one.what} | {one.expected} |" for name, one in ARGUMENTS.items()]
    return DOCUMENT.format(cheats="\n".join(rows), arguments="\n".join(arguments))


DOCUMENT = """# Planted cheats

To know what an audit finds, one must know what is there. `kwx simulate --cheat NAME:argument=value,…` plants a cheat in
simulated rounds; several may be planted. `--accounts N` plays with a population of N accounts instead of the usual
48: they differ in strength, taste, hours, stakes and speed, some join later, and decisions take a person's time.

```sh
kwx simulate --rules ID --rounds 20000 --seed 1 --accounts 200 --cheat upgrade:account=u7,q=0.05 \\
    --cheat dump:account=u8,partner=u9 --cheat queue_pair:account=u8,partner=u9 -o log.jsonl
kwx check log.jsonl
```

- Everybody else plays as ever: a cheat draws its chances from a stream of its own, and until it acts in a game that
  game is the honest one, event for event (where it leaves seating and taste alone).
- What was planted and every single act goes to `log.jsonl.labels.jsonl`, which no other command reads.
- Logs stay legal and proved, but for the cheats whose last column says otherwise.
- The deck cheats with `from=DAY` are a shuffle that changed on that day.

## Cheats

The numbers under *checks* are those of the audit's checks that the cheat is planted for. An argument without a value
must be given. All but a few take `from` and `until`.

| name | where | what it does | arguments | checks | `kwx check` finds |
| --- | --- | --- | --- | --- | --- |
{cheats}

The honest ones are no cheats: they look like some, and an audit must not flag them. A ruleset with big fans needs no
planting: play another one. Of the streak's game as many are dealt as it takes until one has it.

## Arguments

| name | meaning | value |
| --- | --- | --- |
{arguments}

## Labels

One JSON object a line. First the planted, `"label": "cheat"` or `"honest"`, with their number, `name`, `accounts`,
`arguments`; then each act in the order of the log, `"label": "act"` with the number of what was planted, `game`,
`round`, `event` (null: before the first), `seat`, `account`, and what it `was` and is `now` (a tile, a shanten,
points, …); last `"label": "sum"`: how often each was done, and in how many rounds. A shuffle with `q=1` is done in
every round and has no acts.
"""
