"""Several seats win one tile (rules.md section 2, claims; section 5, deal_in.double): whose claims count, and when."""

from pathlib import Path

import pytest
from by_hand import deal, play

WAITS_5P = "4688p123789s555z"  # 5p alone: ka_wu_xing
WAITS_5P_TOO = "46p99p123s789s666z"
HANDS = deal("5p1p", WAITS_5P, WAITS_5P_TOO, keep="1s4s5s")
FIRST_REVEALS = "0x1p 1d4s 1l 1y4s 2d5s 2y5s 0d1s 0x5p"


@pytest.mark.parametrize("rules", ["hubei", "parlour", "xiangyang", "qichun"])
def test_both_win_in_seat_order_from_the_payer(tmp_path: Path, rules: str) -> None:
    out = play(tmp_path, rules, HANDS, "0x5p 1w5p0 2w5p0")
    assert out.codes == [] and [win[:2] for win in out.wins] == [(1, 0), (2, 0)]
    assert out.round["next_dealer"] == 0


@pytest.mark.parametrize("rules", ["hubei", "parlour"])
@pytest.mark.parametrize("more", ["", " 2w5p0", " 2w5p0 1w5p0", " 1w5p0 2w5p0 1w5p0"])
def test_the_wrong_order_is_flagged_and_a_third_claim_ends_the_replay(tmp_path: Path, rules: str, more: str) -> None:
    out = play(tmp_path, rules, HANDS, f"0x5p 2w5p0 1w5p0{more}")
    assert out.codes == ["claim_order"] * (2 if more else 1)


@pytest.mark.parametrize("rules", ["hubei", "parlour"])
@pytest.mark.parametrize(
    ("more", "code"), [("2w5p0", "claim_order"), ("1w5p0", "claim_order"), ("2n", "bad_claim"), ("1n", "bad_claim")]
)
def test_nobody_claims_twice_though_only_the_first_revealed_is_paid(
    tmp_path: Path, rules: str, more: str, code: str
) -> None:
    assert play(tmp_path, rules, HANDS, f"{FIRST_REVEALS} 1w5p0 2w5p0").codes == []
    assert play(tmp_path, rules, HANDS, f"{FIRST_REVEALS} 1w5p0 2w5p0 {more}").codes == [code]
