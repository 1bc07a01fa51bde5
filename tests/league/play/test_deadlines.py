"""Properties of deadlines, in whatever order clocks, doors and bots act."""

from datetime import datetime, timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from league import play
from league.models import Bot, Clock, Door, Match, Turn
from league.play import outages, turn_statements
from league.play.outages import Probe
from league.play.turn_clocks import GRACE
from tests.league.play.live import START, match_of, second

pytestmark = pytest.mark.django_db(transaction=True)

MOVE, BANK = timedelta(seconds=1), timedelta(seconds=2)
DOORS = ("turns", "moves")

acts = st.one_of(
    st.tuples(st.just("hand out"), st.integers(0, 2)),
    st.tuples(st.just("probe"), st.sampled_from(["", "turns", "moves"])),
    st.tuples(st.just("settle"), st.none()),
    st.tuples(st.just("expire"), st.none()),
)
steps = st.tuples(
    acts,
    st.sampled_from([0, 0, 100, 400, 1100, 3000, 60_000]),
    st.sampled_from([0, 0, -400, 400, -2500, 2500]),
)
"""An act, the milliseconds since the last one, and how wrong the clock of its process is."""


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(steps, max_size=12))
def test_a_deadline_never_moves_back_and_always_follows_from_its_receipt(
    match: Match, bots: list[Bot], history: list[tuple[tuple[str, object], int, int]]
) -> None:
    begin_again()
    now = START
    before = {turn.pk: turn for turn in Turn.objects.all()}
    for (act, what), passed, wrong in history:
        now += timedelta(milliseconds=passed)
        do(bots, act, what, now + timedelta(milliseconds=wrong))
        for turn in Turn.objects.filter(number=0):
            assert turn.deadline == from_receipt(turn)
            last = before[turn.pk]
            assert turn.given_back_ms >= 0
            if turn.handed_out_at == last.handed_out_at:
                assert turn.deadline >= last.deadline
                assert turn.given_back_ms >= last.given_back_ms
            else:
                assert last.handed_out_at is None
                assert turn.handed_out_at is not None
                assert turn.deadline >= min(last.deadline, turn.handed_out_at + MOVE + BANK)
            if turn.fault:
                assert turn.decided_at is not None
                assert turn.decided_at > turn.deadline
            before[turn.pk] = turn


def begin_again() -> None:
    """Put the match back to its start, without turns in play that an example has opened."""
    Turn.objects.exclude(number=0).delete()
    Turn.objects.update(
        opened_at=START,
        handed_out_at=None,
        given_back_ms=0,
        deadline=START + GRACE + MOVE + BANK,
        decided_at=None,
        fault="",
    )
    Match.objects.update(plies=0, stored=0)
    for match in Match.objects.all():
        match.live_moves.all().delete()
    Clock.objects.all().delete()
    Door.objects.all().delete()
    outages.keep(START, [Probe(door, f"http://{door}", "") for door in DOORS])


def do(bots: list[Bot], act: str, what: object, now: datetime) -> None:
    if act == "hand out" and isinstance(what, int):
        play.open_turns(bots[what], now)
    elif act == "probe":
        faults = {door: "refused" if door == what else "" for door in DOORS}
        outages.keep(now, [Probe(door, f"http://{door}", faults[door]) for door in DOORS])
    elif act == "settle":
        outages.settle(now)
    else:
        play.expire_overdue(now)


def from_receipt(turn: Turn) -> datetime:
    started = turn.opened_at + GRACE
    if turn.handed_out_at is not None:
        started = min(started, turn.handed_out_at)
    return started + MOVE + BANK + timedelta(milliseconds=turn.given_back_ms)


def test_an_outage_that_ends_while_turns_are_handed_out_is_given_back_in_full(
    match: Match, bots: list[Bot]
) -> None:
    outages.keep(START)
    play.open_turns(bots[0], second(30.2))
    outages.keep(second(30.4))
    turn = Turn.objects.get(bot=bots[0])
    assert turn.deadline >= second(30.2) + MOVE + BANK


def test_a_turn_that_opens_while_others_are_handed_out_is_handed_out_too(
    match: Match, bots: list[Bot], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another request hands out the first turn meanwhile, so that the turns are read again."""
    real = turn_statements.hand_out_values

    def overtaken(turn_ids: list[int], now: datetime) -> object:
        monkeypatch.undo()
        play.open_turns(bots[0], second(0.5))
        match_of(bots)
        return real(turn_ids, now)

    monkeypatch.setattr(turn_statements, "hand_out_values", overtaken)
    turns = play.open_turns(bots[0], second(1))
    assert len(turns) == 2
    again = play.open_turns(bots[0], second(1.5))
    assert [turn["deadline"] for turn in again] == [turn["deadline"] for turn in turns]
