"""Every statistic equals a slow reading on recordings of public servers and the sample logs: a seeded sample of each.

The literal player says what a round pays by the rules, which is what statistics add up, whatever was recorded.
"""

import json
import random
from collections import Counter, defaultdict
from pathlib import Path

import pytest
import slow_reading
from oracle import play
from test_kws_archive import FOLDER as ARCHIVE
from test_kws_archive import NAMES as ARCHIVED
from test_kws_archive import RULES, full_log
from test_measure import HANDS, SUMMED, hands_of, plain

from analytics import measure, metrics, warehouse
from ingest.events import digest64
from ingest.read import Reader
from ingest.write import write
from replay import ruleset

DATA = Path(__file__).parent / "data"
ROWS = [*sorted((DATA / "node_kwx").glob("*.rows.jsonl.gz")), DATA / "swapped_draws" / "rows.jsonl.gz"]
FILES = [*ROWS, *sorted(DATA.glob("*.jsonl"))]
LINES = 3  # of each file


def load(paths: list[str], db: Path) -> Path:
    warehouse.load(Reader(paths, check_rules=ruleset.check), db)
    return db


def settled(log: dict) -> dict | None:
    """The round with its result as the literal player settles it; None where a move is beyond what the line tells."""
    outcome = play(log, ruleset.load(log["rules"], log.get("options", {})).values)
    if outcome["violations"]:  # a kong of a triplet face down, which rows do not name
        return None
    told = {name: outcome[name] for name in ("end", "kongs", "wins", "points")}
    return log | {"result": log["result"] | told}


def known(db: Path) -> set[int]:
    """Rounds whose lines tell all that they pay by: no piao and no raise that only the game's other rounds tell."""
    with warehouse.connect(db) as connection:
        found = connection.execute(
            "SELECT round_id FROM rounds JOIN seats USING (round_id) WHERE verdict <> 'violation' GROUP BY round_id "
            "HAVING bool_and((coalesce(piao, 0) = 0 OR piao_from = 'logged') AND (raise = 0 OR raise_from = 'logged'))"
        ).fetchall()
    return {id for (id,) in found}


def sample(paths: list[Path], seed: int) -> list[dict]:
    random_ = random.Random(seed)
    logs = []
    for path in paths:
        lines = path.read_text(encoding="utf-8").splitlines()
        logs += [json.loads(line) for line in random_.sample(lines, min(LINES, len(lines)))]
    return logs


def id_of(log: dict) -> int:
    return digest64(log["site"], log["game"], log["round"])


def check(db: Path, logs: list[dict], names: list[str]) -> Counter:
    """Compares by ruleset; how many statistics were other than 0, and how many there were."""
    cells = defaultdict(list)
    hands: dict = defaultdict(lambda: [0.0, 0])
    for log in logs:
        cells[log["rules"]] += slow_reading.seats_of(log)
        for row in hands_of(log) if set(names) & set(HANDS) else []:
            for name in HANDS:
                one, cell = metrics.get(name), hands[log["rules"], name]
                cell[0] += row[one.numerator] / one.scale
                cell[1] += row[one.denominator]
    expected = {(rules, name): plain(metrics.get(name), rows) for rules, rows in cells.items() for name in SUMMED}
    with warehouse.connect(db) as connection:
        found = measure.metrics(connection, names, ["ruleset"], {"round_id": [id_of(log) for log in logs]})
    told = {row[:2]: row[2:] for row in found.iter_rows()}
    counted = {key for key, answer in expected.items() if answer} | {key for key, (_, n) in hands.items() if n}
    assert told.keys() == counted
    for key, (k, n, _, value, *_) in told.items():
        if key in hands:
            assert (k, n) == (pytest.approx(hands[key][0], rel=1e-9, abs=1e-4), hands[key][1]), key
        else:
            assert (k, n, value) == pytest.approx((expected[key][0], expected[key][1], expected[key][3])), key
    return Counter(k != 0 for k, *_ in told.values())


def test_statistics_of_recorded_moves_equal_a_slow_reading(tmp_path: Path) -> None:
    for number, path in enumerate(FILES):
        write(Reader([str(path)], check_rules=ruleset.check), tmp_path / f"{number:02}.jsonl")
    lines = sorted(tmp_path.glob("*.jsonl"))
    logs = sample(lines, 6)
    db = load([str(path) for path in lines], tmp_path / "db")
    those = known(db)
    logs = [log for log in logs if id_of(log) in those]
    logs = [log for one in logs if (log := settled(one))]
    assert len(logs) > 25 and len({log["rules"] for log in logs}) > 5
    assert check(db, logs, [*SUMMED, *HANDS])[True] > 200


def test_statistics_of_settled_hands_equal_a_slow_reading_of_their_draws(tmp_path: Path) -> None:
    """Records without draws: the slow reading has them from the sidecars, the statistics from the hands at the end."""
    logs = []
    for name in ARCHIVED:
        rows = [json.loads(line) for line in full_log(name).splitlines()]
        for place in sorted(random.Random(name).sample(range(len(rows)), LINES)):
            run = {"site": RULES, "game": f"{name}.records#{place // 16 + 1}", "base": 1}
            logs += [settled(rows[place] | run)]
    db = load([str(ARCHIVE / f"{name}.records.jsonl.gz") for name in ARCHIVED], tmp_path / "db")
    assert check(db, logs, SUMMED)[True] > 30
