"""The ten sheets' rulesets as plain dictionaries, written from the sheets a second time.

`values(id, options)` gives {"score.cap": 0, …, "fan.all_pungs": 2, …}: what a loaded ruleset must come to.  Only the
base values are read from base.toml; the differences stand here, so that a slip in a ruleset file shows.
"""

import tomllib
from pathlib import Path

BASE = tomllib.loads((Path(__file__).parent.parent / "replay" / "rulesets" / "base.toml").read_text(encoding="utf-8"))

THREE_D = {
    "win.discard_min": 2,
    "win.self_draw_min": 2,
    "reveal.no_feeding": True,
    "reveal.no_safe_tile": "end_and_pay",
    "deal_in.to_revealed": "as_self_draw",
    "deal_in.revealed_to_revealed": "pays_for_all",
    "reveal.payer": "both",
    "reveal.factor_cap": 4,
    "draw.settle": "ready",
    "fan.shou_zhua_yi": 4,
}
DIFFERENCES = {
    "xiangyang": {"dealer.first": "seat_0"},
    "xiangyang_table": {"dealer.after_draw": "payer", "wall.last_discard": "drawn"},
    "xiangyang_unlimited": {
        "fan.double_dragon_seven_pairs": 32,
        "fan.triple_dragon_seven_pairs": 128,
        "fan.three_dragons_seven_pairs": 32,
        "fan.little_three_dragons": 0,
        "fan.big_three_dragons": 0,
        "fan.shou_zhua_yi": 4,
        "shou_zhua_yi.replaces_all_pungs": True,
        "deal_in.to_revealed": "ordinary",
        "reveal.payer": "either",
        "reveal.when": "any_time",
        "draw.settle": "revealed_to_all",
    },
    "suizhou": {
        "wall.suits": "any_two",
        "fan.shou_zhua_yi": 4,
        "deal_in.revealed_to_revealed": "pays_for_all",
    },
    "hubei": {
        "fan.shou_zhua_yi": 4,
        "fan.last_tile_draw": 2,
        "wall.last_discard": "drawn",
        "deal_in.revealed_to_revealed": "pays_for_all",
        "draw.settle": "revealed_to_unrevealed",
    },
    "parlour": {
        "fan.shou_zhua_yi": 4,
        "deal_in.revealed_to_revealed": "pays_for_all",
        "deal_in.double": "first_revealed_only",
        "kong.empty_wall": "void",
        "kong.one_held_per_turn": True,
        "dead_hand": "dead",
    },
    "3d_xiangyang": THREE_D,
    "3d_xiaogan": THREE_D | {"side.kan": True},
    "3d_shiyan": THREE_D | {"side.raise": True, "side.raise_on_dice": True},
    "qichun": {
        "score.combine": "add",
        "fan.all_pungs": 4,
        "fan.double_dragon_seven_pairs": 0,
        "fan.ka_wu_xing": 4,
        "fan.ming_si_gui": 3,
        "fan.shou_zhua_yi": 8,
        "fan.after_kong_draw": 4,
        "fan.after_kong_discard": 4,
        "fan.rob_kong": 4,
        "reveal.no_feeding": True,
        "deal_in.to_revealed": "ordinary",
        "reveal.when": "any_time",
        "reveal.payer": "both",
        "reveal.factor_cap": 4,
        "four.with_full_flush": False,
        "draw.settle": "ready",
        "side.kan": True,
    },
}


def values(ruleset, options=None):
    """All keys of a ruleset with room options applied; options are taken as given, unchecked."""
    rules = {key["name"]: key["default"] for key in BASE["key"]}
    rules |= {f"fan.{fan}": value for fan, value in BASE["fan"].items()}
    for key in list(DIFFERENCES[ruleset]) + list(options or {}):
        if key not in rules:
            raise KeyError(key)
    return rules | DIFFERENCES[ruleset] | (options or {})
