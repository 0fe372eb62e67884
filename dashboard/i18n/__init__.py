"""What the dashboard says, in Chinese and English: one TOML file a language, the same keys in each."""

import tomllib
from functools import cache
from pathlib import Path

from analytics import fairness

FOLDER = Path(__file__).parent
LANGUAGES = {"zh": "中文", "en": "English"}
REPORTED = Path(fairness.__file__).parent / "texts.toml"  # the report's names of kinds of rows
# Checks of the audit that are called like their row in the report, by number; the others' names cover several rows.
CALLED = {1: "tiles", 2: "legality", 3: "settlement", 4: "proof", 5: "completeness", 6: "repeated_deals",
          15: "draw_luck", 18: "net_results", 21: "seating"}  # fmt: skip


@cache
def words(language: str) -> dict[str, str]:
    """Every text of a language by its dotted key, such as "rounds.title"."""
    out: dict[str, str] = {}

    def flatten(table: dict, prefix: str) -> None:
        for key, value in table.items():
            if isinstance(value, dict):
                flatten(value, f"{prefix}{key}.")
            else:
                out[prefix + key] = value

    flatten(tomllib.loads((FOLDER / f"{language}.toml").read_text(encoding="utf-8")), "")
    reported = tomllib.loads(REPORTED.read_text(encoding="utf-8"))
    return out | {f"check.{number}": reported[row][language]["title"] for number, row in CALLED.items()}


def group(language: str, name: str) -> dict[str, str]:
    """The texts of one table by their last key: group("en", "verb")["d"]."""
    prefix = name + "."
    return {key[len(prefix) :]: value for key, value in words(language).items() if key.startswith(prefix)}
