"""The command line: the console script `kwx`; the commands stand in cli/ by topic, without logic of their own.

Machine output goes to stdout, messages and progress to stderr.  Exit codes: 0 fine, 1 problems found, 2 wrong usage or
unreadable input, 130 interrupted.  The packages are imported inside the commands: `kwx --help` needs none of them.
Source: cli.md.
"""

import signal
import sys

from cli import datasets, logs, players, rules  # noqa: F401  # in the order of --help
from cli.arguments import app
from cli.lean import lean

PACKAGES = ("cli", "ingest", "replay", "analytics", "dashboard")


def main(arguments: list[str] | None = None) -> None:
    """The console script `kwx`; always ends in SystemExit, and an expected error is one line on stderr."""
    if arguments is None:
        lean(sys.argv[1:])
    if hasattr(signal, "SIGPIPE") and arguments is None:
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # `kwx … | head` ends as other Unix tools do
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="backslashreplace")  # a terminal that lacks a character still shows the line
    try:
        app(arguments, prog_name="kwx")
    except OSError as error:
        fail(f"{error.filename}: {error.strerror}" if error.filename else str(error))
    except Exception as error:
        # An error class of our own is a clear message about wrong input; anything else is a fault of ours.
        if type(error).__module__.split(".")[0] not in PACKAGES:
            raise
        fail(str(error))


def fail(message: str) -> None:
    """Prints an error and exits with 2."""
    print(f"kwx: {message}", file=sys.stderr)
    raise SystemExit(2)


if __name__ == "__main__":
    main()
