"""One round as text: who did what, what lay where, what was won and paid, and the problems where they happened."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from ingest.events import COVERAGE
from ingest.tiles import NAMES
from replay import one_round, ruleset, trace
from replay.rulefile import RulesetError

VERBS = {
    "d": "draws", "r": "draws (replacement)", "x": "discards", "y": "discards (drawn)", "p": "pungs", "k": "kongs",
    "c": "kongs (concealed)", "a": "kongs (added)", "l": "reveals", "w": "wins", "n": "declines",
    "e": "the wall is exhausted", "z": "aborted by the platform",
}  # fmt: skip
HIDDEN, BACK = "?", "back"  # a tile that lies face down, here and in frames


def frames(tables: one_round.Tables) -> list[dict[str, Any]]:
    """The frames of replay.trace for the round of `tables`."""
    row = tables["rounds"][0]
    try:
        rules = ruleset.load(row["ruleset"], json.loads(row["options"] or "{}"))
        replacement = str(rules.values["wall.replacement"])
    except RulesetError:  # a data set may be older than the rules
        replacement = "back"
    if row["coverage"] == COVERAGE[1]:
        row = {**row, "hands": [bytes(seat["hand"]) for seat in tables["seats"]]}
    return trace.frames(row, replacement)


def render(tables: one_round.Tables, event: int | None = None, pov: int | None = None) -> str:
    """The whole round, or with `event` (the number that `kwx check` names) the table right after that event.

    pov: show this seat's view: what others hold concealed stays hidden.  one_round.IdError on an unknown event.
    """
    steps = frames(tables)
    lines = head(tables)
    if event is None:
        lines += ["", *_table(steps[0], pov), "", *_events(tables, steps, pov)]
    else:
        at = next((at for at, frame in enumerate(steps) if frame["no"] == event), None)
        if at is None:
            known = [frame["no"] for frame in steps if frame["no"] is not None]
            raise one_round.IdError(f"no event {event} in this round; it has {known[0]} to {known[-1]}")
        lines += ["", *_step(steps[at], pov), *_table(steps[at], pov), *_problems(tables, event)]
    whole = _problems(tables, None)
    return "\n".join([*lines, *(["", *whole] if whole else []), "", *_result(tables)]) + "\n"


def head(tables: one_round.Tables) -> list[str]:
    """What round this is: ID, place in the log, rules, players, verdict."""
    row = tables["rounds"][0]
    dealer = {True: " (dealer)", False: ""}
    seats = ", ".join(f"{seat['seat']} {seat['player']}{dealer[seat['is_dealer']]}" for seat in tables["seats"])
    facts = [
        f"base {row['base']}", f"raise {_with(row['raise'], row['raise_from'])}",
        f"piao {_with(' '.join(str(seat['piao']) for seat in tables['seats']), row['piao_from'])}",
    ]  # fmt: skip
    proof = {
        "none": "the log has no wall", "tiles": "the log has no wall", "wall": "draws compared with the logged wall",
        "commitment": "wall and deal compared with the commitment",
    }  # fmt: skip
    return [
        f"{one_round.write(row)}   {row['verdict']}",
        f"{row['source']}:{row['line']}",
        f"rules {row['ruleset']} {row['options'] or '{}'} (digest {row['ruleset_digest']})",
        f"seats {seats}",
        f"{', '.join(facts)}; {proof.get(row['proof'], row['proof'])}"
        + ("; draws are not logged: settled from the hands at the end" if row["coverage"] == COVERAGE[1] else ""),
    ]


def _with(value: object, origin: str | None) -> str:
    return f"{'?' if value is None else value}" + (f" ({origin})" if origin in ("inferred", "ambiguous") else "")


def _events(tables: one_round.Tables, steps: Sequence[Mapping[str, Any]], pov: int | None) -> list[str]:
    lines = []
    for frame in steps[1:]:
        lines += [*_step(frame, pov), *_problems(tables, frame["no"])]
    return lines


def _step(frame: Mapping[str, Any], pov: int | None) -> list[str]:
    """One event in one line: number, seat, what, the wall, and the hand of whoever acted after it."""
    seat, verb = frame["seat"], frame["verb"]
    if seat is None:
        return [f"{frame['no']:>4}     {VERBS[verb]}"]
    concealed = pov not in (None, seat)
    tile = HIDDEN if concealed and verb in "dr" else frame["tile"] or ""
    source = f" from {frame['source']}" if frame["source"] is not None else ""
    hidden = " ".join(frame["seats"][seat]["hidden"]) if verb == "l" and not concealed else ""
    what = " ".join(filter(None, (VERBS[verb], tile, hidden and f"hiding {hidden}"))) + source
    return [f"{frame['no']:>4}  {seat}  {what:<26} {frame['wall_left']:>2}  {_hand(frame, seat, pov)}"]


def _hand(frame: Mapping[str, Any], seat: int, pov: int | None) -> str:
    """Concealed tiles, the drawn one apart, melds, and what a ready hand waits for (live copies in brackets)."""
    own = frame["seats"][seat]
    open_to_all = pov in (None, seat) or own["revealed"]
    tiles = _grouped(own["hand"]) if open_to_all else HIDDEN * len(own["hand"])
    seen = pov in (None, seat) and own["drawn"] != BACK
    drawn = "" if own["drawn"] is None else f"+{own['drawn'] if seen else HIDDEN}"
    melds = " ".join(
        f"[{meld['kind']} {meld['tile']}"
        + ("" if meld["from"] is None else f" from {meld['from']}") + (", robbed" if meld["robbed"] else "") + "]"
        for meld in own["melds"]
    )  # fmt: skip
    waits = " ".join(f"{wait['tile']}({wait['live']})" for wait in own["waits"]) if open_to_all else ""
    revealed = "revealed" if own["revealed"] else ""
    return " ".join(filter(None, (tiles, drawn, melds, revealed, waits and f"waits {waits}")))


def _table(frame: Mapping[str, Any], pov: int | None) -> list[str]:
    """The whole table: each seat's hand and river, and the wall."""
    lines = []
    for seat in range(3):
        lines.append(f"  seat {seat}  {_hand(frame, seat, pov)}")
        river = " ".join(
            tile["tile"] + ("'" if tile["drawn"] else "") + ("" if tile["taken"] is None else f"→{tile['taken']}")
            for tile in frame["seats"][seat]["river"]
        )
        if river:
            lines.append(f"          river {river}")
    return [*lines, f"  wall    {frame['wall_left']} tiles left"]


def _grouped(names: Sequence[str]) -> str:
    """Sorted tile names in MPSZ: ["1p", "2p", "5z"] as "12p5z"; those that lie face down as "?" behind them."""
    known = [name for name in names if name != BACK]
    out = ""
    for at, name in enumerate(known):
        out += name[0] + (name[1] if at + 1 == len(known) or known[at + 1][1] != name[1] else "")
    return out + HIDDEN * (len(names) - len(known))


def _problems(tables: one_round.Tables, event: int | None) -> list[str]:
    lines = []
    for problem in tables["problems"]:
        if problem["event"] == event:
            lines.append(f"   !! {problem['kind']} {problem['code']}: {problem['message']}")
            if problem["explained_by"]:
                lines.append(f"      explained by {' or '.join(problem['explained_by'])}")
    return lines


def _result(tables: one_round.Tables) -> list[str]:
    """Wins with their fans, every payment, and the totals beside what was recorded."""
    row, lines = tables["rounds"][0], []
    for win in tables["wins"]:
        worth = {fan["fan"]: fan["value"] for fan in tables["win_fans"] if fan["win_no"] == win["win_no"]}
        fans = ", ".join(f"{fan} {worth.get(fan, '?')}" for fan in win["fans"] or ()) or "no fan"
        by = "self-draw" if win["from_seat"] is None else f"{win['by']} from {win['from_seat']}".replace("_", " ")
        recorded = win["recorded_multiple"]
        differs = "" if recorded in (None, win["multiple"]) else f" (recorded: {recorded})"
        tile = NAMES[row["suits"] or "ps"][win["tile"]]
        lines.append(f"seat {win['seat']} wins {tile} by {by}: {fans}; multiple {win['multiple']}{differs}")
    if not tables["wins"]:
        lines.append({"draw": "the wall was played out; nobody won"}.get(row["end"], f"end: {row['end'] or 'none'}"))
    lines += [
        f"  {line['cause']:<16} {_seat(line['from_seat'])} pays {_seat(line['to_seat'])}  {line['points']:>8}"
        for line in tables["ledger"]
    ]
    points = [seat["points"] for seat in tables["seats"]]
    recorded = [seat["recorded_points"] for seat in tables["seats"]]
    lines.append(f"  {'total':<16} {'  '.join(f'{value:+d}' for value in points)}")
    if None not in recorded:
        lines.append(f"  {'recorded':<16} {'  '.join(f'{value:+d}' for value in recorded)}")
    return lines


def _seat(seat: int | None) -> str:
    return "the house" if seat is None else f"seat {seat}"
