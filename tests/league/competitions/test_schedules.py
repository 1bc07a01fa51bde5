"""Schedules: when they announce a tournament, and the event settings that they pass on."""

import threading
from datetime import UTC, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.core.exceptions import ValidationError
from django.db import OperationalError, connection, transaction
from django.utils import timezone

from league import competitions
from league.competitions import schedules
from league.competitions.schedules import check_schedule, next_start
from league.competitions.settings_checks import MAX_SCHEDULE_TITLE
from league.models import (
    Schedule,
    Tournament,
)
from tests.league import small

pytestmark = pytest.mark.django_db(transaction=True)


def schedule(**fields: Any) -> Schedule:
    defaults = {"title": "s", "first_at": datetime(2026, 1, 1, tzinfo=UTC), "time_zone": "UTC"}
    return Schedule(**{**defaults, **fields})


def test_an_hourly_schedule_starts_at_its_next_full_step() -> None:
    every_6 = schedule(every_hours=6)
    assert next_start(every_6, datetime(2026, 1, 1, 5, tzinfo=UTC)).hour == 6
    assert next_start(every_6, datetime(2026, 1, 1, 6, tzinfo=UTC)).hour == 12
    assert next_start(every_6, datetime(2025, 1, 1, tzinfo=UTC)) == every_6.first_at


def test_a_weekly_schedule_keeps_its_local_time_when_the_clocks_change() -> None:
    london = schedule(weekday=6, time_of_day=time(18, 0), time_zone="Europe/London")
    before = next_start(london, datetime(2026, 3, 20, tzinfo=UTC))
    after = next_start(london, before)
    zone = ZoneInfo("Europe/London")
    assert [moment.astimezone(zone).hour for moment in (before, after)] == [18, 18]
    assert after - before == timedelta(days=7) - timedelta(hours=1)


def test_a_schedule_announces_its_next_tournament_once() -> None:
    Schedule.objects.create(
        title="Hourly",
        ladder=small.ladder(),
        every_hours=1,
        first_at=timezone.now() - timedelta(minutes=30),
    )
    competitions.announce_scheduled()
    competitions.announce_scheduled()
    [tournament] = Tournament.objects.all()
    assert tournament.title == "Hourly, no. 1"
    assert tournament.starts_at > timezone.now()


def test_entries_open_as_long_before_each_start_as_the_schedule_says() -> None:
    now = timezone.now()
    soon, hour = now + timedelta(minutes=30), timedelta(hours=1)
    Schedule.objects.create(
        title="Daily", ladder=small.ladder(), every_hours=24, entry_hours=48, first_at=soon
    )
    competitions.announce_scheduled()
    competitions.announce_scheduled()
    starts = Tournament.objects.order_by("starts_at").values_list("starts_at", flat=True)
    assert list(starts) == [soon, soon + 24 * hour]
    with transaction.atomic():
        schedules._announce_next(Schedule.objects.get().pk, now + hour)
    assert Tournament.objects.filter(starts_at=soon + 48 * hour).count() == 1
    assert Tournament.objects.count() == 3


def test_a_schedule_announces_no_more_than_ten_tournaments_ahead() -> None:
    soon = timezone.now() + timedelta(minutes=30)
    schedules.store_schedule(
        schedule(
            title="Hourly", ladder=small.ladder(), every_hours=1, entry_hours=720, first_at=soon
        )
    )
    for _ in range(2):
        competitions.announce_scheduled()
        assert Tournament.objects.count() == 10


def test_no_entries_of_a_new_schedule_open_before_it_is_stored() -> None:
    began = timezone.now()
    daily = schedule(
        title="Daily",
        ladder=small.ladder(),
        every_hours=24,
        entry_hours=48,
        first_at=began + timedelta(hours=10),
    )
    schedules.store_schedule(daily)
    competitions.announce_scheduled()
    opened = Tournament.objects.values_list("entries_open_at", flat=True)
    assert len(opened) == 2
    assert min(opened) >= began
    daily.entry_hours = 72
    schedules.store_schedule(daily, changed={"entry_hours"})
    competitions.announce_scheduled()
    assert len(opened.all()) == 3
    assert min(opened.all()) >= began


def test_the_longest_title_leaves_room_for_the_number() -> None:
    hourly = schedule(
        title="x" * MAX_SCHEDULE_TITLE,
        ladder=small.ladder(),
        every_hours=1,
        first_at=datetime(timezone.now().year + 1, 9, 30, 18, tzinfo=UTC),
        entry_hours=1,
    )
    check_schedule(hourly)
    hourly.save()
    starts_at = hourly.first_at
    with transaction.atomic():
        schedules._announce_next(hourly.pk, starts_at - timedelta(hours=1))
    assert Tournament.objects.get().title.endswith("x, no. 1")
    hourly.title += "x"
    with pytest.raises(ValidationError, match="at most"):
        check_schedule(hourly)


def test_a_schedule_does_not_announce_again_after_its_tournament_is_moved() -> None:
    Schedule.objects.create(
        title="Hourly",
        ladder=small.ladder(),
        every_hours=1,
        first_at=timezone.now() - timedelta(minutes=30),
    )
    competitions.announce_scheduled()
    tournament = Tournament.objects.get()
    planned = tournament.starts_at
    for moved in (planned + timedelta(minutes=20), planned):
        competitions.change_tournament(tournament=tournament, starts_at=moved)
        competitions.announce_scheduled()
        assert [one.starts_at for one in Tournament.objects.all()] == [moved]


def test_an_error_in_a_schedule_is_logged_once_and_stops_no_other_schedule(
    caplog: pytest.LogCaptureFixture,
) -> None:
    hourly = {"every_hours": 1, "first_at": timezone.now() - timedelta(minutes=30)}
    ladder = small.ladder()
    weekly = {"weekday": 1, "time_of_day": time(18, 0), "first_at": timezone.now()}
    Schedule.objects.create(title="Lost", ladder=ladder, time_zone="Europe/Illyria", **weekly)
    Schedule.objects.create(title="Hourly", ladder=ladder, **hourly)
    for _ in range(3):
        competitions.announce_scheduled()
    assert Tournament.objects.count() == 1
    [line] = caplog.records
    assert "can't be announced" in line.getMessage()


def test_parallel_ticks_announce_each_schedule_once_without_errors(
    caplog: pytest.LogCaptureFixture,
) -> None:
    for number in range(3):
        Schedule.objects.create(
            title=f"Hourly {number}",
            ladder=small.ladder(f"ladder-{number}"),
            every_hours=1,
            first_at=timezone.now() - timedelta(minutes=30),
        )
    start = threading.Barrier(4)

    def announce() -> None:
        try:
            start.wait()
            competitions.announce_scheduled()
        finally:
            connection.close()

    threads = [threading.Thread(target=announce) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert Tournament.objects.count() == 3
    assert not [line for line in caplog.records if line.levelname == "ERROR"]


def test_an_announcement_lets_others_store_tournaments_of_its_schedule() -> None:
    # `advance_tournament` does so while it holds the ladder, for which an announcement waits.
    stored = Schedule.objects.create(
        title="s",
        ladder=small.ladder(),
        every_hours=1,
        first_at=timezone.now() - timedelta(minutes=30),
    )
    refused: list[OperationalError] = []

    def refer() -> None:
        try:
            with transaction.atomic(), connection.cursor() as cursor:
                cursor.execute(
                    "SELECT 1 FROM league_schedule WHERE id = %s FOR KEY SHARE NOWAIT", [stored.pk]
                )
        except OperationalError as error:
            refused.append(error)
        finally:
            connection.close()

    with transaction.atomic():
        schedules._announce_next(stored.pk, timezone.now())
        other = threading.Thread(target=refer)
        other.start()
        other.join()
    assert not refused


def test_an_unknown_time_zone_stops_no_other_schedule(caplog: pytest.LogCaptureFixture) -> None:
    for zone in ("Mars/Olympus", "Europe/London"):
        Schedule.objects.create(
            title=zone,
            ladder=small.ladder(zone.lower().replace("/", "-")),
            weekday=2,
            time_of_day=time(18, 0),
            time_zone=zone,
            entry_hours=24 * 8,
            first_at=timezone.now() - timedelta(days=30),
        )
    competitions.announce_scheduled()
    [tournament] = Tournament.objects.all()
    assert tournament.title.startswith("Europe/London")
    assert "can't be announced" in caplog.text


def test_a_schedule_passes_its_event_settings_on() -> None:
    Schedule.objects.create(
        title="Cup",
        ladder=small.ladder(),
        every_hours=1,
        first_at=timezone.now() - timedelta(minutes=30),
        format="swiss",
        swiss_rounds=4,
        blocks_per_table=1,
        house_bots=False,
        fill_in=True,
        late_entry=True,
    )
    competitions.announce_scheduled()
    made = Tournament.objects.get()
    assert (made.format, made.swiss_rounds, made.blocks) == ("swiss", 4, 1)
    assert (made.house_bots, made.fill_in, made.late_entry) == (False, True, True)


@pytest.mark.parametrize(
    ("field", "event_settings"),
    [
        ("late_entry", {"format": "knockout", "late_entry": True}),
        ("swiss_rounds", {"format": "knockout", "swiss_rounds": 3}),
        ("swiss_rounds", {"swiss_rounds": 3}),
        ("fill_in", {"fill_in": True}),
    ],
)
def test_contradictory_event_settings_are_refused_by_field(
    field: str, event_settings: dict[str, Any]
) -> None:
    with pytest.raises(ValidationError) as refused:
        small.tournament(small.ladder(), **event_settings)
    assert list(refused.value.message_dict) == [field]
    assert not Tournament.objects.exists()
