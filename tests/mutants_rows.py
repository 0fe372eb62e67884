"""Operators on the rows of a game server's database (node-kwx), and what the oracle makes of such rows.

A row's game is a run of its room's rounds in which neither engine nor oracle finds a fault.  The oracle plays the round
that ingest reads from a row, under the server's profile; what a row leaves open (piao, raise, hidden triplets) it
takes as the engine has inferred it, or, where the game leaves that open, as `filled` says.
"""

import json
from hashlib import sha256
from itertools import islice, product

from mutants import operator
from mutation import CHUNK, TWO, Mutant, engine, verdict
from oracle_game import judge, outcome
from oracle_servers import NAMES, lines

from ingest.formats.kwx_write import write
from ingest.tiles import NAMES as TILES
from replay import ruleset

ROW = {}
ROWS = {}
CODES = tuple(range(0, 9))
TIER = "rows of {}"


def on_actions(function):
    """An operator on the triples (seat, code, tile) of a row."""

    def run(rng, row):
        flat = json.loads(row["action_records"])
        triples = [flat[at : at + 3] for at in range(0, len(flat), 3)]
        if function(rng, triples) is False:
            return False
        row["action_records"] = json.dumps([value for triple in triples for value in triple], separators=(",", ":"))
        return None

    ROW[function.__name__] = run
    return function


def on_info(function):
    """An operator on the object `base_info`."""

    def run(rng, row):
        info = json.loads(row["base_info"])
        if function(rng, info, row) is False:
            return False
        row["base_info"] = json.dumps(info, separators=(",", ":"))
        return None

    ROW[function.__name__] = run
    return function


def on_points(function):
    def run(rng, row):
        points = json.loads(row["result"])
        if function(rng, points) is False:
            return False
        row["result"] = json.dumps(points, separators=(",", ":"))
        return None

    ROW[function.__name__] = run
    return function


@on_actions
def triple_dropped(rng, triples):
    del triples[rng.randrange(len(triples))]


@on_actions
def triple_repeated(rng, triples):
    at = rng.randrange(len(triples))
    triples.insert(at, list(triples[at]))


@on_actions
def triples_exchanged(rng, triples):
    at = rng.randrange(len(triples) - 1)
    triples[at], triples[at + 1] = triples[at + 1], triples[at]


@on_actions
def triples_exchanged_far(rng, triples):
    one, two = rng.sample(range(len(triples)), 2)
    triples[one], triples[two] = triples[two], triples[one]


@on_actions
def triple_retiled(rng, triples):
    triple = rng.choice(triples)
    triple[2] = rng.choice([tile for tile in [*range(18), 27, 28, 29] if tile != triple[2]])


@on_actions
def triple_reseated(rng, triples):
    triple = rng.choice(triples)
    triple[0] = rng.choice([seat for seat in range(3) if seat != triple[0]])


@on_actions
def triple_recoded(rng, triples):
    triple = rng.choice(triples)
    triple[1] = rng.choice([code for code in CODES if code != triple[1]])


@on_actions
def triples_cut(rng, triples):
    del triples[rng.randrange(1, len(triples)) :]


@on_actions
def triple_added(rng, triples):
    triples.append(list(rng.choice(triples)))


@on_actions
def reveal_dropped(rng, triples):
    reveals = [triple for triple in triples if triple[1] == 7]
    if not reveals:
        return False
    triples.remove(rng.choice(reveals))


@on_actions
def reveal_added(rng, triples):
    at = rng.choice([at for at, triple in enumerate(triples) if triple[1] == 1])
    triples.insert(at + 1, [triples[at][0], 7, rng.choice((triples[at][2], -1))])


def drawn_tiles(row):
    flat = json.loads(row["action_records"])
    return flat[1::3].count(2)


@on_info
def mahjongs_exchanged_drawn(rng, info, row):
    order = info["mahjongs"]
    one, two = rng.randrange(40, 40 + max(1, drawn_tiles(row))), rng.randrange(84)
    order[one], order[two] = order[two], order[one]


@on_info
def mahjongs_exchanged_undrawn(rng, info, row):
    order, first = info["mahjongs"], 40 + drawn_tiles(row)
    if first > 82:
        return False
    one, two = rng.sample(range(first, 84), 2)
    order[one], order[two] = order[two], order[one]


@on_info
def mahjongs_retiled(rng, info, row):
    order = info["mahjongs"]
    at = rng.randrange(84)
    order[at] = rng.choice([tile for tile in [*range(18), 27, 28, 29] if tile != order[at]])


@on_info
def mahjongs_short(rng, info, row):
    info["mahjongs"].pop(rng.randrange(84))


@on_info
def game_seats_exchanged(rng, info, row):
    one, two = rng.sample(range(3), 2)
    hands = info["game_seats"]
    a, b = rng.randrange(13), rng.randrange(13)
    hands[one][a], hands[two][b] = hands[two][b], hands[one][a]


@on_info
def game_seats_retiled(rng, info, row):
    hand = rng.choice(info["game_seats"])
    at = rng.randrange(13)
    hand[at] = rng.choice([tile for tile in [*range(18), 27, 28, 29] if tile != hand[at]])


@on_info
def button_changed(rng, info, row):
    info["button"] = rng.choice([seat for seat in range(3) if seat != info["button"]])


@on_info
def index_changed(rng, info, row):
    info["index"] += 1


@on_info
def type_changed(rng, info, row):
    other = rng.choice([kind for kind in ("xykwx", "xgkwx", "szkwx", "sykwx", "yckwx") if kind != info["type"]])
    info["type"] = info["conf"]["type"] = other


@on_info
def conf_changed(rng, info, row):
    conf = info["conf"]
    name, values = rng.choice(
        (
            ("baseScore", (1, 2, 5)),
            ("maxFan", (3, 4, 5)),
            ("maima", (0, 1, 2)),
            ("pindao", (0, 1)),
            ("dingpiao", (0, 1, 2)),
            ("up", (0, 1)),
            ("shukan", (0, 1)),
        )
    )
    if name not in conf:
        return False
    conf[name] = rng.choice([value for value in values if value != conf[name]])


@on_points
def result_moved(rng, points):
    one, two = rng.sample(range(3), 2)
    points[one] += 1
    points[two] -= 1


@on_points
def result_moved_by_piao(rng, points):
    """As if one seat had a piao more than it has: what a winner gains, a payer loses."""
    one, two = rng.sample(range(3), 2)
    if not points[one] > 0 > points[two]:
        return False
    points[one] += 2
    points[two] -= 2


@on_points
def result_not_zero_sum(rng, points):
    points[rng.randrange(3)] += rng.choice((-1, 1))


@on_points
def result_scaled(rng, points):
    if not any(points):
        return False
    points[:] = [2 * value for value in points]


@on_points
def result_exchanged(rng, points):
    one, two = rng.sample(range(3), 2)
    points[one], points[two] = points[two], points[one]


@operator(ROW)
def game_index_changed(rng, row):
    row["game_index"] += rng.choice((-1, 1))


@operator(ROW)
def column_cut(rng, row):
    name = rng.choice(("base_info", "action_records", "result"))
    row[name] = row[name][: rng.randrange(1, len(row[name]))]


@operator(ROWS)
def row_dropped(rng, rows, place):
    return rows[:place] + rows[place + 1 :] if len(rows) > 1 else False


@operator(ROWS)
def row_repeated(rng, rows, place):
    return [*rows, rows[place]]


@operator(ROWS)
def rows_cut(rng, rows, place):
    return rows[:place] or False


def text(row):
    return json.dumps(row, separators=(",", ":"), ensure_ascii=False)


def server_rules(record):
    """The values of a record's profile."""
    return ruleset.load(record["rules"], record.get("options")).values


def judged(games):
    """(the engine's findings, the oracle's findings, points of each round) for games of rows.

    Events are numbered in the order of play, in which a reveal stands before its discard.  A game with a row that
    ingest refuses has no oracle's side.
    """
    read = {}

    def see(rounds, tables):
        piao = {}
        for seat in tables["seats"].select(["round_id", "piao"]).to_pylist():
            piao.setdefault(seat["round_id"], []).append(seat["piao"])
        hidden = {(row["round_id"], row["event"]): row["hidden"] for row in tables["reveals"].to_pylist()}
        kept = tables["rounds"].select(["round_id", "line", "raise"]).to_pylist()
        for line, row in zip(write(rounds).decode().splitlines(), kept, strict=True):
            record = json.loads(line)
            record["piao"], record["raise"] = piao[row["round_id"]], row["raise"]
            source = record.pop("_source")
            numbers = source["event_no"]
            # A row has an order and no commitment to it: one that opens leaves only the order to be judged.
            commit = sha256(source["proof_order"].encode()).hexdigest()
            record["proof"] = {"salt": "", "commit": commit, "order": source["proof_order"], "deal": "one"}
            name_triplets(record, numbers, row["round_id"], hidden)
            read[row["line"] - 1] = record, numbers

    found = engine(games, see)
    out, line = [], 0
    for rows, mine in zip(games, found, strict=True):
        place = range(line, line + len(rows))
        line += len(rows)
        if any(code.startswith("reject:") for *_, code in mine):
            out.append((mine, None, []))
            continue
        known = [(at - place.start, *read[at]) for at in place if at in read]  # a repeated row is read once
        records = filled([record for _, record, _ in known])
        theirs = judge([json.dumps(record) for record in records], server_rules)
        theirs = [(known[at][0], event, code) for at, event, code in theirs]
        mine = [(at, event if event is None else read[place[at]][1].index(event), code) for at, event, code in mine]
        paid = [outcome(record, server_rules)[1] for record in records]
        out.append((mine, theirs, sorted(one["points"] for one in paid if one)))
    return out


def name_triplets(record, numbers, round_id, hidden):
    """The hidden triplets that a later kong tells, written behind their reveal."""
    tokens = record["events"].split()
    for at, token in enumerate(tokens):
        kinds = hidden.get((round_id, numbers[at]), 0) or 0 if token[1:2] == "l" else 0
        tokens[at] += "".join(name for kind, name in enumerate(TILES["ps"]) if kinds >> kind & 1)
    record["events"] = " ".join(tokens)


def filled(records):
    """The records of a game with values for what stays open: piao of which any fits most of its rounds, whichever makes
    a round right, and a raise that does."""
    records = [record if record["raise"] is not None else with_raise(record) for record in records]
    unsolved = [record for record in records if None in record["piao"]]
    if not unsolved:
        return records
    most = server_rules(unsolved[0])["side.piao_max"]
    fits = {}
    for piao in product(range(most + 1), repeat=3):
        fits[piao] = [not outcome(record | {"piao": list(piao)}, server_rules)[0] for record in unsolved]
    left = [piao for piao in fits if sum(fits[piao]) == max(map(sum, fits.values()))]
    for place, record in enumerate(unsolved):
        record["piao"] = list(next((piao for piao in left if fits[piao][place]), left[0]))
    return records


def with_raise(record):
    tried = [record | {"raise": raised} for raised in range(7)]
    return next((one for one in tried if not outcome(one, server_rules)[0]), tried[0])


def sound_rows(most=8):
    """Runs of up to `most` rounds of one room without a fault: (recording, [row])."""
    runs = []
    for name in NAMES:
        rooms = {}
        for row in lines(f"{name}.rows.jsonl.gz"):
            rooms.setdefault(row["room_uuid"], []).append(row)
        for rows in rooms.values():
            mine, theirs, _ = judged([[text(row) for row in rows]])[0]
            bad = {place for place, *_ in [*mine, *theirs]}
            run = []
            for place, row in enumerate([*rows, None]):
                if row is None or place in bad or len(run) == most:
                    if len(run) > 2:
                        runs.append((name, run))
                    run = []
                if row is not None and place not in bad:
                    run.append(row)
    games = [[text(row) for row in run] for _, run in runs]
    return [run for run, (mine, theirs, _) in zip(runs, judged(games), strict=True) if not mine and not theirs]


def row_mutants(rng, runs, count):
    """`count` falsified games of rows: every operator equally often."""
    names = [*ROW, *ROWS, TWO]
    made = turn = 0
    while made < count:
        operator_name = names[turn % len(names)]
        turn += 1
        for _ in range(4):
            name, run = rng.choice(runs)
            rows = [text(row | {"room_uuid": f"m{made}"}) for row in run]
            place = rng.randrange(len(rows))
            falsified = falsify(rng, operator_name, rows, place)
            if falsified and falsified != rows:
                yield Mutant(operator_name, TIER.format(name[:2]), name[3:8], falsified, rows, place)
                made += 1
                break


def falsify(rng, name, rows, place):
    if name in ROWS:
        return ROWS[name](rng, list(rows), place)
    row = json.loads(rows[place])
    for one in rng.sample(sorted(ROW), 2) if name == TWO else [name]:
        try:
            if ROW[one](rng, row) is False:
                return False
        except (IndexError, KeyError, TypeError, ValueError):  # a cut column, or nothing left to change
            return False
    return [*rows[:place], text(row), *rows[place + 1 :]]


def run_rows(made):
    """Verdicts on falsified games of rows, one by one; the oracle judges all of them."""
    made = iter(made)
    while waiting := list(islice(made, CHUNK)):
        results = judged([mutant.lines for mutant in waiting])
        origins = judged([mutant.original for mutant in waiting])
        for mutant, (mine, theirs, points), (*_, before) in zip(waiting, results, origins, strict=True):
            yield verdict(mutant, mine, theirs, (points, before))
