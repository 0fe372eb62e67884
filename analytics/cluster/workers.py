"""The cluster: an existing dask scheduler, or worker processes on this machine.  The only place for dask.

What a lost worker had under way, or had done without the answer having been fetched, dask gives to another.
"""

import logging
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, NamedTuple

from analytics.cluster.work import code

PATIENCE = 30.0  # seconds to reach the scheduler, and for the first worker to come
LOCAL = "local:"


class ClusterError(Exception):
    """A cluster that cannot be used, or has failed; the message says why."""


class Answer(NamedTuple):
    """What a call came to; `key` is the one that it was submitted under."""

    key: str
    value: Any


class Workers:
    """Workers that take calls; made by `connected`."""

    def __init__(self, client: Any) -> None:
        from distributed import as_completed

        self._client = client
        self._pending = as_completed(loop=client.loop, with_results=True, raise_errors=False)
        self._futures: dict[str, Any] = {}

    def submit(self, key: str, function: Callable[[Any], Any], argument: Any) -> None:
        """Has function(argument) called by some worker; the function must be importable there."""
        future = self._client.submit(function, argument, key=key, pure=False)
        self._futures[key] = future
        self._pending.add(future)

    def answers(self) -> Iterator[Answer]:
        """The answers to all that is submitted, also meanwhile, as they come.

        Raises what a call raised, and ClusterError when the calls kill their workers or the scheduler is gone.
        """
        from distributed import KilledWorker

        for future, value in self._pending:
            key = future.key
            self._futures.pop(key, None)
            if future.status == "cancelled":
                raise ClusterError("the scheduler is gone, or has cancelled the work")
            if future.status == "error":
                error = value[1] if isinstance(value, tuple) else future.exception()
                if isinstance(error, KilledWorker):
                    raise ClusterError(f"{key}: each of the {error.allowed_failures + 1} workers that tried it died")
                raise error
            yield Answer(key, value)


@contextmanager
def connected(address: str) -> Iterator[Workers]:
    """Workers at a scheduler's address ("tcp://host:8786"), or "local:N": N processes here, gone afterwards.

    ClusterError when dask is missing, nobody answers, or a worker runs another version of kwx.
    """
    try:
        from distributed import Client, LocalCluster
        from distributed.comm import get_address_host_port
    except ImportError as error:
        raise ClusterError("--workers needs dask: pip install 'kwx[cluster]'") from error
    with ExitStack() as stack:
        stack.enter_context(_quiet())
        if address.startswith(LOCAL):
            count = address.removeprefix(LOCAL)
            if not count.isdecimal() or int(count) < 1:
                raise ClusterError(f"--workers {address}: expected local:N, for example {LOCAL}{os.cpu_count()}")
            cluster = LocalCluster(
                n_workers=int(count), threads_per_worker=1, host="127.0.0.1", dashboard_address=None,
                silence_logs=logging.CRITICAL,
            )  # fmt: skip
            address = stack.enter_context(cluster).scheduler_address
        try:
            get_address_host_port(address)  # a client that is given no address keeps the process from ending
            client = stack.enter_context(Client(address, timeout=PATIENCE, set_as_default=False))
        except (OSError, ValueError) as error:
            raise ClusterError(f"--workers {address}: no scheduler answers there ({_first_line(error)})") from error
        _check(client, address)
        yield Workers(client)


@contextmanager
def _quiet() -> Iterator[None]:
    """Without dask's own reports: what concerns the user is raised."""
    names = [name for name in logging.root.manager.loggerDict if name.partition(".")[0] in ("distributed", "tornado")]
    levels = [(logging.getLogger(name), logging.getLogger(name).level) for name in names]
    try:
        for logger, _ in levels:
            logger.setLevel(logging.CRITICAL + 1)
        yield
    finally:
        for logger, level in levels:
            logger.setLevel(level)


def _check(client: Any, address: str) -> None:
    """That there are workers and all of them run this version."""
    try:
        client.wait_for_workers(1, timeout=PATIENCE)
    except TimeoutError as error:
        raise ClusterError(f"--workers {address}: the scheduler has no worker") from error
    try:
        versions = client.run(code)
    except ImportError as error:
        raise ClusterError(f"--workers {address}: kwx is not installed on the workers ({error})") from error
    for worker, version in sorted(versions.items()):
        if version != code():
            raise ClusterError(
                f"--workers {address}: worker {worker} runs another version of kwx ({version}, here {code()}); "
                "install the same one on all machines"
            )


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
