"""Operators on what a record claims was paid, and on its table: see mutants.py."""

import json

from mutants import KINDS, RECORD, join, operator, other_tile, split


def on_result(function):
    """An operator on the result, where there is one."""

    def run(rng, record):
        return function(rng, record["result"], record) if "result" in record else False

    RECORD[function.__name__] = run
    return function


def on_win(function):
    """An operator on one recorded win."""

    def run(rng, record):
        wins = record.get("result", {}).get("wins")
        return function(rng, rng.choice(wins), record) if wins else False

    RECORD[function.__name__] = run
    return function


@on_result
def points_moved(rng, result, record):
    one, two = rng.sample(range(3), 2)
    amount = rng.choice((1, record.get("base", 1), 2 * record.get("base", 1)))
    result["points"][one] += amount
    result["points"][two] -= amount


@on_result
def points_not_zero_sum(rng, result, record):
    result["points"][rng.randrange(3)] += rng.choice((-1, 1)) * rng.choice((1, record.get("base", 1)))


@on_result
def points_scaled(rng, result, record):
    if not any(result["points"]):
        return False
    result["points"] = [2 * points for points in result["points"]]


@on_result
def points_exchanged(rng, result, record):
    one, two = rng.sample(range(3), 2)
    points = result["points"]
    if points[one] == points[two]:
        return False
    points[one], points[two] = points[two], points[one]


@on_result
def end_changed(rng, result, record):
    result["end"] = rng.choice([end for end in ("win", "draw", "no_safe_tile", "aborted") if end != result.get("end")])


@on_result
def kongs_changed(rng, result, record):
    if "kongs" not in result:
        return False
    one, two = rng.sample(range(3), 2)
    result["kongs"][one] += 1
    result["kongs"][two] -= rng.choice((0, 1))


@on_result
def fee_changed(rng, result, record):
    result["fee"] = result.get("fee", 0) + rng.choice((1, record.get("base", 1)))


@on_result
def result_key_dropped(rng, result, record):
    keys = [key for key in ("end", "wins", "kongs", "fee") if key in result]
    if not keys:
        return False
    del result[rng.choice(keys)]


@on_result
def result_dropped(rng, result, record):
    del record["result"]


@on_win
def fans_changed(rng, win, record):
    fans = win.get("fans")
    if fans is None:
        return False
    kind = rng.randrange(3)
    if kind == 0 and fans:
        fans.pop(rng.randrange(len(fans)))
    elif kind == 1 and fans:
        fans.insert(0, fans[0])
    else:
        names = ("all_pungs", "full_flush", "seven_pairs", "ka_wu_xing", "reveal", "rob_kong", "last_tile_draw")
        fans.append(rng.choice([name for name in names if name not in fans]))
        order = ("all_pungs", "full_flush", "seven_pairs", "dragon_seven_pairs", "double_dragon_seven_pairs",
                 "triple_dragon_seven_pairs", "three_dragons_seven_pairs", "little_three_dragons", "big_three_dragons",
                 "ka_wu_xing", "ming_si_gui", "an_si_gui", "shou_zhua_yi", "after_kong_draw", "after_kong_discard",
                 "rob_kong", "last_tile_draw", "reveal")  # fmt: skip
        fans.sort(key=order.index)


@on_win
def fans_turned(rng, win, record):
    """The same fans in another order."""
    fans = win.get("fans") or []
    if fans == fans[::-1]:
        return False
    fans.reverse()


@on_win
def multiple_changed(rng, win, record):
    if "multiple" not in win:
        return False
    win["multiple"] += rng.choice((-1, 1, win["multiple"]))


@on_win
def winner_changed(rng, win, record):
    win["seat"] = rng.choice([seat for seat in range(3) if seat not in (win["seat"], win.get("from"))])


@on_win
def payer_changed(rng, win, record):
    payer = rng.choice([seat for seat in (None, 0, 1, 2) if seat not in (win["seat"], win.get("from"))])
    win.pop("from", None)
    if payer is not None:
        tile = win.pop("tile")
        rest = {key: win.pop(key) for key in list(win) if key != "seat"}
        win |= {"from": payer, "tile": tile} | rest


@on_win
def payer_null(rng, win, record):
    win["from"] = None


@on_win
def won_tile_changed(rng, win, record):
    win["tile"] = other_tile(rng, win["tile"])


@on_win
def win_key_dropped(rng, win, record):
    keys = [key for key in ("fans", "multiple") if key in win]
    if not keys:
        return False
    del win[rng.choice(keys)]


@on_win
def win_listed_twice(rng, win, record):
    record["result"]["wins"].insert(rng.randrange(2), json.loads(json.dumps(win)))


@on_win
def win_listed_twice_differently(rng, win, record):
    copy = json.loads(json.dumps(win))
    copy["multiple"] = copy.get("multiple", 0) + 1
    record["result"]["wins"].insert(rng.randrange(2), copy)


@on_win
def win_not_listed(rng, win, record):
    record["result"]["wins"].remove(win)


@on_result
def wins_turned(rng, result, record):
    """Both winners in the other order."""
    if len(result.get("wins", ())) < 2:
        return False
    result["wins"].reverse()


@on_result
def win_invented(rng, result, record):
    if len(result.get("wins", (1, 1))) > 1:
        return False
    taken = [win["seat"] for win in result["wins"]]
    seat = rng.choice([seat for seat in range(3) if seat not in taken])
    result["wins"].append({"seat": seat, "from": (seat + 1) % 3, "tile": rng.choice(KINDS), "fans": [], "multiple": 1})


@operator(RECORD)
def dealer_changed(rng, record):
    """The button; the fourteenth tile goes with it."""
    old = record["dealer"]
    record["dealer"] = new = rng.choice([seat for seat in range(3) if seat != old])
    hands = [split(hand) for hand in record["deal"]]
    hands[new].append(hands[old].pop(rng.randrange(14)))
    record["deal"] = [join(hand) for hand in hands]


@operator(RECORD)
def dealer_alone_changed(rng, record):
    record["dealer"] = rng.choice([seat for seat in range(3) if seat != record["dealer"]])


@operator(RECORD)
def base_changed(rng, record):
    record["base"] = rng.choice([base for base in (1, 2, 5, 10, 100) if base != record.get("base", 1)])


@operator(RECORD)
def base_not_positive(rng, record):
    record["base"] = rng.choice((0, -1))


@operator(RECORD)
def piao_changed(rng, record):
    piao = record.setdefault("piao", [0, 0, 0])
    piao[rng.randrange(3)] += rng.choice((1, 1, 2, 5))


@operator(RECORD)
def piao_lowered(rng, record):
    piao = record.get("piao", [0, 0, 0])
    seats = [seat for seat in range(3) if piao[seat]]
    if not seats:
        return False
    piao[rng.choice(seats)] -= 1


@operator(RECORD)
def raise_changed(rng, record):
    record["raise"] = rng.choice([value for value in (0, 1, 2) if value != record.get("raise", 0)])


@operator(RECORD)
def dice_changed(rng, record):
    record["dice"] = rng.choice([[1, 2], [3, 3], [6, 5], [6, 6]])


@operator(RECORD)
def dice_out_of_range(rng, record):
    record["dice"] = [rng.choice((0, 7)), 3]


@operator(RECORD)
def players_turned(rng, record):
    one, two = rng.sample(range(3), 2)
    players = record["players"]
    players[one], players[two] = players[two], players[one]


@operator(RECORD)
def player_replaced(rng, record):
    record["players"][rng.randrange(3)] = "somebody else"


@operator(RECORD)
def ruleset_changed(rng, record):
    names = ("xiangyang", "xiangyang_table", "xiangyang_unlimited", "suizhou", "hubei", "parlour", "3d_xiangyang",
             "3d_xiaogan", "3d_shiyan", "qichun")  # fmt: skip
    record["rules"] = rng.choice([name for name in names if name != record["rules"]])


@operator(RECORD)
def option_changed(rng, record):
    options = record.setdefault("options", {})
    key, values = rng.choice(
        (
            ("score.cap", (0, 4, 8, 16, 32)),
            ("side.piao_max", (0, 1, 2, 3, 5)),
            ("side.horse", ("none", "last_tile", "six")),
            ("fan.last_tile_draw", (0, 2)),
            ("win.self_draw_min", (1, 2)),
            ("four.scope", ("winning_tile", "any")),
            ("reveal.min_wall", (0, 12)),
        )
    )
    options[key] = rng.choice([value for value in values if value != options.get(key)])


@operator(RECORD)
def option_dropped(rng, record):
    if not record.get("options"):
        return False
    del record["options"][rng.choice(sorted(record["options"]))]


@operator(RECORD)
def number_changed(rng, record):
    record["round"] = rng.choice([number for number in range(12) if number != record["round"]])


@operator(RECORD)
def game_changed(rng, record):
    record["game"] += "x"


@operator(RECORD)
def times_changed(rng, record):
    if not record.get("times"):
        record["times"] = [1] * len(record["events"].split())
    else:
        record["times"][rng.randrange(len(record["times"]))] += rng.randrange(1, 1000)


@operator(RECORD)
def times_negative(rng, record):
    record["times"] = [-1] * len(record["events"].split())


@operator(RECORD)
def times_too_few(rng, record):
    record["times"] = [1] * (len(record["events"].split()) - 1)


@operator(RECORD)
def key_dropped(rng, record):
    """A key that the format doesn't ask for."""
    keys = [key for key in ("site", "options", "dice", "piao", "base", "raise", "times", "time") if key in record]
    if not keys:
        return False
    del record[rng.choice(keys)]


@operator(RECORD)
def required_key_dropped(rng, record):
    del record[rng.choice(("kwx", "game", "round", "rules", "players", "dealer", "deal", "events"))]


@operator(RECORD)
def unknown_key(rng, record):
    record["note"] = 1
