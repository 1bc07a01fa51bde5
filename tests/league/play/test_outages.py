"""Time that the clock or a door lost is given back to open turns, and deadlines never move back."""

from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta

import pytest
from django.db import connection

from league import play
from league.models import Bot, Clock, Door, Match, Turn
from league.play import outages, owner_reports, turn_statements
from league.play.outages import Probe
from league.play.statements import Rows
from league.play.turns import as_text
from tests import logs
from tests.league.play.live import START, answer, choose, first_turn, match_of, play_on, second

pytestmark = pytest.mark.django_db(transaction=True)

NIGHT = 8 * 3600.0
WORKS = Probe("play", "http://league.example/healthz/play", "")
FAILS = WORKS._replace(fault="connection refused")


@pytest.fixture
def match(bots: list[Bot]) -> Match:
    outages.keep(START)
    return match_of(bots)


def tick(now: float, *probes: Probe) -> int:
    """Run the clock once; return the number of turns in which it played."""
    outages.keep(second(now), probes)
    return play.expire_overdue(second(now))


def run_clock(start: float, end: float, *probes: Probe) -> int:
    """Run the clock every half second; return the number of turns in which it played."""
    return sum(tick(start + step / 2, *probes) for step in range(round((end - start) * 2) + 1))


def test_a_night_without_the_league_causes_no_timeout(match: Match, bots: list[Bot]) -> None:
    assert run_clock(0, 2) == 0
    assert tick(2 + NIGHT) == 0
    assert run_clock(2.5 + NIGHT, 4.5 + NIGHT) == 0
    [turn] = play.open_turns(bots[0], second(4.5 + NIGHT))
    assert 0 < turn["remaining_ms"] <= 1000
    assert run_clock(5 + NIGHT, 6 + NIGHT) == 3, "an unfetched turn has 5 s, 2 s were before"
    assert {turn.fault for turn in Turn.objects.filter(number=0)} == {"timeout"}


def test_a_year_without_the_league_is_given_back_like_a_night(
    match: Match, bots: list[Bot]
) -> None:
    play.open_turns(bots[0], second(0.5))
    assert tick(1) == 0
    assert tick(1 + 365 * 3 * NIGHT) == 0
    assert tick(2 * 365 * 3 * NIGHT) == 0
    [turn] = play.open_turns(bots[0], second(2 * 365 * 3 * NIGHT))
    assert turn["remaining_ms"] >= 2500
    assert play.open_turns(bots[1], second(2 * 365 * 3 * NIGHT))


def test_an_outage_uses_up_no_bank(match: Match, bots: list[Bot]) -> None:
    for bot in bots:
        play.open_turns(bot, second(0.2))
    tick(1)
    tick(1 + NIGHT)
    play_on(bots, second(1 + NIGHT), until=lambda: Turn.objects.filter(number=1).count() == 3)
    banks = Turn.objects.filter(number=1).values_list("bank_ms", flat=True)
    assert list(banks) == [2000] * 3


def test_a_move_before_the_first_tick_after_an_outage_is_in_time(
    match: Match, bots: list[Bot]
) -> None:
    [turn] = play.open_turns(bots[0], second(0.2))
    now = second(NIGHT)
    verdict = answer(bots[0], turn, now, choose(turn["observation"]))
    assert verdict.remaining_ms > 2000
    assert Turn.objects.get(bot=bots[0], number=0).fault == ""


def test_a_turn_fetched_before_the_first_tick_after_an_outage_has_its_time(
    match: Match, bots: list[Bot]
) -> None:
    [turn] = play.open_turns(bots[0], second(NIGHT))
    assert turn["remaining_ms"] >= 3000


def test_a_turn_that_was_overdue_before_an_outage_stays_overdue(
    match: Match, bots: list[Bot]
) -> None:
    play.open_turns(bots[0], START)
    for at in range(1, 8):
        outages.keep(second(at / 2))
    assert tick(3.5 + NIGHT) == 1


def test_a_turn_that_opened_in_an_outage_gets_back_only_the_rest_of_it(
    match: Match, bots: list[Bot]
) -> None:
    for bot in bots:
        answer(bot, play.open_turns(bot, second(1))[0], second(1))
    opened = Turn.objects.filter(number=1)
    opened.update(opened_at=second(100), deadline=second(105))
    assert tick(103) == 0
    assert set(opened.values_list("deadline", flat=True)) == {second(108)}


def test_a_clock_that_is_slow_by_a_second_moves_no_deadline(match: Match) -> None:
    before = set(Turn.objects.values_list("deadline", flat=True))
    outages.keep(START + outages.MAX_GAP)
    assert not outages.settle(START + 2 * outages.MAX_GAP)
    assert set(Turn.objects.values_list("deadline", flat=True)) == before
    outages.keep(START + 2 * outages.MAX_GAP + timedelta(milliseconds=1))
    assert min(Turn.objects.values_list("deadline", flat=True)) > max(before)


def test_processes_that_run_at_once_after_an_outage_give_its_time_back_once(match: Match) -> None:
    before = deadline_of(Turn.objects.earliest("pk"))

    def come(number: int) -> None:
        try:
            (outages.keep if number % 2 else outages.settle)(second(NIGHT))
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(come, range(24)))
    moved = deadline_of(Turn.objects.earliest("pk")) - before
    assert NIGHT - 1 <= moved.total_seconds() <= NIGHT
    assert Clock.objects.get().ran_until == second(NIGHT)


def test_the_time_before_the_first_tick_ever_is_no_outage(bots: list[Bot]) -> None:
    match_of(bots)
    before = set(Turn.objects.values_list("deadline", flat=True))
    outages.keep(second(NIGHT))
    assert set(Turn.objects.values_list("deadline", flat=True)) == before


# -- Deadlines never move back ----------------------------------------------------------------


def deadline_of(turn: Turn) -> datetime:
    turn.refresh_from_db()
    return turn.deadline


def test_a_turn_handed_out_after_the_clock_read_the_time_keeps_its_deadline(
    match: Match, bots: list[Bot]
) -> None:
    [turn] = play.open_turns(bots[0], second(3.4))
    row = Turn.objects.get(bot=bots[0])
    before = row.deadline
    outages.keep(second(3))
    assert deadline_of(row) >= before
    assert play.open_turns(bots[0], second(3.4))[0]["deadline"] >= turn["deadline"]


def test_a_request_whose_process_has_a_slow_clock_starts_no_turn_before_it_opened(
    match: Match, bots: list[Bot]
) -> None:
    [turn] = play.open_turns(bots[0], second(-5))
    row = Turn.objects.get(bot=bots[0])
    assert row.handed_out_at == row.opened_at
    assert turn["remaining_ms"] >= 3000


def test_the_answer_that_hands_a_turn_out_shows_the_deadline_that_is_stored(
    match: Match, bots: list[Bot], monkeypatch: pytest.MonkeyPatch
) -> None:
    real = turn_statements.open_turns

    def read_before_an_outage(rows: Rows) -> object:
        monkeypatch.undo()
        outages.keep(second(60))
        return real(rows)

    monkeypatch.setattr(turn_statements, "open_turns", read_before_an_outage)
    [turn] = play.open_turns(bots[0], second(61))
    stored = Turn.objects.get(bot=bots[0])
    assert turn["deadline"] == as_text(stored.deadline)
    assert turn["remaining_ms"] == 3000


def test_a_turn_that_two_requests_hand_out_has_one_deadline_in_both_answers(
    match: Match, bots: list[Bot], monkeypatch: pytest.MonkeyPatch
) -> None:
    real, first = turn_statements.hand_out_values, []

    def overtaken(turn_ids: list[int], now: datetime) -> object:
        monkeypatch.undo()
        first.extend(play.open_turns(bots[0], second(0.5)))
        return real(turn_ids, now)

    monkeypatch.setattr(turn_statements, "hand_out_values", overtaken)
    [turn] = play.open_turns(bots[0], second(1))
    assert turn["deadline"] == first[0]["deadline"]


def test_no_turn_expires_while_its_time_is_being_given_back(
    match: Match, bots: list[Bot], monkeypatch: pytest.MonkeyPatch
) -> None:
    """An outage ends between the decision that a turn is overdue and its write."""
    play.open_turns(bots[0], START)
    run_clock(0.5, 2.5)
    real = outages.hold

    def give_back() -> Clock | None:
        Turn.objects.open().update(deadline=second(60))
        return real()

    monkeypatch.setattr(outages, "hold", give_back)
    outages.keep(second(3.2))
    assert play.expire_overdue(second(3.2)) == 0
    assert Turn.objects.open().count() == 3


# -- Doors --------------------------------------------------------------------------------------


def test_a_bot_that_no_door_lets_in_does_not_run_out_of_time(match: Match, bots: list[Bot]) -> None:
    turn = first_turn(bots[0], second(0.2))
    assert run_clock(0, 1, WORKS) == 0
    assert run_clock(1.5, 40, FAILS) == 0
    assert run_clock(40.5, 42, WORKS) == 0
    assert answer(bots[0], turn, second(42)).remaining_ms > 0
    row = Turn.objects.get(bot=bots[0], number=0)
    from_success_to_success, waiting = 39_500, 300
    assert row.given_back_ms == from_success_to_success + waiting


def test_a_turn_waits_for_the_next_probe_even_if_its_deadline_passes_before_a_probe_failed(
    match: Match, bots: list[Bot]
) -> None:
    play.open_turns(bots[0], START)
    run_clock(0, 2.8, WORKS)
    assert play.expire_overdue(second(3.1)) == 0
    assert tick(3.2, FAILS) == 0
    assert tick(3.6, WORKS) == 0, "a failed probe is an outage, however short"
    assert Turn.objects.get(bot=bots[0]).given_back_ms > 0


def test_after_an_outage_a_turn_has_the_time_for_which_a_refused_bot_waits(
    match: Match, bots: list[Bot]
) -> None:
    play.open_turns(bots[0], START)
    run_clock(0, 2.5, WORKS)
    tick(3, FAILS)
    tick(3.5, WORKS)
    assert Turn.objects.get(bot=bots[0]).deadline == second(3.5) + outages.MIN_LEFT


def test_a_move_that_arrives_before_the_next_probe_is_in_time(
    match: Match, bots: list[Bot]
) -> None:
    turn = first_turn(bots[0], START)
    run_clock(0, 1, WORKS)
    run_clock(1.5, 9, FAILS)
    assert answer(bots[0], turn, second(9.2)).remaining_ms > 0


def test_bots_that_call_in_an_outage_move_deadlines_once_in_a_while(
    match: Match, bots: list[Bot], monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many bots call: each move of deadlines writes every open turn."""
    moves: list[datetime] = []
    real = outages._catch_up

    def catch_up(clock: Clock, now: datetime, probing: timedelta = timedelta(0)) -> int | None:
        moves.append(now)
        return real(clock, now, probing)

    monkeypatch.setattr(outages, "_catch_up", catch_up)
    for bot in bots:
        play.open_turns(bot, START)
    tick(0.5, WORKS)
    tick(1, FAILS)
    moves.clear()
    for at in range(100):
        for bot in bots:
            assert play.open_turns(bot, second(1 + at * 0.137))[0]["remaining_ms"] > 0
    assert 1 <= len(moves) <= 7, "one for the 2.5 s that each turn has left after it"


def test_a_door_that_never_worked_stops_no_clock(match: Match, bots: list[Bot]) -> None:
    play.open_turns(bots[0], START)
    run_clock(0, 3, FAILS)
    assert tick(3.5, FAILS) == 1
    assert not Door.objects.exists()


def test_a_door_with_a_new_address_counts_once_it_has_worked(match: Match) -> None:
    tick(0.5, WORKS)
    elsewhere = FAILS._replace(address="http://wrong.example/healthz/play")
    tick(1, elsewhere)
    assert not Door.objects.exists()
    assert not Clock.objects.get().is_broken


def test_two_doors_that_fail_together_give_the_time_back_once(
    match: Match, bots: list[Bot]
) -> None:
    play.open_turns(bots[0], START)
    other, also = WORKS._replace(door="other"), FAILS._replace(door="other")
    tick(0.5, WORKS, other)
    tick(1, FAILS, other)
    tick(2, FAILS, also)
    tick(3, WORKS, also)
    tick(4, WORKS, other)
    assert Turn.objects.get(bot=bots[0]).given_back_ms == 3500
    assert {door.worked_until for door in Door.objects.all()} == {second(4)}


def test_turns_do_not_wait_for_the_door_of_the_web_process(match: Match, bots: list[Bot]) -> None:
    play.open_turns(bots[0], START)
    tick(0.5, WORKS, WORKS._replace(door="web"))
    with logs.captured() as events:
        run_clock(1, 3, WORKS, FAILS._replace(door="web"))
    assert events == []
    assert not outages.web_works()
    assert tick(3.5, WORKS, FAILS._replace(door="web")) == 1
    assert Turn.objects.get(bot=bots[0], number=0).given_back_ms == 0
    tick(4, WORKS, WORKS._replace(door="web"))
    assert outages.web_works()


def test_an_outage_of_a_door_is_one_line_at_its_begin_and_one_at_its_end(match: Match) -> None:
    tick(0.5, WORKS)
    with logs.captured() as events:
        run_clock(1, 9, FAILS)
        run_clock(9.5, 12, WORKS)
    assert [event["event"] for event in events] == [
        "calls of bots fail; open deadlines wait",
        "the league took no moves for a time; open deadlines moved",
    ]
    assert events[0]["faults"] == {"play": "connection refused"}
    assert events[1]["seconds"] == 9.0


def test_a_late_pass_is_logged_only_if_it_gave_somebody_time_back(bots: list[Bot]) -> None:
    outages.keep(START)
    with logs.captured() as events:
        outages.keep(second(30))
    assert not events
    match_of(bots)
    play.open_turns(bots[0], second(31))
    with logs.captured() as events:
        outages.keep(second(60))
    assert [event["open_turns"] for event in events] == [3]


def test_without_an_open_turn_the_clock_needs_no_probes(bots: list[Bot]) -> None:
    outages.keep(START)
    assert outages.keep_idle(second(0.5))
    assert Clock.objects.get().ran_until == second(0.5)
    match_of(bots)
    assert not outages.keep_idle(second(1))
    assert Clock.objects.get().ran_until == second(0.5)


# -- Receipts -------------------------------------------------------------------------------------


def test_each_deadline_can_be_computed_from_its_receipt(match: Match, bots: list[Bot]) -> None:
    play.open_turns(bots[0], second(0.25))
    run_clock(0, 1, WORKS)
    run_clock(1.5, 20, FAILS)
    run_clock(20.5, 21, WORKS)
    play.open_turns(bots[1], second(21))
    tick(80, WORKS)
    assert bots[0].owner is not None
    for report in owner_reports.owner_report(match, bots[0].owner):
        assert len(report["turns"]) == 1
        for receipt in report["turns"]:
            assert recomputed(receipt) == datetime.fromisoformat(receipt["deadline"])
    assert all(turn.given_back_ms > 0 for turn in Turn.objects.filter(number=0))


def recomputed(receipt: dict[str, object]) -> datetime:
    """Return a deadline from a receipt alone, as the owner of a bot may do."""
    started = datetime.fromisoformat(str(receipt["opened_at"])) + timedelta(seconds=2)
    if receipt["handed_out_at"]:
        started = min(started, datetime.fromisoformat(str(receipt["handed_out_at"])))
    milliseconds = sum(int(str(receipt[name])) for name in ("bank_ms", "given_back_ms"))
    seconds = float(str(receipt["move_seconds"]))
    return started + timedelta(seconds=seconds, milliseconds=milliseconds)
