"""What a command does without: large modules that libraries import wherever they find them.

pyarrow imports pandas at the first array that it makes of numbers, numba imports scipy's linear algebra at the first
compiled function: together a third of the time that `kwx check` of ten rounds takes.  Both do without; the dashboard
needs pandas, the audit scipy.
"""

import sys

UNUSED = ("pandas", "scipy.linalg")
LEAN = ("check", "convert", "fit", "run", "score", "simulate", "waits")  # commands that use neither


class _Refusal:
    """Finds nothing and says so, as for a module that isn't installed."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> None:
        if name in UNUSED:
            raise ModuleNotFoundError(f"{name} is not for this command: see {__name__}", name=name)


def lean(arguments: list[str]) -> None:
    """Keeps UNUSED out of this process, for a command line that needs none of them."""
    if arguments[:1] and arguments[0] in LEAN and not any(one.startswith("--workers") for one in arguments):
        sys.meta_path.insert(0, _Refusal)  # type: ignore[arg-type]
