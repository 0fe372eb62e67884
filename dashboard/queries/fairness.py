"""What the pages of the audit ask of the data set beside the audit itself."""

from dashboard.dataset import select


def usual_suits() -> str | None:
    """The pair of suits that most rounds were played with."""
    found = select("SELECT suits FROM rounds GROUP BY suits ORDER BY count(*) DESC, suits NULLS LAST LIMIT 1")
    return found["suits"][0] if found.height else None
