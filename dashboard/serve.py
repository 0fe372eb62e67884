"""Serves the dashboard on loopback: this process becomes the Streamlit server."""

import os
import socket
import sys
from pathlib import Path
from typing import NoReturn

from analytics import warehouse
from dashboard import library

HERE = Path(__file__).parent
HOST = "127.0.0.1"
USUAL_PORT = 8501


class ServeError(Exception):
    """The dashboard cannot be served; the message says why."""


def free_port(port: int | None) -> int:
    """`port` if nobody listens there; for None the usual port, or any free one when that is taken.

    ServeError when a port that was asked for is taken.
    """
    for wanted in (USUAL_PORT, 0) if port is None else (port,):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((HOST, wanted))
            except OSError as error:
                reason = error.strerror
            else:
                return probe.getsockname()[1]
    raise ServeError(f"port {port} on {HOST}: {reason}")


def has_screen() -> bool:
    """Whether there is a desktop to open a browser on."""
    return sys.platform == "darwin" or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def serve(db: Path | None, port: int | None = None) -> NoReturn:
    """Shows the data set until interrupted; never returns.  WarehouseError, ServeError.

    Without one the dashboard begins with its page "Start".
    """
    if db is not None:
        warehouse.connect(db).close()
    chosen = free_port(port)
    settings = {
        "server.address": HOST, "server.port": chosen, "server.headless": not has_screen(),
        "server.showEmailPrompt": False, "server.fileWatcherType": "none", "browser.gatherUsageStats": False,
        "server.maxUploadSize": library.MOST_BYTES >> 20,
    }  # fmt: skip
    arguments = [f"--{name}={str(value).lower()}" for name, value in settings.items()]
    above = str(HERE.parent)  # Streamlit puts the script's own folder on the path, not the one above
    environment = {name: value for name, value in os.environ.items() if name != library.SERVED} | {
        **({} if db is None else {library.SERVED: str(Path(db).absolute())}),
        "PYTHONPATH": os.pathsep.join(filter(None, (above, os.environ.get("PYTHONPATH")))),
    }
    print(f"kwx: the dashboard is at http://{HOST}:{chosen} (Ctrl-C ends it)", file=sys.stderr, flush=True)
    command = [sys.executable, "-m", "streamlit", "run", str(HERE / "app.py"), *arguments]
    os.execve(sys.executable, command, environment)
