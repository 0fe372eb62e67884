"""The sheets of the parlour, the 3D app and the Qichun app, item by item, as tests/test_sheets.py does the others."""

from pathlib import Path

import pytest
from by_hand import deal, exhausted, play, wall
from test_sheets import BOTH, FLUSH, KA, PAIRS, PLAIN, THREE_D, revealed_both

BOUND = "5555p666z123s147p"  # holds every 5p, and with PAIRS every 6z: nobody can feed KA or PAIRS


# --- 002, 卡五星如何算翻: parlour ---


def test_002_parlour_1_3_concealed_kongs_pay_2_4_8_16_and_the_fifth_32(tmp_path: Path) -> None:
    hands = deal("7z", "111p333p777s999s5z", "222p", keep="13p79s2p")
    four = "0x7z 1d1p 1c1p 1r3p 1c3p 1r7s 1c7s 1r9s 1c9s 1r2p"
    out = play(tmp_path, "parlour", hands, f"{four} 1y2p 2k2p1 2r. z")
    assert out.codes == []
    assert out.kongs == [("concealed", 2 * 2 * 2**step, False) for step in range(4)] + [("exposed", 32, False)]
    hands = deal("7z", "111p333p2s5z1s", "222s444s888s", keep="13p48s")
    out = play(tmp_path, "parlour", hands, "0x7z 1d1p 1c1p 1r3p 1c3p 1r5s 1x2s 2k2s1 2r4s 2c4s 2r8s 2c8s 2r. z")
    assert out.codes == []
    assert out.paid["kong_exposed", 1, 2] == 8
    assert out.paid["kong_concealed", 1, 2] == out.paid["kong_concealed", 0, 2] == 16 + 32


def test_002_parlour_1_3_added_kongs_pay_1_2_4_8_and_the_fifth_16(tmp_path: Path) -> None:
    hands = deal("1p7p5z", "11p33p77s99s12s567z", "", keep="1379p379s8p")
    pungs = "0x1p 1p1p0 1x5z 2d3p 2y3p 1p3p2 1x6z 2d7s 2y7s 1p7s2 1x7z 2d9s 2y9s 1p9s2 1x1s 2. 0."
    chain = "1d1p 1a1p 1r3p 1a3p 1r7s 1a7s 1r9s 1a9s 1r. z"
    out = play(tmp_path, "parlour", hands, f"{pungs} {chain}")
    assert out.codes == []
    assert out.kongs == [("added", 2 * 2**step, False) for step in range(4)]
    hands = deal("1p", "11p33p2s67z", "222s88s99s67z", keep="13p589s")
    events = (
        "0x1p 1p1p0 1x6z 2d3p 2y3p 1p3p2 1x7z 2. 0d8s 0y8s 2p8s0 2x6z 0d9s 0y9s 2p9s0 2x7z 0. "
        "1d1p 1a1p 1r3p 1a3p 1r5s 1x2s 2k2s1 2r8s 2a8s 2r9s 2a9s 2r. z"
    )
    out = play(tmp_path, "parlour", hands, events)
    assert out.codes == []
    points = [points for _, points, _ in out.kongs]
    assert points == [2 * 1, 2 * 2, 2 * 4, 2 * 8, 2 * 16]  # the third is exposed: 2 from the discarder alone


def test_002_parlour_1_4_after_kongs_doubles_once_however_many(tmp_path: Path) -> None:
    hands = deal("7z", "111p333p4688p123s", keep="13p5p")
    out = play(tmp_path, "parlour", hands, "0x7z 1d1p 1c1p 1r3p 1c3p 1r5p 1w5p")
    assert out.wins == [(1, None, 4, ["ka_wu_xing", "after_kong_draw"])]
    assert out.paid["win", 0, 1] == out.paid["win", 2, 1] == 4


def test_002_parlour_1_5_a_second_held_kong_waits_for_the_next_turn(tmp_path: Path) -> None:
    hands = deal("7z", "111p3333p5z", keep="1p8p")
    assert play(tmp_path, "parlour", hands, "0x7z 1d1p 1c1p 1r8p 1c3p 1r. z").codes == ["kong_held"]
    assert play(tmp_path, "hubei", hands, "0x7z 1d1p 1c1p 1r8p 1c3p 1r. z").codes == []
    later = "0x7z 1d1p 1c1p 1r8p 1y8p 2. 0. 1d5p 1c3p 1r. z"
    assert play(tmp_path, "parlour", hands, later).codes == []


def test_002_parlour_1_7_without_its_replacement_the_kong_counts_and_the_hand_is_dead(tmp_path: Path) -> None:
    hands = deal("7z", "111p5z", keep="1p")
    out = play(tmp_path, "parlour", hands, "0x7z 1d1p 1c1p 1x5z 2. 0. 1d8s 1l 1y8s z")
    assert out.codes == ["dead_hand"]
    assert out.paid == {("kong_concealed", 0, 1): 2, ("kong_concealed", 2, 1): 2}


def test_002_parlour_1_8_a_robbed_kong_doubles_the_win_and_does_not_count(tmp_path: Path) -> None:
    hands = deal("5p", "55p7z", KA)
    out = play(tmp_path, "parlour", hands, "0x5p 1p5p0 1x7z 2. 0. 1d5p 1a5p 2w5p1")
    assert out.wins == [(2, 1, 4, ["ka_wu_xing", "rob_kong"])]
    assert out.paid == {("win", 1, 2): 4}


def test_002_parlour_1_9_a_kong_with_the_last_tile_does_not_count(tmp_path: Path) -> None:
    hands = deal("7z", "", "777s5z", keep="7s")
    out = play(tmp_path, "parlour", hands, exhausted(hands, "0x7z", last="7s") + " 2c7s 2x5z e")
    assert (out.codes, out.paid) == ([], {})


def test_002_parlour_2_2_reveal_against_reveal_adds_nothing(tmp_path: Path) -> None:
    assert revealed_both(tmp_path, "parlour").paid == {("win", 1, 0): 8}  # two shares of 2 × 2


@pytest.mark.parametrize("second_reveals", [False, True])
def test_002_parlour_2_3_of_two_winners_only_the_first_revealed_is_paid_double(
    tmp_path: Path, second_reveals: bool
) -> None:
    hands = deal(KA + "5z", "46p55666z222777s", "5p", keep="5p8s")
    reveal = "1d8s 1l 1y8s" if second_reveals else "1d8s 1y8s"
    out = play(tmp_path, "parlour", hands, f"0l 0x5z {reveal} 2d8s 2x5p 0w5p2")
    assert out.codes == []
    assert out.paid == {("win", 2, 0): 8}


def test_002_parlour_3_reveal_after_kong_draw_and_ka_wu_xing_make_8(tmp_path: Path) -> None:
    hands = deal(KA + "5z", keep="5p9p")
    out = play(tmp_path, "parlour", hands, "0l 0x5z 1. 2. 0d9p 0c9p 0r5p 0w5p")
    assert out.wins == [(0, None, 8, ["ka_wu_xing", "after_kong_draw", "reveal"])]
    assert out.paid["win", 1, 0] == out.paid["win", 2, 0] == 8


# --- 002, 3D卡五星游戏规则: 3d_xiangyang, 3d_xiaogan, 3d_shiyan ---


@pytest.mark.parametrize("rules", THREE_D)
def test_002_3d_basic_1_wins_start_at_two(tmp_path: Path, rules: str) -> None:
    assert play(tmp_path, rules, deal("7p", PLAIN), "0x7p 1w7p0").codes == ["below_minimum"]
    assert play(tmp_path, rules, deal("7z", PLAIN), "0x7z 1d7p 1w7p").codes == ["below_minimum"]
    assert play(tmp_path, rules, deal("5p", KA), "0x5p 1w5p0").codes == []


@pytest.mark.parametrize("rules", ["3d_xiangyang", "3d_shiyan"])
def test_002_3d_basic_3_revealed_feeds_revealed_and_pays_for_all(tmp_path: Path, rules: str) -> None:
    """Its own share doubled by both reveals, 2 × 2 × 2, and the third seat's share, 2 × 2."""
    assert revealed_both(tmp_path, rules).paid == {("win", 1, 0): 8 + 4}


def test_002_3d_basic_4_exhausted_keeps_kongs_and_dealer(tmp_path: Path) -> None:
    hands = deal("7z", "111p", keep="1p")
    out = play(tmp_path, "3d_xiangyang", hands, exhausted(hands, "0x7z 1d1p 1c1p 1r."))
    assert out.paid["kong_concealed", 0, 1] == out.paid["kong_concealed", 2, 1] == 2
    assert (out.round["end"], out.round["next_dealer"]) == ("draw", 0)


A_WAITS = "11p34455667888s"  # 1p and 2s without a fan, 5s as ka_wu_xing; 8s as well, which the sheet leaves out
B_WAITS = "33p56777s555666z"  # 3p and 4s; the sheet's full flush on 3p cannot be: no flush waits for a 4s too


@pytest.mark.parametrize("rules", ["3d_xiangyang", "3d_shiyan"])
def test_002_3d_basic_6_no_safe_tile_ends_the_round(tmp_path: Path, rules: str) -> None:
    """C holds 2s, 5s and 4s: it pays A the ka_wu_xing and B the plain win, each doubled by the reveal."""
    hands = [A_WAITS + "2p", B_WAITS, "22p44p88p9p99s2254s"]
    pungs = "0x2p 2p2p0 2x9s 0d4p 0y4p 2p4p0 2x9s 0d8p 0y8p 2p8p0 2x9p"
    out = play(tmp_path, rules, hands, f"{pungs} 0d9s 0l 0y9s 1d9s 1l 1y9s 2d2s e", base=100)
    assert out.codes == []
    assert out.paid == {("no_safe_tile", 2, 0): 400, ("no_safe_tile", 2, 1): 200}
    assert (out.round["end"], out.round["next_dealer"], out.round["raise_next"]) == ("no_safe_tile", 0, 0)


def test_002_3d_basic_6_a_wait_of_the_revealed_may_not_be_discarded(tmp_path: Path) -> None:
    out = play(tmp_path, "3d_xiangyang", deal(KA + "5z", "5p"), "0l 0x5z 1d1p 1x5p 0w5p1")
    assert out.codes == ["fed_revealed"]


@pytest.mark.parametrize("rules", ["3d_xiangyang", "3d_shiyan"])
def test_002_3d_special_a_piao_of_winner_and_payer_is_added(tmp_path: Path, rules: str) -> None:
    more = {"options": {"side.piao_max": 5}, "piao": [1, 2, 5], "base": 10}
    out = play(tmp_path, rules, deal("7z", KA, keep="5p"), "0x7z 1d5p 1w5p", **more)
    assert out.paid == {("win", 0, 1): 20, ("win", 2, 1): 20, ("piao", 0, 1): 30, ("piao", 2, 1): 70}


@pytest.mark.parametrize(("turned", "points"), [("1s", 1), ("9p", 9), ("5z", 10), ("6z", 10), ("7z", 10)])
@pytest.mark.parametrize("rules", ["3d_xiangyang", "qichun"])
def test_002_3d_special_b_and_004_qichun_horse_the_last_tile_is_added(
    tmp_path: Path, rules: str, turned: str, points: int
) -> None:
    hands = deal("8s", "4688p123789s777p", keep="5z6z7z1s9p5p")
    more = {"options": {"side.horse": "last_tile"}, "wall": wall(hands, "5p", turned)}
    out = play(tmp_path, rules, hands, "0x8s 1d5p 1w5p", **more)
    assert out.codes == []
    assert out.paid["horse", 0, 1] == out.paid["horse", 2, 1] == points


def test_002_3d_special_c_xiaogan_counts_kongs_and_own_triplets(tmp_path: Path) -> None:
    hands = deal("8s9s", "4688p99s777p111s7z", keep="5p1s")
    out = play(tmp_path, "3d_xiaogan", hands, "0x9s 1p9s0 1x7z 2. 0. 1d1s 1c1s 1r5p 1w5p")
    assert out.wins == [(1, None, 4, ["ka_wu_xing", "after_kong_draw"])]
    assert out.paid["kan", 0, 1] == out.paid["kan", 2, 1] == 2  # 1111s and 777p, not the pung of 9s
    assert "kan" not in {row[0] for row in play(tmp_path, "3d_shiyan", hands, "0x8s z").paid}


def test_002_3d_special_d_1_exhausted_who_is_not_ready_pays_each_ready_hand_s_best(tmp_path: Path) -> None:
    hands = deal(KA + "5z", PAIRS, BOUND)
    out = play(tmp_path, "3d_xiangyang", hands, exhausted(hands, BOTH))
    assert (out.codes, out.ready) == ([], [True, True, False])
    assert out.paid == {("draw", 2, 0): 2 * 2, ("draw", 2, 1): 4 * 2}


def test_002_3d_special_d_2_exhausted_all_ready_the_revealed_pay_the_unrevealed_their_best(tmp_path: Path) -> None:
    hands = deal(KA + "5z", PAIRS, "555567p666z5577z")
    out = play(tmp_path, "3d_xiangyang", hands, exhausted(hands, "0l 0x5z"))
    assert (out.codes, out.ready) == ([], [True, True, True])
    assert out.paid == {("draw", 0, 1): 4, ("draw", 0, 2): 4}  # seven pairs; little three dragons


def test_002_3d_special_e_1_exhausted_and_a_double_win_double_the_next_base(tmp_path: Path) -> None:
    hands = deal("7z")
    assert play(tmp_path, "3d_shiyan", hands, exhausted(hands, "0x7z")).round["raise_next"] == 1
    double = play(tmp_path, "3d_shiyan", deal("5p", KA, "46p22277788899s"), "0x5p 1w5p0 2w5p0")
    assert (len(double.wins), double.round["raise_next"]) == (2, 1)
    assert play(tmp_path, "3d_shiyan", deal("5p", KA), "0x5p 1w5p0").round["raise_next"] == 0


def test_002_3d_special_e_2_equal_dice_add_to_it(tmp_path: Path) -> None:
    """Round 0 is exhausted, round 1 opens with equal dice: its base stands doubled twice."""
    out = play(tmp_path, "3d_shiyan", deal("5p", KA), "0x5p 1w5p0", base=100, dice=[3, 3], **{"raise": 2})
    assert out.paid == {("win", 0, 1): 2 * 100 * 4}


@pytest.mark.parametrize(("seat", "left", "codes"), [(2, 12, []), (0, 11, ["reveal_not_allowed"])])
def test_002_3d_special_g_xiaogan_no_reveal_below_12_tiles(
    tmp_path: Path, seat: int, left: int, codes: list[str]
) -> None:
    own = ["5z", "", ""]
    own[seat] += KA
    hands = deal(*own, keep="6z")
    played = exhausted(hands, "0x5z").split()[: 1 + 2 * (44 - left)]
    out = play(tmp_path, "3d_xiaogan", hands, " ".join([*played[:-1], f"{seat}l", played[-1], "z"]),
               options={"reveal.min_wall": 12})  # fmt: skip
    assert (out.round["wall_left"], out.codes) == (left, codes)


def test_002_3d_other_a_1_a_deal_in_to_the_revealed_is_paid_by_both(tmp_path: Path) -> None:
    """Unrevealed seats may not feed it, so it takes a robbed kong: 2 × 2 × 2 from each."""
    hands = deal("5p7z", "55p7z", KA, keep="5p")
    out = play(tmp_path, "3d_xiangyang", hands, "0x5p 1p5p0 1x7z 2d8s 2l 2y8s 0. 1d5p 1a5p 2w5p1")
    assert out.wins == [(2, 1, 8, ["ka_wu_xing", "rob_kong", "reveal"])]
    assert out.paid == {("win", 1, 2): 8, ("win", 0, 2): 8}


def test_002_3d_other_a_5_kong_on_kong_example(tmp_path: Path) -> None:
    """A kongs, its discard is konged by another: doubled; that one kongs again with its replacement: doubled again."""
    hands = deal("111p2s7z", "222s333s", keep="1p3s8p")
    out = play(tmp_path, "3d_xiangyang", hands, "0x7z 1. 2. 0d1p 0c1p 0r8p 0x2s 1k2s0 1r3s 1c3s 1r. z")
    assert out.kongs == [("concealed", 4, False), ("exposed", 4, False), ("concealed", 16, False)]


def test_002_3d_other_a_6_the_cap_leaves_kongs_and_piao_out(tmp_path: Path) -> None:
    hands = deal(KA + "5z", keep="5p9p")
    more = {"options": {"score.cap": 4, "side.piao_max": 5}, "piao": [3, 0, 0]}
    out = play(tmp_path, "3d_xiangyang", hands, "0l 0x5z 1. 2. 0d9p 0c9p 0r5p 0w5p", **more)
    assert out.wins == [(0, None, 4, ["ka_wu_xing", "after_kong_draw", "reveal"])]
    assert [out.paid[cause, 1, 0] for cause in ("win", "kong_concealed", "piao")] == [4, 2, 3]


def test_002_3d_other_b_3_and_4_a_loss_is_base_times_multiple_and_everybody_pays_one_base(tmp_path: Path) -> None:
    options = {"stake.base": 5000, "stake.min": 40000, "stake.max": 1200000, "stake.fee": 1}
    out = play(tmp_path, "3d_xiangyang", deal("5p", KA), "0x5p 1w5p0", options=options, base=5000)
    fees = {("fee", seat, None): 5000 for seat in range(3)}
    assert out.codes == [] and out.paid == {("win", 0, 1): 2 * 5000} | fees


# --- 004, 蕲春打拱游戏中心: qichun ---


def test_004_qichun_exhausted_1_who_is_not_ready_pays_each_ready_hand_s_best(tmp_path: Path) -> None:
    hands = deal(KA + "5z", PAIRS, BOUND)
    out = play(tmp_path, "qichun", hands, exhausted(hands, BOTH))
    assert (out.codes, out.ready) == ([], [True, True, False])
    assert out.paid == {("draw", 2, 0): 4 * 2, ("draw", 2, 1): 4 * 2}


def test_004_qichun_exhausted_2_all_ready_the_revealed_pay_the_unrevealed_their_best(tmp_path: Path) -> None:
    hands = deal(KA + "5z", PAIRS, "555567p666z5577z")
    out = play(tmp_path, "qichun", hands, exhausted(hands, "0l 0x5z"))
    assert out.paid == {("draw", 0, 1): 4, ("draw", 0, 2): 4}


def test_004_qichun_horse_2_a_win_with_the_last_tile_turns_none(tmp_path: Path) -> None:
    hands = deal("7z", "", PLAIN)
    won = exhausted(hands, "0x7z", last="7p")
    draws = "".join(token[2:] for token in won.split() if token[1] == "d")
    out = play(tmp_path, "qichun", hands, won + " 2w7p", wall=draws, options={"side.horse": "last_tile"})
    assert out.codes == [] and out.paid == {("win", 0, 2): 1, ("win", 1, 2): 1}


SIX = "147p25s5z"  # three of 1-4-7, two of 2-5-8, none of 3-6-9, a dragon


@pytest.mark.parametrize(
    ("win", "turned", "points"),
    [
        *((win, SIX, 3 + 1) for win in ("1p", "4p", "7p", "7z")),  # 1; 4, 红中算1、4、7
        *((win, SIX, 2 + 1) for win in ("2p", "5p", "8p", "6z")),  # 2; 4, 發财算2、5、8
        *((win, SIX, 0 + 1) for win in ("3p", "6p", "9p", "5z")),  # 3; 4, 白扳算3、6、9
        *((win, "2p58p369s", 6) for win in ("1p", "7z")),  # 一张都没有中马…中6个马
        *((win, "1p47p369s", 6) for win in ("5p", "6z")),
        *((win, "1p47p258s", 6) for win in ("9p", "5z")),
    ],
)
def test_004_qichun_six_horses_1_to_4_by_winning_tile(tmp_path: Path, win: str, turned: str, points: int) -> None:
    hands = ["123456789p567z79s", "123123456789s" + win, "1234455667788s"]
    more = {"options": {"side.horse": "six"}, "wall": wall(hands, win, turned)}
    out = play(tmp_path, "qichun", hands, f"0x7s 1d{win} 1w{win}", **more)
    assert out.codes == []
    assert out.paid == {
        ("win", 0, 1): 1, ("win", 2, 1): 1, ("horse", 0, 1): points, ("horse", 2, 1): points,
    }  # fmt: skip


def test_004_qichun_basic_1_a_plain_win_is_enough_and_only_the_discarder_pays(tmp_path: Path) -> None:
    assert play(tmp_path, "qichun", deal("7p", PLAIN), "0x7p 1w7p0").paid == {("win", 0, 1): 1}
    drawn = play(tmp_path, "qichun", deal("7z", PLAIN), "0x7z 1d7p 1w7p")
    assert drawn.paid == {("win", 0, 1): 1, ("win", 2, 1): 1}


def test_004_qichun_basic_3_revealed_feeds_revealed_without_paying_for_all(tmp_path: Path) -> None:
    """Both reveals double: 4 × 4, the most that reveals make; one kan for the three 9p."""
    assert revealed_both(tmp_path, "qichun").paid == {("win", 1, 0): 16, ("kan", 1, 0): 1}


def test_004_qichun_basic_6_a_wait_of_the_revealed_may_not_be_discarded(tmp_path: Path) -> None:
    out = play(tmp_path, "qichun", deal(KA + "5z", "5p"), "0l 0x5z 1d1p 1x5p 0w5p1")
    assert out.codes == ["fed_revealed"]


def test_004_qichun_play_2_a_concealed_kong_at_any_turn_an_added_one_at_once(tmp_path: Path) -> None:
    hands = deal("1p", "11p3333p7z", keep="1p8p8s")
    start = "0x1p 1p1p0 1x7z 2. 0. 1d1p"
    assert play(tmp_path, "qichun", hands, f"{start} 1c3p 1r8p 1y8p z").codes == []
    late = f"{start} 1c3p 1r8p 1y8p 2. 0. 1d8p 1a1p 1r. z"
    assert play(tmp_path, "qichun", hands, late).codes == ["kong_too_late"]


@pytest.mark.parametrize("revealed", [False, True])
def test_004_qichun_fans_add_up_to_8_and_a_reveal_makes_16(tmp_path: Path, revealed: bool) -> None:
    hands = deal("7z", FLUSH, keep="2p8s")
    out = play(tmp_path, "qichun", hands, f"0x7z 1d8s {'1l ' * revealed}1y8s 2. 0. 1d2p 1w2p")
    multiple = 16 if revealed else 8
    assert out.wins[0][2] == multiple
    assert out.paid == {  # 自摸三个或者4个算一坎: four triplets
        ("win", 0, 1): multiple, ("win", 2, 1): multiple, ("kan", 0, 1): 4, ("kan", 2, 1): 4,
    }  # fmt: skip


def test_004_qichun_a_discard_and_an_added_kong_may_be_won_by_two(tmp_path: Path) -> None:
    out = play(tmp_path, "qichun", deal("5p", KA, "46p22277788899s"), "0x5p 1w5p0 2w5p0")
    assert out.codes == [] and len(out.wins) == 2
    hands = deal("46p22277788899s5p", "55p7z", KA)
    out = play(tmp_path, "qichun", hands, "0x5p 1p5p0 1x7z 2. 0. 1d5p 1a5p 2w5p1 0w5p1")
    assert out.codes == [] and [win[:2] for win in out.wins] == [(2, 1), (0, 1)]
    assert out.kongs == [("added", 0, True)]
