"""Working ahead changes neither order nor errors, keeps to its depth, and lets go when it is no longer wanted."""

from collections.abc import Iterator
from contextlib import closing
from threading import Event, active_count, current_thread

import pytest

from ingest import ahead as module
from ingest.ahead import ahead


def test_the_same_items_from_another_thread() -> None:
    threads = set()

    def items() -> Iterator[int]:
        for item in range(100):
            threads.add(current_thread())
            yield item

    assert list(ahead(items(), 3)) == list(range(100))
    assert len(threads) == 1 and current_thread() not in threads


def test_an_error_comes_after_the_items_before_it() -> None:
    def items() -> Iterator[int]:
        yield from range(5)
        raise ZeroDivisionError("of the items")

    seen = []
    with pytest.raises(ZeroDivisionError, match="of the items"):
        for item in ahead(items()):
            seen.append(item)
    assert seen == [0, 1, 2, 3, 4]


def test_never_further_ahead_than_its_depth() -> None:
    made = 0

    def items() -> Iterator[int]:
        nonlocal made
        for made in range(1, 1001):  # noqa: B007, UP028 - counted for the assertion
            yield made

    furthest = 0
    for item in ahead(items(), 2):
        furthest = max(furthest, made - item)
    assert furthest <= 2 + 1  # what waits in the queue, and the one that is to go in


def test_closed_early_it_closes_the_items_and_ends_the_thread() -> None:
    closed = Event()
    threads = active_count()

    def items() -> Iterator[int]:
        try:
            yield from range(1_000_000)
        finally:
            closed.set()

    with pytest.raises(KeyboardInterrupt), closing(ahead(items())) as numbers:
        for item in numbers:
            if item == 10:
                raise KeyboardInterrupt
    assert closed.is_set()
    assert active_count() == threads


def test_a_thread_that_waits_for_input_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PATIENCE", 3)
    more = Event()

    def items() -> Iterator[int]:
        yield 1
        more.wait()

    numbers = ahead(items())
    assert next(numbers) == 1
    numbers.close()
    more.set()
