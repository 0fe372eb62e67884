"""Work ahead: a stage of a pipeline in a thread of its own, so that reading goes on while others compute.

What is heavy in reading and replaying (decompressing, digests, compiled code, DuckDB) lets go of the interpreter, so
threads use all cores.  Order and content are those of the same loop in one thread.
"""

from collections.abc import Iterable, Iterator
from queue import Empty, Queue
from threading import Event, Thread
from typing import Any, TypeVar

T = TypeVar("T")

DEPTH = 4  # items made ahead: bounds memory
PATIENCE = 100  # hundredths of a second that a thread gets to end; one that waits for input is left alone


def ahead(items: Iterable[T], depth: int = DEPTH) -> Iterator[T]:
    """The same items, made by a thread that is at most `depth` of them ahead.

    An error of `items` is raised here, after the items before it.  Closed early, it stops the thread and closes
    `items` in it; use contextlib.closing where an error may come between.
    """
    made: Queue[tuple[bool, Any]] = Queue(depth)
    stop = Event()

    def work() -> None:
        iterator = iter(items)
        try:
            for item in iterator:
                made.put((True, item))
                if stop.is_set():
                    return
            made.put((False, None))
        except BaseException as error:  # whatever it is, it is the caller's
            made.put((False, error))
        finally:
            if hasattr(iterator, "close"):
                iterator.close()

    thread = Thread(target=work, daemon=True)
    thread.start()
    try:
        while True:
            more, item = made.get()
            if more:
                yield item
            elif item is None:
                return
            else:
                raise item
    finally:
        stop.set()
        for _ in range(PATIENCE):
            while _emptied(made):
                pass
            thread.join(0.01)
            if not thread.is_alive():
                break


def _emptied(made: Queue[Any]) -> bool:
    """Takes an item out, for whoever waits to put one in; False when there is none."""
    try:
        made.get_nowait()
    except Empty:
        return False
    return True
