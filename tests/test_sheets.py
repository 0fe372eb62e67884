"""The sheets' own examples and worked arithmetic, item by item, played as rounds.

Names are test_<file>_<sheet>_<item>: 000 to 004 are the files that the rulesets state as sources, items carry the
sheet's numbering.  Expected values are the sheets' words worked out by hand.  What is about a hand alone stands as an
example in the ruleset files.
"""

from pathlib import Path

import pytest
from by_hand import Outcome, deal, exhausted, play

from replay import ruleset
from replay.score import score, waits

KA = "4688999p123789s"  # waits for 5p alone: ka_wu_xing
PAIRS = "1122334477p66s6z"  # waits for 6z alone: seven pairs
FLUSH = "1113337779992p"  # waits for 2p alone: full flush and all pungs
PLAIN = "123456789s1237p"  # waits for 7p alone: no fan
BOTH = "0l 0x5z 1d4s 1l 1y4s 2. 0."  # KA (seat 0, 5z more) and PAIRS (seat 1) reveal
SHEETS = ("xiangyang", "xiangyang_table", "xiangyang_unlimited", "suizhou", "hubei", "parlour", "qichun")
THREE_D = ("3d_xiangyang", "3d_xiaogan", "3d_shiyan")


def hand(concealed: str, win: str, *melds: str, **flags: bool) -> dict:
    return {"concealed": concealed, "win": win, "by": "discard", "melds": list(melds)} | flags


def revealed_both(folder: Path, rules: str, **more: object) -> Outcome:
    """KA and PAIRS have revealed; PAIRS draws 5p and must discard it to KA."""
    hands = deal(KA + "5z", PAIRS, keep="5p6z")
    out = play(folder, rules, hands, f"{BOTH} 1d5p 1y5p 0w5p1", **more)
    assert out.codes == [] and [win[:2] for win in out.wins] == [(0, 1)]
    return out


# --- 000 and 002, 襄樊卡五星游戏规则: xiangyang ---


@pytest.mark.parametrize("rules", [*SHEETS, *THREE_D])
@pytest.mark.parametrize(
    ("held", "rest"), [("4556p", "123789s"), ("4688p", "123789s"), ("2245667p", "123s"), ("2245556p", "123s")]
)
def test_000_xiangyang_ka_wu_xing_4556_4688_2245667_2245556_win_on_5(rules: str, held: str, rest: str) -> None:
    found = score(hand(held + rest, "5p", "pung 9p", revealed=True), ruleset.load(rules))
    assert found is not None and "ka_wu_xing" in found[1]
    assert "5p" in waits({"concealed": held + rest, "melds": ["pung 9p"]})


def test_000_xiangyang_kongs_added_1_each_exposed_2_concealed_2_each(tmp_path: Path) -> None:
    hands = deal("1p3p", "11p7z", "222s333p", keep="1p2s")
    events = "0x1p 1p1p0 1x7z 2d2s 2c2s 2r. 0d8s 0x3p 2k3p0 2r. 0. 1d1p 1a1p 1r. z"
    out = play(tmp_path, "xiangyang", hands, events, base=100)
    assert out.codes == []
    assert out.paid == {
        ("kong_concealed", 0, 2): 200, ("kong_concealed", 1, 2): 200, ("kong_exposed", 0, 2): 200,
        ("kong_added", 0, 1): 100, ("kong_added", 2, 1): 100,
    }  # fmt: skip


def test_000_xiangyang_after_kong_discard_doubles_and_the_kong_is_paid(tmp_path: Path) -> None:
    hands = deal("111s5p7z", "", "4688999p456789s", keep="5p")
    out = play(tmp_path, "xiangyang", hands, "0x7z 1. 2. 0d1s 0c1s 0r2p 0x5p 2w5p0")
    assert out.wins == [(2, 0, 4, ["ka_wu_xing", "after_kong_discard"])]
    assert out.paid == {("kong_concealed", 1, 0): 2, ("kong_concealed", 2, 0): 2, ("win", 0, 2): 4}


def test_000_xiangyang_a_robbed_kong_is_paid_as_a_win_and_not_as_a_kong(tmp_path: Path) -> None:
    hands = deal("5p", "55p7z", KA)
    out = play(tmp_path, "xiangyang", hands, "0x5p 1p5p0 1x7z 2. 0. 1d5p 1a5p 2w5p1")
    assert out.wins == [(2, 1, 4, ["ka_wu_xing", "rob_kong"])]
    assert out.paid == {("win", 1, 2): 4}
    assert out.kongs == [("added", 0, True)]


def test_000_xiangyang_special_1_exhausted_the_first_revealed_pays_each_1(tmp_path: Path) -> None:
    hands = deal(KA + "5z", PAIRS, "555p666z")
    out = play(tmp_path, "xiangyang", hands, exhausted(hands, BOTH), base=10)
    assert out.codes == []
    assert out.paid == {("draw", 0, 1): 10, ("draw", 0, 2): 10}
    assert out.round["next_dealer"] == 0  # 不下庄


def test_000_xiangyang_special_2_who_feeds_a_revealed_hand_pays_both_shares(tmp_path: Path) -> None:
    out = play(tmp_path, "xiangyang", deal(KA + "5z", "5p"), "0l 0x5z 1d1p 1x5p 0w5p1")
    assert out.wins == [(0, 1, 4, ["ka_wu_xing", "reveal"])]
    assert out.paid == {("win", 1, 0): 8}


def test_000_xiangyang_special_2_a_revealed_discarder_pays_its_own_share(tmp_path: Path) -> None:
    assert revealed_both(tmp_path, "xiangyang").paid == {("win", 1, 0): 4}


def test_000_xiangyang_special_3_an_added_kong_is_made_at_once_or_never(tmp_path: Path) -> None:
    hands = deal("1p", "11p7z7s", keep="1p8p")
    start = "0x1p 1p1p0 1x7z 2. 0. 1d1p"
    assert play(tmp_path, "xiangyang", hands, f"{start} 1a1p 1r. z").codes == []
    assert play(tmp_path, "xiangyang", hands, f"{start} 1x7s 2. 0. 1d8p 1a1p 1r. z").codes == ["kong_too_late"]


def test_000_xiangyang_special_3_a_triplet_is_konged_or_left(tmp_path: Path) -> None:
    hands = deal("1p", "111p7z", keep="8p")
    konged = play(tmp_path, "xiangyang", hands, "0x1p 1k1p0 1r. z")
    assert (konged.codes, konged.paid) == ([], {("kong_exposed", 0, 1): 2})
    assert play(tmp_path, "xiangyang", hands, "0x1p 1p1p0 1x7z 2. 0. 1d8p 1a1p 1r. z").codes == ["kong_too_late"]


def test_000_xiangyang_special_4_no_kong_with_or_of_the_last_tile(tmp_path: Path) -> None:
    hands = deal("7z", "", "777s", keep="7s")
    drawn = exhausted(hands, "0x7z", last="7s")
    assert play(tmp_path, "xiangyang", hands, f"{drawn} 2c7s 2y7s e").codes[0] == "kong_on_empty_wall"
    hands = deal("7z", "777s", keep="7s")
    drawn = exhausted(hands, "0x7z", last="7s")
    assert play(tmp_path, "xiangyang", hands, f"{drawn} 2y7s 1k7s2 e").codes[0] == "kong_on_empty_wall"


def test_000_xiangyang_special_5_a_missed_win_bars_every_win_before_the_next_draw(tmp_path: Path) -> None:
    hands = deal("5p", "5p", KA)
    assert play(tmp_path, "xiangyang", hands, "0x5p 1d2p 1x5p 2w5p1").codes == ["missed_win_lock"]
    assert play(tmp_path, "xiangyang", hands, "0x5p 1. 2. 0d5p 0y5p 2w5p0").codes == []


# --- 000 and 002, 卡五星(卡五心)麻将规则: suizhou ---


def test_000_suizhou_2_after_a_double_win_the_discarder_deals(tmp_path: Path) -> None:
    out = play(tmp_path, "suizhou", deal("5p7z", KA, "46p22277788899s"), "0x5p 1w5p0 2w5p0", dealer=0)
    assert out.paid == {("win", 0, 1): 2, ("win", 0, 2): 2}
    assert out.round["next_dealer"] == 0


BASIC = (
    ("123123s456456p1p", "1p"), ("123123s4567771p", "1p"), ("123123s1112223p", "3p"), ("123s1112223337p", "7p"),
    ("1112223337774p", "4p"), ("1122334p445566s", "4p"),
)  # fmt: skip


@pytest.mark.parametrize("rules", SHEETS)
@pytest.mark.parametrize(("concealed", "win"), BASIC)
def test_000_suizhou_3_1_every_basic_shape_wins(rules: str, concealed: str, win: str) -> None:
    assert score(hand(concealed, win), ruleset.load(rules)) is not None


@pytest.mark.parametrize("kong", ["exposed_kong", "added_kong", "concealed_kong"])
def test_000_suizhou_3_1_2_a_kong_stands_for_a_triplet(kong: str) -> None:
    found = score(hand("1112223337p", "7p", f"{kong} 5s"), ruleset.load("suizhou"))
    assert found == (2, ["all_pungs"])


def test_000_suizhou_3_2_a_self_draw_is_paid_by_both_a_discard_by_one(tmp_path: Path) -> None:
    drawn = play(tmp_path, "suizhou", deal("7z", PLAIN), "0x7z 1d7p 1w7p")
    assert drawn.paid == {("win", 0, 1): 1, ("win", 2, 1): 1}
    fed = play(tmp_path, "suizhou", deal("7p", PLAIN), "0x7p 1w7p0")
    assert fed.paid == {("win", 0, 1): 1}


# --- 000, 001 and 002, 卡五星的规则: hubei ---


def test_001_hubei_7_4_17_exposed_kong_is_paid_double_by_the_discarder_alone(tmp_path: Path) -> None:
    out = play(tmp_path, "hubei", deal("1p", "111p", keep="8p"), "0x1p 1k1p0 1r. z", base=5)
    assert out.paid == {("kong_exposed", 0, 1): 10}


def test_001_hubei_7_4_example_2_four_melds_three_of_dragons_and_the_kong_points(tmp_path: Path) -> None:
    """大三元+碰碰胡+手抓一：8×2×4=64番。如果有开杠，还需再加上喜钱番数."""
    hands = deal("5z6z", "55z666z77z11p9s128s", "9s", keep="7z1p2p")
    events = "0x5z 1p5z0 1x1s 2d7z 2y7z 1p7z2 1x2s 2d1p 2y1p 1p1p2 1x8s 2. 0x6z 1k6z0 1r2p 1y2p 2d2p 2x9s 1w9s2"
    out = play(tmp_path, "hubei", hands, events.replace("0x6z", "0d3p 0x6z"))
    assert out.codes == []
    assert out.wins == [(1, 2, 64, ["all_pungs", "big_three_dragons", "shou_zhua_yi"])]
    assert out.paid == {("kong_exposed", 0, 1): 2, ("win", 2, 1): 64}


def test_001_hubei_9_1_who_feeds_a_revealed_hand_pays_twice_its_worth(tmp_path: Path) -> None:
    out = play(tmp_path, "hubei", deal(KA + "5z", "5p"), "0l 0x5z 1d1p 1x5p 0w5p1")
    assert out.wins == [(0, 1, 4, ["ka_wu_xing", "reveal"])]
    assert out.paid == {("win", 1, 0): 8}
    assert out.points == [8, -8, 0]


def test_001_hubei_9_2_a_missed_win_bars_the_others_tiles_too(tmp_path: Path) -> None:
    assert play(tmp_path, "hubei", deal("5p", "5p", KA), "0x5p 1d2p 1x5p 2w5p1").codes == ["missed_win_lock"]


@pytest.mark.parametrize(
    ("events", "paid"),
    [
        ("0l 0x5z", {(0, 1): 1, (0, 2): 1}),  # （1）一个玩家亮倒
        ("0l 0x5z 1d4s 1l 1y4s", {(0, 2): 1, (1, 2): 1}),  # （2）两个玩家亮倒
        ("0l 0x5z 1d4s 1l 1y4s 2d5z 2l 2y5z", {}),  # （3）三个玩家都亮倒，都不赔
    ],
)
def test_001_hubei_9_4_exhausted_with_one_two_three_revealed(tmp_path: Path, events: str, paid: dict) -> None:
    hands = deal(KA + "5z", PAIRS, "555p666z5577z456s", keep="7z")
    out = play(tmp_path, "hubei", hands, exhausted(hands, events))
    assert out.codes == []
    assert out.paid == {("draw", *seats): points for seats, points in paid.items()}


def test_001_hubei_9_5_reveal_doubles_the_win_and_not_the_kong(tmp_path: Path) -> None:
    hands = deal(KA + "5z", "", "", keep="5p9p")
    out = play(tmp_path, "hubei", hands, "0l 0x5z 1. 2. 0d9p 0c9p 0r5p 0w5p")
    assert out.wins == [(0, None, 8, ["ka_wu_xing", "after_kong_draw", "reveal"])]
    assert out.paid == {
        ("kong_concealed", 1, 0): 2, ("kong_concealed", 2, 0): 2, ("win", 1, 0): 8, ("win", 2, 0): 8,
    }  # fmt: skip


TIED = "1233345p789s777z"  # 3p stands in runs too: waits 3p and 6p; without the three 3p it is not ready


@pytest.mark.parametrize("claim", [False, True])
def test_001_hubei_9_5_no_kong_of_a_triplet_that_the_waits_need(tmp_path: Path, claim: bool) -> None:
    """在没有亮倒的情况下…可以杠3; 在亮倒的情况下…不可以杠3 (the sheet's picture of the hand is lost)."""
    hands = deal(TIED + "5z", "3p" if claim else "", keep="1s3p")
    kong = "1d1s 1x3p 0k3p1 0r. z" if claim else "1. 2. 0d3p 0c3p 0r. z"
    assert waits({"concealed": "1245p789s", "melds": ["exposed_kong 3p", "pung 7z"]}) == []
    assert play(tmp_path, "hubei", hands, f"0x5z {kong}").codes == []
    assert play(tmp_path, "hubei", hands, f"0l 0x5z {kong}").codes == ["changed_after_reveal"]


def test_001_hubei_9_5_after_the_reveal_a_kong_of_a_triplet_that_stands_alone(tmp_path: Path) -> None:
    hands = deal(KA + "5z", "9p")
    assert play(tmp_path, "hubei", hands, "0l 0x5z 1d1p 1x9p 0k9p1 0r. z").codes == []


def test_001_hubei_10_6_each_kong_on_a_kong_is_paid_twice_the_one_before(tmp_path: Path) -> None:
    hands = deal("111p2s7z", "222s333s", keep="1p3s8p")
    out = play(tmp_path, "hubei", hands, "0x7z 1. 2. 0d1p 0c1p 0r8p 0x2s 1k2s0 1r3s 1c3s 1r. z")
    assert out.paid == {
        ("kong_concealed", 1, 0): 2, ("kong_concealed", 2, 0): 2, ("kong_exposed", 0, 1): 4,
        ("kong_concealed", 0, 1): 8, ("kong_concealed", 2, 1): 8,
    }  # fmt: skip


def test_001_hubei_8_14_the_84th_tile_doubles(tmp_path: Path) -> None:
    hands = deal("7z", "", PLAIN)
    out = play(tmp_path, "hubei", hands, exhausted(hands, "0x7z", last="7p") + " 2w7p")
    assert out.wins == [(2, None, 2, ["last_tile_draw"])]
    assert out.paid == {("win", 0, 2): 2, ("win", 1, 2): 2}


# --- 002, 襄阳麻将卡五星玩法: xiangyang_table ---


def test_002_xiangyang_table_3_5_who_pays_for_its_reveal_deals_next(tmp_path: Path) -> None:
    hands = deal("7z", KA, "555p")
    out = play(tmp_path, "xiangyang_table", hands, exhausted(hands, "0x7z 1d5z 1l 1y5z"))
    assert out.paid == {("draw", 1, 0): 1, ("draw", 1, 2): 1}
    assert out.round["next_dealer"] == 1


def test_002_xiangyang_table_5_of_two_revealed_the_first_pays(tmp_path: Path) -> None:
    hands = deal(KA + "5z", PAIRS, "555p666z")
    out = play(tmp_path, "xiangyang_table", hands, exhausted(hands, BOTH))
    assert out.paid == {("draw", 0, 1): 1, ("draw", 0, 2): 1}


# --- 002, 襄阳卡五星无限翻规则: xiangyang_unlimited ---


@pytest.mark.parametrize(
    ("concealed", "win", "melds", "expected"),
    [
        ("123p234p567s6s", "6s", ("pung 9s",), (1, [])),  # 123 234 567 66
        ("222p333p1s", "1s", ("pung 9s", "pung 7s"), (2, ["all_pungs"])),  # 222 333 11
        ("11223333p44556s", "6s", (), (8, ["dragon_seven_pairs"])),  # 11 22 3333 44 55 66
        ("11112233p44555s", "5s", (), (32, ["double_dragon_seven_pairs"])),  # 1111 22 33 44 5555
        ("11113333p44555s", "5s", (), (128, ["triple_dragon_seven_pairs"])),  # 1111 3333 44 5555
    ],
)
def test_002_unlimited_the_shapes_that_its_fans_are_explained_by(concealed, win, melds, expected) -> None:
    assert score(hand(concealed, win, *melds), ruleset.load("xiangyang_unlimited")) == expected


def test_002_unlimited_a_revealed_discarder_pays_double_once(tmp_path: Path) -> None:
    hands = deal(KA + "7z", PAIRS, keep="5p6z")
    out = play(tmp_path, "xiangyang_unlimited", hands, "0x7z 1d4s 1l 1y4s 2. 0. 1d5p 1y5p 0w5p1")
    assert out.wins == [(0, 1, 2, ["ka_wu_xing"])]
    assert out.paid == {("win", 1, 0): 4}  # 自己放冲…按双倍分数结算
    assert revealed_both(tmp_path, "xiangyang_unlimited").paid == {("win", 1, 0): 4}


def test_002_unlimited_a_revealed_seat_pays_another_s_self_draw_double(tmp_path: Path) -> None:
    hands = deal(KA + "7z", PAIRS, keep="5p6z")
    out = play(tmp_path, "xiangyang_unlimited", hands, "0x7z 1d4s 1l 1y4s 2. 0d5p 0w5p")
    assert out.paid == {("win", 1, 0): 4, ("win", 2, 0): 2}


def test_002_unlimited_exhausted_each_revealed_seat_pays_both_others(tmp_path: Path) -> None:
    hands = deal("7z", KA, "555p")
    out = play(tmp_path, "xiangyang_unlimited", hands, exhausted(hands, "0x7z 1d5z 1l 1y5z"), base=3)
    assert out.paid == {("draw", 1, 0): 3, ("draw", 1, 2): 3}


def test_002_unlimited_a_discard_is_paid_by_the_discarder_alone(tmp_path: Path) -> None:
    out = play(tmp_path, "xiangyang_unlimited", deal(KA + "5z", "5p"), "0l 0x5z 1d1p 1x5p 0w5p1")
    assert out.paid == {("win", 1, 0): 4}
