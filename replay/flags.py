"""Whose turn it is, and noting a problem in the running state."""

from replay.jit import inner
from replay.problems import CODE
from replay.state import DISCARDED, MAX_PROBLEMS

MISSING_EVENT, NOT_YOUR_TURN = CODE["missing_event"], CODE["not_your_turn"]


@inner
def flag(st, code, event, seat, logged, expected):
    """Note a problem at an event (-1: the whole round); a code is noted once per event."""
    n = st.problems
    if n and st.problem_event[n - 1] == event and st.problem_code[n - 1] == code:
        return
    if n >= MAX_PROBLEMS:
        st.stopped = 1
        return
    st.problem_code[n] = code
    st.problem_event[n] = event
    st.problem_seat[n] = seat
    st.problem_logged[n] = logged
    st.problem_expected[n] = expected
    st.problems = n + 1


@inner
def stop(st):
    """The table is no longer defined: the rest of the log can't be judged."""
    st.stopped = 1


@inner
def wall_left(st):
    """Tiles that can still be drawn."""
    return 44 - st.front - st.back


@inner
def out_of_turn(st, seat, due, number):
    """Another event was due: by another seat (not_your_turn) or by this one (missing_event)."""
    flag(st, MISSING_EVENT if seat == due else NOT_YOUR_TURN, number, seat, -1, due + 4 * st.phase)
    stop(st)


@inner
def due_seat(st):
    """The seat whose event the table waits for, claims apart."""
    return (st.from_ + 1) % 3 if st.phase == DISCARDED else st.turn
