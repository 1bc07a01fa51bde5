"""What is due by the clock is true by the clock: entries, late starts, missed nightly checks."""

from datetime import UTC, datetime, timedelta

import pytest
from django.core.exceptions import ValidationError
from django.test import Client
from django.utils import timezone

from league import competitions, ratings
from league.models import Bot, Door, Ladder, Schedule, Tournament
from league.setup import set_up_league
from tests.league import small

pytestmark = pytest.mark.django_db(transaction=True)

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
HOUR, MINUTE, SECOND = timedelta(hours=1), timedelta(minutes=1), timedelta(seconds=1)


class Time:
    """The time of the league: it stands still until a test moves it."""

    def __init__(self) -> None:
        self.now = NOON

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def time(monkeypatch: pytest.MonkeyPatch) -> Time:
    time = Time()
    monkeypatch.setattr("django.utils.timezone.now", time)
    assert timezone.now() == NOON
    return time


@pytest.fixture
def planned(time: Time) -> Tournament:
    """A tournament for 14:00 with entries from 13:00, and bots that may enter."""
    small.bots(4)
    return competitions.plan_tournament(
        title="Cup",
        ladder=small.ladder(),
        starts_at=NOON + 2 * HOUR,
        entries_open_at=NOON + HOUR,
        house_bots=False,
    )


def again(tournament: Tournament) -> Tournament:
    return Tournament.objects.select_related("ladder").get(pk=tournament.pk)


def run(time: Time, *, until: datetime, step: timedelta = 5 * SECOND) -> None:
    """Tick from now until a time."""
    while time.now < until:
        time.now += step
        competitions.note_open_entries(time.now)
        for tournament_id in competitions.tournaments_to_advance():
            competitions.advance_tournament(tournament_id)


def test_entries_open_and_close_by_the_clock_without_any_tick(
    planned: Tournament, time: Time
) -> None:
    bot, late = Bot.objects.order_by("pk")[:2]
    time.now = NOON + HOUR - SECOND
    assert again(planned).state == "announced"
    with pytest.raises(ValidationError, match="entries open at 2026-05-01 13:00 UTC"):
        competitions.enter(tournament=planned, bot=bot)
    time.now = NOON + HOUR
    assert again(planned).state == "open"
    assert competitions.takes_entries(again(planned))
    assert competitions.enter(tournament=planned, bot=bot).first_round == 1
    time.now = NOON + 2 * HOUR
    assert not competitions.takes_entries(again(planned))
    with pytest.raises(ValidationError, match="starts now"):
        competitions.enter(tournament=planned, bot=late)


def test_pages_and_the_api_show_open_entries_without_any_tick(
    planned: Tournament, time: Time, client: Client
) -> None:
    time.now = NOON + HOUR
    assert client.get(f"/api/v1/tournaments/{planned.pk}").json()["state"] == "open"
    assert "Entries are open." in client.get(f"/tournaments/{planned.pk}/").content.decode()
    assert "entries open" in client.get("/events/").content.decode()


def test_a_tournament_starts_on_time_if_the_league_runs(planned: Tournament, time: Time) -> None:
    time.now = NOON + HOUR - SECOND
    run(time, until=NOON + HOUR + 15 * MINUTE, step=MINUTE / 4)
    for bot in Bot.objects.all():
        competitions.enter(tournament=planned, bot=bot)
    time.now = NOON + 2 * HOUR
    run(time, until=NOON + 2 * HOUR + SECOND, step=SECOND)
    assert again(planned).state == "running"
    assert again(planned).note == ""


def test_a_tournament_that_could_not_be_entered_is_moved_and_not_cancelled(
    planned: Tournament, time: Time, client: Client
) -> None:
    time.now = NOON + 5 * HOUR  # the league comes back
    run(time, until=time.now + SECOND, step=SECOND)
    moved = again(planned)
    assert moved.state == "open"
    assert moved.starts_at - time.now == HOUR
    assert moved.note == (
        "The league was down while entries were open, so the start moved from 2026-05-01 14:00 UTC."
    )
    assert client.get(f"/api/v1/tournaments/{planned.pk}").json()["note"] == moved.note
    assert moved.note in client.get(f"/tournaments/{planned.pk}/").content.decode()
    for bot in Bot.objects.all():
        competitions.enter(tournament=planned, bot=bot)
    run(time, until=moved.starts_at + SECOND, step=MINUTE / 6)
    assert again(planned).state == "running"


def test_a_league_that_goes_down_just_after_the_opening_moves_the_start(
    planned: Tournament, time: Time
) -> None:
    time.now = NOON + HOUR - SECOND
    run(time, until=NOON + HOUR + 3 * MINUTE, step=MINUTE / 4)
    time.now = NOON + 2 * HOUR + MINUTE
    run(time, until=time.now + SECOND, step=SECOND)
    assert again(planned).state == "open"
    assert again(planned).starts_at > NOON + 3 * HOUR


def test_time_in_which_the_web_process_is_away_does_not_count_as_open(
    planned: Tournament, time: Time
) -> None:
    Door.objects.create(name="web", address="http://front", worked_until=NOON)
    time.now = NOON + HOUR - SECOND
    run(time, until=NOON + HOUR + 5 * MINUTE, step=MINUTE / 4)
    Door.objects.update(fault="no such socket")
    run(time, until=NOON + 2 * HOUR - 2 * MINUTE, step=MINUTE / 4)
    Door.objects.update(fault="")
    run(time, until=NOON + 2 * HOUR + SECOND, step=MINUTE / 4)
    assert again(planned).state == "open"
    assert again(planned).note
    run(time, until=again(planned).starts_at + SECOND, step=MINUTE / 4)
    assert again(planned).state == "cancelled"  # it was open, and no bot entered


def test_without_entrants_a_tournament_that_was_open_is_cancelled(
    planned: Tournament, time: Time
) -> None:
    time.now = NOON + HOUR - SECOND
    run(time, until=NOON + 2 * HOUR + SECOND, step=MINUTE / 4)
    assert again(planned).state == "cancelled"


@pytest.mark.parametrize("seconds", [2, 30, 300])
def test_a_short_window_that_is_open_at_once_is_not_moved(time: Time, seconds: int) -> None:
    small.bots(4)
    quick = competitions.plan_tournament(
        title="Quick", ladder=small.ladder(), starts_at=NOON + seconds * SECOND
    )
    run(time, until=NOON + (seconds + 1) * SECOND, step=SECOND)
    assert again(quick).state == "running"


@pytest.mark.parametrize("change", [False, True])
def test_an_opening_that_has_passed_is_no_outage(time: Time, change: bool) -> None:
    small.bots(4)
    opens_at = NOON + 2 * MINUTE if change else NOON - HOUR
    cup = competitions.plan_tournament(
        title="Cup",
        ladder=small.ladder(),
        starts_at=NOON + 3 * MINUTE,
        entries_open_at=opens_at,
    )
    if change:
        competitions.change_tournament(tournament=cup, entries_open_at=NOON - HOUR)
    assert again(cup).entries_open_at == NOON
    run(time, until=NOON + 3 * MINUTE + SECOND, step=SECOND)
    assert (again(cup).state, again(cup).note) == ("running", "")


def test_the_time_of_a_cancellation_that_is_taken_back_is_no_outage(time: Time) -> None:
    small.bots(4)
    cup = competitions.plan_tournament(
        title="Cup", ladder=small.ladder(), starts_at=NOON + 2 * HOUR
    )
    run(time, until=NOON + MINUTE)
    competitions.cancel_tournament(tournament=cup)
    run(time, until=NOON + HOUR, step=MINUTE)
    start = NOON + HOUR + 5 * MINUTE
    competitions.restore_tournament(tournament=cup, starts_at=start)
    run(time, until=start + SECOND)
    assert (again(cup).state, again(cup).note) == ("running", "")


def test_a_start_that_passes_while_the_league_is_down_is_skipped_by_its_schedule(
    time: Time,
) -> None:
    Schedule.objects.create(
        title="Hourly", ladder=small.ladder(), every_hours=1, first_at=NOON - 24 * HOUR
    )
    competitions.announce_scheduled()
    time.now += 5 * HOUR + 59 * MINUTE  # down from 12:00 to 17:59
    competitions.announce_scheduled()
    starts = Tournament.objects.order_by("starts_at").values_list("starts_at", flat=True)
    assert [start.hour for start in starts] == [13, 18]


def test_a_schedule_that_announces_late_gives_bots_time_to_enter(time: Time) -> None:
    """The league comes back a minute before the start: the tournament is entered after it."""
    small.bots(4)
    Schedule.objects.create(
        title="Weekly",
        ladder=small.ladder(),
        every_hours=24 * 7,
        entry_hours=2,
        first_at=NOON + 2 * HOUR,
    )
    time.now = NOON + 2 * HOUR - MINUTE
    competitions.announce_scheduled()
    late = Tournament.objects.get()
    run(time, until=late.starts_at + SECOND)
    assert again(late).state == "open"
    assert again(late).starts_at - time.now > HOUR
    competitions.announce_scheduled()
    assert Tournament.objects.count() == 1


@pytest.mark.parametrize(
    ("minutes", "first_hour"), [(35, 13), (10, 13), (9, 14), (0.5, 14)], ids=str
)
def test_a_new_league_has_no_outage_before_it_existed(
    time: Time, minutes: float, first_hour: int
) -> None:
    time.now = NOON + HOUR - minutes * MINUTE
    set_up_league()
    while time.now < NOON + 2 * HOUR + MINUTE:
        competitions.announce_scheduled()
        run(time, until=time.now + MINUTE / 4, step=MINUTE / 4)
    hourly = Tournament.objects.exclude(schedule=None).order_by("starts_at")
    first = hourly.earliest("starts_at")
    assert first.scheduled_for == NOON + (first_hour - 12) * HOUR
    begun = [each for each in hourly if each.starts_at <= time.now]
    assert begun
    assert {each.note for each in hourly} == {""}
    for each in begun:
        assert (each.state, each.starts_at) == ("running", each.scheduled_for)


def test_entries_of_a_schedule_that_is_new_open_now(time: Time) -> None:
    rule = {"ladder": small.ladder(), "every_hours": 24 * 7, "entry_hours": 72, "first_at": NOON}
    time.now += HOUR
    competitions.store_schedule(Schedule(title="Early", **rule))
    assert not Tournament.objects.exists()
    time.now = NOON + timedelta(days=6)
    late = Schedule(title="Late", **rule)
    competitions.store_schedule(late)
    tournament = Tournament.objects.get()
    assert (tournament.entries_open_at, tournament.state) == (time.now, "open")
    competitions.announce_scheduled()
    assert Tournament.objects.filter(schedule=late).count() == 1


def test_a_schedule_that_goes_on_late_waits_for_its_next_start(time: Time) -> None:
    hourly = Schedule(title="Hourly", ladder=small.ladder(), every_hours=1, first_at=NOON)
    hourly.active = False
    competitions.store_schedule(hourly)
    time.now = NOON + HOUR - MINUTE
    hourly.active = True
    competitions.store_schedule(hourly, changed=["active"])
    competitions.announce_scheduled()
    assert not Tournament.objects.exists()
    time.now = NOON + HOUR
    competitions.announce_scheduled()
    tournament = Tournament.objects.get()
    assert (tournament.entries_open_at, tournament.starts_at) == (time.now, NOON + 2 * HOUR)


def test_a_nightly_check_that_was_missed_is_made_up_for(time: Time) -> None:
    ladder = small.ladder()
    Ladder.objects.update(created_at=NOON - HOUR)
    assert ratings.take_overdue_checks(time.now) == []  # new
    assert ratings.take_checks(time.now) == [ladder.pk]
    time.now += 25 * HOUR
    assert ratings.take_overdue_checks(time.now) == []
    time.now += 2 * HOUR
    assert ratings.take_overdue_checks(time.now) == [ladder.pk]
    assert ratings.take_overdue_checks(time.now) == []  # queued once
