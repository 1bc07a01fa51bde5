"""Decisions on live matches, made from a snapshot and without the database."""

from datetime import datetime, timedelta
from typing import Any

import pytest

from league.models import Bot
from league.play import match_logs, moves, verdicts
from league.play.live import start_or_look_after
from league.play.live_match import LiveMatch
from league.play.rows import MatchRow, MoveRow, SeatRow, Snapshot, TurnRow
from tests.league.play.live import START, second

MATCH = MatchRow(
    pk=7,
    game="twelve-days",
    rules="eight-nights",
    seats=3,
    deal_seed=bytes(32),
    plies=0,
    attempts=1,
    move_seconds=1.0,
    bank_seconds=2.0,
    status="playing",
    stored=0,
    due_at=START + timedelta(seconds=60),
)
LOG = match_logs._dealt(MATCH)


def turn(seat: int, **fields: Any) -> TurnRow:
    return TurnRow(
        **{
            "pk": 1 + seat,
            "match_id": 7,
            "seat": seat,
            "bot_id": 100 + seat,
            "number": 0,
            "ply": seat,
            "deadline": second(3),
            "bank_ms": 2000,
            "illegal_answers": 0,
            "decided_at": None,
            "text": "",
            "fault": "",
            **fields,
        }
    )


def snapshot(
    *chosen: int, remote: tuple[bool, ...] = (True, True, True), **fields: Any
) -> Snapshot:
    """Return a match in its first phase, in which some seats have chosen."""
    texts = {seat: legal(seat)[0] for seat in chosen}
    return Snapshot(
        MATCH._replace(stored=len(chosen), **fields),
        [SeatRow(100 + seat, remote[seat]) for seat in range(3)],
        {
            seat: turn(seat, text=texts[seat], decided_at=START) if seat in chosen else turn(seat)
            for seat in range(3)
            if remote[seat]
        },
        {seat: MoveRow(7, seat, seat, text, "") for seat, text in texts.items()},
    )


def legal(seat: int) -> list[str]:
    return [LOG.state.moves.texts[action] for action in LOG.state.legal(seat)]


def decide(read: Snapshot, seat: int, text: str, now: datetime = START, number: int = 0) -> Any:
    match = LiveMatch(read, LOG, now)
    return moves.decide(Bot(pk=100 + seat), moves.Move(7, number, text), now, match)


def test_a_move_that_is_not_the_last_of_its_phase_needs_no_lock_and_wakes_nobody() -> None:
    decision = decide(snapshot(), 1, legal(1)[0], second(1))
    assert decision.answer == verdicts.Verdict(legal(1)[0], 0, 2000)
    assert decision.change.moves == [MoveRow(7, 1, 1, legal(1)[0], "")]
    [(answered, illegal)] = decision.change.answered
    assert (answered.pk, answered.decided_at, illegal) == (2, second(1), 0)
    assert (decision.change.match.plies, decision.change.opened) == (0, [])
    assert (decision.needs_lock, decision.has_advanced, decision.woken_bots) == (
        False,
        False,
        set(),
    )


def test_the_last_move_of_a_phase_opens_the_next_turns_with_the_rest_of_each_bank() -> None:
    decision = decide(snapshot(0, 1), 2, legal(2)[0], second(2.5))
    assert decision.change.match.plies == decision.log.plies == 3
    assert [(new.seat, new.number, new.bank_ms) for new in decision.change.opened] == [
        (0, 1, 2000),
        (1, 1, 2000),
        (2, 1, 500),
    ]
    assert decision.woken_bots == {100, 101, 102}
    assert (decision.needs_lock, decision.ends) == (False, False)


def test_a_decision_leaves_the_snapshot_and_the_log_as_they_were() -> None:
    read = snapshot(0, 1)
    before = (read.match, list(read.seats), dict(read.turns), dict(read.chosen))
    observed = LOG.state.observe(2)
    first = decide(read, 2, legal(2)[0])
    assert tuple(read) == before
    assert LOG.state.observe(2) == observed
    again = decide(read, 2, legal(2)[0])
    assert (again.answer, again.change) == (first.answer, first.change)


def test_an_illegal_answer_needs_the_lock_as_it_adds_no_move() -> None:
    decision = decide(snapshot(), 0, "nonsense")
    assert decision.answer.members["answers_left"] == 4
    assert decision.change.moves == []
    assert [(row.decided_at, illegal) for row, illegal in decision.change.answered] == [(None, 1)]
    assert decision.needs_lock


def test_the_fifth_illegal_answer_is_counted_and_decides_the_turn() -> None:
    read = snapshot()
    read.turns[0] = turn(0, illegal_answers=4)
    decision = decide(read, 0, "nonsense")
    [(answered, illegal)] = decision.change.answered
    assert (answered.fault, answered.text, illegal) == (
        "illegal",
        decision.answer.members["move"],
        1,
    )
    assert decision.change.moves[0].fault == "illegal"


def test_a_late_move_needs_the_lock_under_which_no_deadline_moves() -> None:
    decision = decide(snapshot(), 0, legal(0)[0], second(3.001))
    assert decision.answer.code == "turn-expired"
    assert decision.change.moves[0].fault == "timeout"
    assert decision.needs_lock


@pytest.mark.parametrize(
    ("read", "seat", "number", "code"),
    [
        (snapshot(0), 0, 0, "turn-already-decided"),
        (snapshot(), 0, 1, "turn-not-open"),
        (snapshot(), 3, 0, "not-found"),
        (snapshot(status="void"), 0, 0, "turn-not-open"),
    ],
)
def test_a_refused_move_changes_nothing(read: Snapshot, seat: int, number: int, code: str) -> None:
    decision = decide(read, seat, "nonsense", number=number)
    assert (decision.answer.code, decision.change) == (code, None)
    assert not decision.needs_lock


def test_a_move_in_a_turn_that_was_not_read_has_no_answer_yet() -> None:
    read = snapshot()
    read.turns[0] = turn(0, number=1)
    assert decide(read, 0, legal(0)[0], number=0) == (
        None,
        None,
        (),
        None,
        False,
        set(),
        False,
        False,
    )


def test_a_match_starts_without_the_lock_and_is_looked_after_with_it() -> None:
    waiting = snapshot(status="waiting", attempts=0)
    started = start_or_look_after(LiveMatch(waiting._replace(turns={}), LOG, START))
    assert (started.answer, started.change.started_at) == (True, START)
    assert (started.change.match.status, started.change.match.attempts) == ("playing", 1)
    assert len(started.change.opened) == 3
    assert not started.needs_lock
    looked_after = start_or_look_after(LiveMatch(snapshot(), LOG, START))
    assert (looked_after.answer, looked_after.change.opened) == (True, [])
    assert looked_after.needs_lock


def test_a_house_seat_with_a_choice_wakes_a_worker() -> None:
    read = snapshot(remote=(True, True, False))
    decision = start_or_look_after(LiveMatch(read, LOG, START))
    assert decision.wakes_worker
    assert not start_or_look_after(LiveMatch(snapshot(), LOG, START)).wakes_worker


def test_the_last_move_of_a_match_needs_the_lock() -> None:
    state, played = LOG.state.copy(), 0
    while True:
        after = state.copy()
        after.step_unchecked({seat: after.legal(seat)[0] for seat in after.actors})
        if not after.actors:
            break
        played += len(state.actors)
        state = after
    log = match_logs.Log(played, state, (0, 0, 0))
    row = MATCH._replace(plies=played, stored=played)
    match = LiveMatch(snapshot()._replace(match=row), log, START)
    for seat in state.actors:
        match.choose(seat, state.legal(seat)[0])
    decision = match.decision("over")
    assert decision.ends
    assert decision.needs_lock
    assert decision.log.state.scores
