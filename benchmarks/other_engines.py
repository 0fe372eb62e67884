"""Replay tools of other games on their own logs and kwx on its own, side by side in one run on this machine.

    python benchmarks/other_engines.py [--seconds 4] [--rounds 50000] [--keep FOLDER]

Installs the packages of OTHERS, of exactly these versions, from PyPI into a virtual environment of its own (in FOLDER,
else a temporary one), lets each make logs with its own random players (seeded), and measures how fast it goes through
them: events per CPU second of one thread, from the text of the log to the end of its checks.  What each of them checks
differs and is said beside its figure.
"""

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import report

OTHERS = ("mjai==0.2.1", "riichienv==0.4.11", "pokerkit==0.7.7", "chess==1.11.2")
CHECKS = {
    "kwx": "every event against all rules, all fans and payments, every table of results",
    "libriichi (mjai)": "each of four seats' states takes every event; actors' moves through validate_reaction",
    "RiichiEnv, apply_event": "the table's state takes every event; legality isn't looked at",
    "RiichiEnv, replay": "legal actions at every decision, and every win scored again",
    "PokerKit": "every action against the betting rules, pots and payoffs computed",
    "python-chess": "every move's legality from its SAN; no result recomputed",
}
Log = tuple[str, int]  # a log's text and its number of events


def rate(work: Callable[[Log], None], logs: list[Log], seconds: float) -> tuple[int, float]:
    """(events, CPU seconds) of going through the logs again and again until the time is used."""
    work(logs[0])  # what is made at first use doesn't count
    events, start = 0, time.process_time()
    while True:
        for log in logs:
            work(log)
            events += log[1]
            if (used := time.process_time() - start) >= seconds:
                return events, used


def riichi_logs(games: int) -> list[Log]:
    """Games of RiichiEnv as mjai JSON lines: players win, declare and shed what is furthest from a winning hand."""
    from riichienv import ActionType, RiichiEnv, calculate_shanten

    best = (ActionType.TSUMO, ActionType.RON, ActionType.RIICHI)

    def choice(view: Any, chance: random.Random) -> Any:
        actions = view.legal_actions()
        for action in actions:
            if action.action_type in best:
                return action
        discards = [action for action in actions if action.action_type == ActionType.DISCARD]
        if not discards:
            return chance.choice(actions)
        hand = view.hand
        return min(discards, key=lambda action: calculate_shanten([tile for tile in hand if tile != action.tile]))

    logs = []
    for seed in range(games):
        table, chance = RiichiEnv(game_mode="4p-red-half", seed=seed), random.Random(seed)
        views = table.reset()
        while not table.done():
            views = table.step({seat: choice(view, chance) for seat, view in views.items()})
        logs.append(("\n".join(map(json.dumps, table.mjai_log)), len(table.mjai_log)))
    return logs


def dora_first(log: Log) -> Log:
    """The log as libriichi takes it: a kong's new dora stands before the replacement tile."""
    lines = log[0].split("\n")
    for at in range(1, len(lines)):
        if '"type": "dora"' in lines[at] and '"type": "tsumo"' in lines[at - 1]:
            lines[at - 1], lines[at] = lines[at], lines[at - 1]
    return "\n".join(lines), log[1]


def libriichi(log: Log) -> None:
    from mjai.mlibriichi.state import PlayerState

    seats = [PlayerState(seat) for seat in range(4)]
    for line in log[0].split("\n"):
        if line.startswith('{"actor": ') and not line.endswith(('"tsumo"}', '"reach_accepted"}')):
            seats[int(line[10])].validate_reaction(line)
        for seat in seats:
            seat.update(line)


def riichi_apply(log: Log) -> None:
    from riichienv import RiichiEnv

    table = RiichiEnv(game_mode="4p-red-half", skip_mjai_logging=True)
    for line in log[0].split("\n"):
        table.apply_event(json.loads(line))


def riichi_replay(log: Log) -> None:
    from riichienv import MjaiReplay

    with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
        file.write(log[0])
        file.flush()
        for round in MjaiReplay.from_jsonl(file.name).take_kyokus():
            for _ in round.steps():
                pass
            for win in round.take_win_result_contexts():
                win.calculate(win.create_calculator())


def poker_logs(hands: int) -> list[Log]:
    """No-limit hold'em hands of three players who act at random, as PHH texts."""
    from pokerkit import Automation, HandHistory, NoLimitTexasHoldem

    automations = tuple(one for one in Automation if one.name not in ("CARD_BURNING", "HOLE_DEALING", "BOARD_DEALING"))
    game = NoLimitTexasHoldem(automations, True, 0, (1, 2), 2)
    logs = []
    for seed in range(hands):
        chance = random.Random(seed)
        deck = [rank + suit for rank in "23456789TJQKA" for suit in "cdhs"]
        chance.shuffle(deck)
        state = game((200, 200, 200), 3)
        while state.status:
            if state.can_burn_card():
                state.burn_card("??")
            elif state.can_deal_hole():
                state.deal_hole(deck.pop() + deck.pop())
            elif state.can_deal_board():
                state.deal_board("".join(deck.pop() for _ in range(state.board_dealing_count)))
            elif state.can_complete_bet_or_raise_to() and chance.random() < 0.15:
                state.complete_bet_or_raise_to(state.min_completion_betting_or_raising_to_amount)
            elif state.can_fold() and chance.random() < 0.1:
                state.fold()
            else:
                state.check_or_call()
        history = HandHistory.from_game_state(game, state)
        logs.append((history.dumps(), len(history.actions)))
    return logs


def pokerkit(log: Log) -> None:
    from pokerkit import HandHistory

    for _ in HandHistory.loads(log[0]):
        pass


def chess_logs(games: int) -> list[Log]:
    """Games of random legal moves, at most 120 half moves, as PGN."""
    import chess
    import chess.pgn

    logs = []
    for seed in range(games):
        chance, board = random.Random(seed), chess.Board()
        while not board.is_game_over() and len(board.move_stack) < 120:
            board.push(chance.choice(list(board.legal_moves)))
        logs.append((str(chess.pgn.Game.from_board(board)), len(board.move_stack)))
    return logs


def python_chess(log: Log) -> None:
    import io

    import chess.pgn

    game = chess.pgn.read_game(io.StringIO(log[0]))
    assert not game.errors


def playable(logs: list[Log]) -> list[Log]:
    """Those of RiichiEnv's logs that libriichi accepts: the two differ on claims at the end of the wall."""
    kept = []
    for log in map(dora_first, logs):
        try:
            libriichi(log)
        except RuntimeError:
            continue
        kept.append(log)
    return kept


def others(seconds: float) -> Iterator[tuple[str, int, float]]:
    """(name, events, CPU seconds) of each other engine; runs in the virtual environment that has them."""
    riichi = riichi_logs(20)
    for name, work, logs in (
        ("libriichi (mjai)", libriichi, playable(riichi)),
        ("RiichiEnv, apply_event", riichi_apply, riichi),
        ("RiichiEnv, replay", riichi_replay, riichi),
        ("PokerKit", pokerkit, poker_logs(100)),
        ("python-chess", python_chess, chess_logs(30)),
    ):
        yield name, *rate(work, logs, seconds)


def ours(rounds: int, seconds: float, rules: str | None = None) -> tuple[str, int, float]:
    """The same of kwx: the bytes of a plain log to all tables, on one thread."""
    from logs import made, reader

    from replay import ruleset
    from replay.batch import Replayer
    from replay.prepared import flat_events

    with tempfile.TemporaryDirectory() as folder:
        plain, _ = made(Path(folder), rules or ruleset.ids()[0], rounds)
        text = str(plain), sum(len(flat_events(batch.rounds)) for batch in reader(plain))

        def validate(log: Log) -> None:
            replayer = Replayer()
            for batch in reader(Path(log[0])):
                replayer.feed(batch.rounds)

        return "kwx", *rate(validate, [text], seconds)


def installed(folder: Path) -> Path | None:
    """A Python that has the other engines; None, and why on standard error, where they can't be installed."""
    python = folder / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        run = subprocess.run([python, "-m", "pip", "install", "--quiet", *OTHERS])
        if run.returncode:
            print(f"not measured, since pip can't install them: {', '.join(OTHERS)}", file=sys.stderr)
            return None
    return python


def measured(rounds: int, seconds: float, keep: Path | None, rules: str | None = None) -> tuple[str, dict[str, float]]:
    """The section, and events a CPU second by tool."""
    with tempfile.TemporaryDirectory() as folder:
        python = installed(keep or Path(folder))
        found = []
        if python:
            command = [python, __file__, "--others", "--seconds", str(seconds)]
            found = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    speeds = {name: events / took for name, events, took in [ours(rounds, seconds, rules), *found]}
    rows = [(name, f"{speed:,.0f}", f"{speeds['kwx'] / speed:,.1f}", CHECKS[name]) for name, speed in speeds.items()]
    text = report.table(("tool", "events per CPU second", "kwx is … times as fast", "what it checks"), rows)
    return f"{', '.join(OTHERS)}\n\n{text}" + ("" if found else "\n\nThe others could not be installed."), speeds


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=4, help="CPU seconds to measure each for, at least")
    parser.add_argument("--rounds", type=int, default=50_000, help="rounds of the kwx log")
    parser.add_argument("--keep", type=Path, help="folder of the virtual environment, to use it again")
    parser.add_argument("--others", action="store_true", help=argparse.SUPPRESS)  # inside the virtual environment
    chosen = parser.parse_args()
    if chosen.others:
        print(json.dumps(list(others(chosen.seconds))))
        return
    print(report.machine("numba") + "\n\n" + measured(chosen.rounds, chosen.seconds, chosen.keep)[0])


if __name__ == "__main__":
    main()
