"""Exhaustive draws paid by readiness: two rounds in which every copy of a wait is in the waiting hand itself."""

from pathlib import Path

from by_hand import Outcome, play

# Seat 1 has revealed with a wait on 2p alone, and adds the last 2p to its pung of them.
KONGED_ITS_WAIT = (
    ["1256p12344789s55z", "2234689p3588s67z", "357p1233469s577z"],
    "0x1p 1d1p 1x7z 2p7z1 2x5z 0p5z2 0l 0x2p 1p2p0 1x6z 2d2s 2x9s 0d9s 0y9s 1d1s 1x5s 2d8s 2x3p 0d7p 0y7p 1d5s 1y5s "
    "2d7s 2l 2x5p 0d5p 0y5p 1d7s 1y7s 2d6s 2y6s 0d7p 0y7p 1d4p 1x3s 2d5p 2y5p 0d9p 0y9p 1d6p 1x1s 2d7p 2y7p 0d8p "
    "0y8p 1d7s 1x8s 2d6z 2y6z 0d9s 0y9s 1d8p 1x7s 2d1p 2y1p 0d9p 0y9p 1d5s 1x8s 2d9p 2y9p 0d7z 0y7z 1d4p 1x5s 2d6s "
    "2y6s 0d3p 0y3p 1d6p 1l 1x9p 2d2s 2y2s 0d6s 0y6s 1d4s 1y4s 2d1s 2y1s 0d6z 0y6z 1d5s 1y5s 2d4p 2y4p 1k4p2 1r2p "
    "1a2p 1r5z 1y5z 2d6z 2y6z 0d1p 0y1p 1d3p 1y3p 2d8p 2y8p e",
)
# Seat 0 holds the fourth 3s beside its pung of them, and waits for a 3s.
HOLDS_ITS_WAIT = (
    ["1699p334667999s", "122589p122678s6z", "1468p14559s56677z"],
    "2x1p 0d8p 0x1p 1d1p 1x6z 2d6z 2x5z 0d4p 0x8p 1d1s 1x5p 2d8p 2y8p 0d8s 0x6s 1d6p 1x9p 0p9p1 0x4s 1d7p 1x1p 2d7z "
    "2x1s 1p1s2 1x1p 2d2s 2x9s 0k9s2 0r4s 0y4s 1d2s 1x8p 2d5z 2y5z 0d2p 0x6p 1d4p 1y4p 2d5p 2l6z7z 2x8p 0d2p 0y2p "
    "1d6p 1y6p 2d3p 2y3p 0d5z 0y5z 1d8s 1y8s 2d4s 2y4s 0d6s 0y6s 1d3p 1y3p 2d9p 2y9p 0d5z 0y5z 1d8s 1y8s 2d3s 2y3s "
    "0p3s2 0x4p 1d7p 1x6p 2d5s 2y5s 0d7p 0x2p 1d7s 1y7s 2d5s 2y5s 0d7s 0y7s 1d7p 1y7p 2d4p 2y4p 0d5p 0y5p 1d5p 1y5p "
    "2d3p 2y3p 0d7z 0x7p 1p7p0 1x7s 2d3p 2y3p 0d3s 0x7z 2k7z0 2r1s 2y1s e",
)


def draws(out: Outcome) -> dict[tuple[int, int | None], int]:
    """What the draw itself moved, by payer and payee."""
    return {(payer, payee): points for (cause, payer, payee), points in out.paid.items() if cause == "draw"}


def test_who_has_konged_its_only_wait_is_not_ready(tmp_path: Path) -> None:
    """rules.md section 2: a kind whose four copies are all in one's own hand and melds is not a wait."""
    out = play(tmp_path, "3d_xiaogan", *KONGED_ITS_WAIT)
    assert out.codes == [] and out.ready == [True, False, True]
    assert draws(out) == {(1, 0): 2, (1, 2): 2}


def test_where_a_held_four_is_a_wait_it_counts_as_the_fourth_of_the_pung(tmp_path: Path) -> None:
    """The servers announce such waits; the best hand that a draw pays for is then an open four."""
    out = play(tmp_path, "kwx-server_xiaogan", *HOLDS_ITS_WAIT, dealer=2)
    assert out.codes == [] and out.ready == [True, True, True]
    assert draws(out) == {(2, 0): 2, (2, 1): 1}
