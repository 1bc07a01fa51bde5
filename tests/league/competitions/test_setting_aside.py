"""One bad row is set aside with an alarm; the tick goes on with all the others."""

from collections.abc import Callable
from datetime import timedelta
from types import SimpleNamespace

import pytest
from django.contrib.auth.models import Group, User
from django.db import IntegrityError, OperationalError, connection, transaction
from django.test import Client
from django.utils import timezone

from league import competitions, health, heartbeats, play, ratings, tasks
from league.accounts import ORGANISERS
from league.competitions import ladder_rounds, tournament_rounds
from league.models import Ladder, Match, Round, Schedule, Standing, Tournament
from tests.league import small

pytestmark = pytest.mark.django_db(transaction=True)


def sql(statement: str, *values: int | None) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)


@pytest.fixture
def queue(monkeypatch: pytest.MonkeyPatch) -> None:
    """Queue nothing: `tick` plays what is due."""
    quiet = SimpleNamespace(**{**vars(play), "claim_due_hosted": list})
    monkeypatch.setattr(tasks, "play", quiet)
    for task in (tasks.fit_performance, tasks.check_ladder, tasks.check_version):
        monkeypatch.setattr(task, "delay", lambda pk: None)
    monkeypatch.setattr(tasks, "_has_room", lambda queue: True)


@pytest.fixture
def two(queue: None) -> tuple[Ladder, Ladder]:
    """Two ladders with the same four bots: the first one breaks, the second one is good."""
    bots = small.bots(4)
    ladders = small.ladder("bad"), small.ladder("good")
    for ladder in ladders:
        for bot in bots:
            competitions.enter_ladder(ladder=ladder, bot=bot)
    return ladders


def tick(times: int = 1) -> None:
    for _ in range(times):
        small.play_due()
        tasks.upkeep()
        tasks.tick()


def reasons() -> dict[str, str]:
    return {aside.subject: aside.reason for aside in competitions.rows_aside()}


@pytest.mark.parametrize(
    ("field", "value", "named"),
    [
        ("game", "'chess'", "chess"),
        ("rules", "'no-such'", "no-such"),
        ("seats", "9", "9"),
        ("k_schedule", """'{"k": 5}'""", "'k'"),
        ("k_schedule", """'{"steps": [[10, -5]]}'""", "-5"),
        ("k_schedule", """'[]'""", "[]"),
        ("title", "''", "title"),
    ],
)
def test_a_bad_ladder_has_an_alarm_until_it_is_repaired(field: str, value: str, named: str) -> None:
    bad = small.ladder("bad")
    small.ladder("good")
    sql(f"UPDATE league_ladder SET {field} = {value} WHERE slug = 'bad'")
    competitions.check_stored(timezone.now())
    assert named in reasons()["ladder bad"]
    assert list(health.find_alarms()) == ["ladder bad"]
    assert named in health.find_alarms()["ladder bad"]
    Ladder.objects.filter(pk=bad.pk).update(**{field: getattr(bad, field)})
    competitions.check_stored(timezone.now())
    assert reasons() == {}


def test_a_bad_ladder_is_left_out_and_the_rest_goes_on(two: tuple[Ladder, Ladder]) -> None:
    bad, good = two
    tournament, stopped = small.tournament(good), small.tournament(bad)
    sql("UPDATE league_ladder SET game = 'chess' WHERE slug = 'bad'")
    tick(5)
    tournament.refresh_from_db()
    stopped.refresh_from_db()
    assert (tournament.state, stopped.state) == ("finished", "open")
    assert good.rounds.drawn_by_ladder().applied().exists()
    assert not bad.rounds.exists()
    sql("UPDATE league_ladder SET game = 'twelve-days' WHERE slug = 'bad'")
    tick(2)
    stopped.refresh_from_db()
    assert stopped.state in ("running", "finished")


def test_a_ladder_that_breaks_while_its_round_is_open_is_closed_after_the_repair(
    two: tuple[Ladder, Ladder],
) -> None:
    bad, good = two
    opened = competitions.open_ladder_round(bad.pk)
    assert opened is not None
    sql("UPDATE league_ladder SET game = 'chess' WHERE slug = 'bad'")
    tick(3)
    assert not bad.rounds.applied().exists()
    assert good.rounds.applied().exists()
    sql("UPDATE league_ladder SET game = 'twelve-days' WHERE slug = 'bad'")
    tick(2)
    opened.refresh_from_db()
    assert opened.applied_at is not None
    assert ratings.recompute(bad) == []


@pytest.mark.parametrize(
    "change",
    [
        "seats = 0",
        "seats = 99",
        "move_seconds = -5",
        "move_seconds = 'inf'",
        "move_seconds = 'nan'",
        "bank_seconds = 1e300",
        "bank_seconds = '-infinity'",
        "round_pause_seconds = 'nan'",
        "random_percent = 101",
        "idle_days = 0",
        "max_blocks_per_round = 5",
    ],
)
def test_the_database_refuses_numbers_out_of_range(change: str) -> None:
    small.ladder()
    with pytest.raises(IntegrityError), transaction.atomic():
        sql(f"UPDATE league_ladder SET {change}")


@pytest.mark.parametrize(
    "change",
    [
        "format = 'league'",
        "swiss_rounds = 0",
        "max_tables = 0",
        "extra_blocks = 99",
        "starts_at = 'infinity'",
    ],
)
def test_the_database_refuses_tournaments_that_cannot_be_read_or_played(change: str) -> None:
    small.tournament(small.ladder())
    with pytest.raises(IntegrityError), transaction.atomic():
        sql(f"UPDATE league_tournament SET {change}")


@pytest.mark.parametrize(
    "change",
    ["every_hours = 0", "entry_hours = 0", "weekday = 7", "first_at = '-infinity'"],
)
def test_the_database_refuses_schedules_that_never_start(change: str) -> None:
    Schedule.objects.create(
        title="Hourly", ladder=small.ladder(), every_hours=1, first_at=timezone.now()
    )
    with pytest.raises(IntegrityError), transaction.atomic():
        sql(f"UPDATE league_schedule SET {change}")


BAD_TOURNAMENTS = {
    "swiss_rounds = 3": "swiss",
    "seed = 'x'": "seed",
    "entries_open_at = starts_at + interval '1 day'": "after the start",
}


def test_bad_tournaments_are_set_aside_and_the_others_go_on(two: tuple[Ladder, Ladder]) -> None:
    ladder, _ = two
    named = {}
    for change, name in BAD_TOURNAMENTS.items():
        bad = small.tournament(ladder)
        sql(f"UPDATE league_tournament SET {change} WHERE id = %s", bad.pk)
        named[f"tournament {bad.pk}"] = name
    good = small.tournament(ladder)
    tick(4)
    good.refresh_from_db()
    assert good.state == "finished"
    assert not Round.objects.exclude(tournament=None).exclude(tournament=good).exists()
    found = reasons()
    assert found.keys() == named.keys()
    assert all(name in found[subject].lower() for subject, name in named.items())


def test_a_bad_schedule_is_set_aside_and_the_others_announce(two: tuple[Ladder, Ladder]) -> None:
    hourly = {"every_hours": 1, "first_at": timezone.now() - timedelta(minutes=30)}
    bad = Schedule.objects.create(title="Bad", ladder=two[0], **hourly)
    Schedule.objects.create(title="Good", ladder=two[1], **hourly)
    sql("UPDATE league_schedule SET time_zone = 'Mars/Olympus' WHERE id = %s", bad.pk)
    tick()
    assert [one.title.split(",")[0] for one in Tournament.objects.all()] == ["Good"]
    assert "Mars/Olympus" in reasons()[f"schedule {bad.pk}"]
    sql("UPDATE league_schedule SET time_zone = 'UTC' WHERE id = %s", bad.pk)
    tick()
    assert Tournament.objects.count() == 2
    assert reasons() == {}


def fail_for(
    monkeypatch: pytest.MonkeyPatch, module: object, name: str, error: Exception, bad: object
) -> None:
    right: Callable[..., object] = getattr(module, name)

    def failing(first: object, *rest: object, **more: object) -> object:
        if first == bad:
            raise error
        return right(first, *rest, **more)

    monkeypatch.setattr(module, name, failing)


def test_a_step_that_fails_sets_its_row_aside_for_a_minute(
    two: tuple[Ladder, Ladder], monkeypatch: pytest.MonkeyPatch
) -> None:
    bad, good = two
    with monkeypatch.context() as broken:
        fail_for(broken, ladder_rounds, "_entrants", ArithmeticError("a defect"), bad)
        tick(4)
        assert good.rounds.applied().exists()
        assert reasons() == {
            "ladder bad": "The league failed to work on it: ArithmeticError: a defect"
        }
    tick()
    assert not bad.rounds.exists()  # not tried again yet
    Ladder.objects.filter(slug="bad").update(retry_at=timezone.now() - timedelta(seconds=1))
    tick(2)
    assert bad.rounds.exists()
    assert reasons() == {}


def test_a_tournament_whose_draw_fails_stops_no_other(
    two: tuple[Ladder, Ladder], monkeypatch: pytest.MonkeyPatch
) -> None:
    bad, good = small.tournament(two[0]), small.tournament(two[1])
    fail_for(monkeypatch, tournament_rounds, "_draw", KeyError(7), bad)
    tick(4)
    good.refresh_from_db()
    assert good.state == "finished"
    assert reasons() == {f"tournament {bad.pk}": "The league failed to work on it: KeyError: 7"}


def test_a_round_that_cannot_be_applied_stops_no_other_round(
    two: tuple[Ladder, Ladder],
) -> None:
    ladder, _ = two
    first = competitions.open_ladder_round(ladder.pk)
    assert first is not None
    small.play_due()
    match = Match.objects.order_by("pk").first()
    assert match is not None
    sql("UPDATE league_match SET packed_record = 'x' WHERE id = %s", match.pk)
    tick(3)
    assert ladder.rounds.applied().exists()
    assert Round.objects.get(pk=first.pk).applied_at is None
    assert f"match {match.pk}" in reasons()["round 1 of bad"]
    assert ratings.recompute(ladder) == []


def test_a_fault_of_the_database_sets_nothing_aside(
    two: tuple[Ladder, Ladder], monkeypatch: pytest.MonkeyPatch
) -> None:
    fail_for(monkeypatch, ladder_rounds, "_entrants", OperationalError("gone"), two[0])
    tick()
    assert reasons() == {}


@pytest.mark.parametrize(
    "broken",
    [
        (ratings, "rounds_to_apply"),
        (competitions, "check_stored"),
        (competitions, "tournaments_to_advance"),
        (competitions, "announce_scheduled"),
        (competitions, "note_open_entries"),
        (ratings, "ladders_to_hide_on"),
        (ratings, "ladders_to_correct"),
    ],
)
def test_a_part_of_the_tick_that_fails_stops_no_other_part(
    two: tuple[Ladder, Ladder], broken: tuple[object, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*args: object) -> None:
        raise ArithmeticError("a defect")

    monkeypatch.setattr(broken[0], broken[1], fail)
    noted: list[bool] = []
    monkeypatch.setattr(heartbeats, "note_tick", lambda: noted.append(True))
    tasks.upkeep()
    tasks.tick()
    assert two[1].rounds.exists()
    assert noted == [True]


def test_a_bot_with_the_version_of_another_bot_is_not_drawn_and_the_others_are() -> None:
    ladder, bots = small.ladder(), small.bots(4)
    for bot in bots:
        competitions.enter_ladder(ladder=ladder, bot=bot)
    sql("UPDATE league_bot SET current_id = %s WHERE id = %s", bots[1].current_id, bots[0].pk)
    opened = competitions.open_ladder_round(ladder.pk)
    assert opened is not None
    drawn = set(opened.blocks.values_list("bots__bot", flat=True))
    assert drawn == {bot.pk for bot in bots[1:]}


def test_the_database_refuses_a_bot_of_no_kind() -> None:
    small.bots(1)
    with pytest.raises(IntegrityError), transaction.atomic():
        sql("UPDATE league_bot SET kind = 'robot'")


def test_organisers_see_on_the_ladders_page_what_is_set_aside(client: Client) -> None:
    tournament = small.tournament(small.ladder())
    sql("UPDATE league_tournament SET swiss_rounds = 3")
    competitions.check_stored(timezone.now())
    assert "set aside" not in shown(client, "/ladders/quick/")
    user = User.objects.create_user("olga")
    user.groups.add(Group.objects.get_or_create(name=ORGANISERS)[0])
    client.force_login(user)
    page = shown(client, "/ladders/quick/")
    assert "set aside" in page
    assert f"tournament {tournament.pk}" in page
    assert "Only a Swiss has this setting" in page


def test_pages_and_api_show_a_ladder_that_is_set_aside(client: Client) -> None:
    tournament = small.tournament(small.ladder())
    bot = small.bots(1)[0]
    sql("UPDATE league_ladder SET game = 'chess', k_schedule = '{\"k\": 1}'")
    competitions.check_stored(timezone.now())
    for path in ("/", "/events/", f"/tournaments/{tournament.pk}/", f"/bots/{bot.name}/"):
        shown(client, path)
    assert "set aside" in shown(client, "/ladders/quick/")
    assert client.get("/api/v1/ladders/quick").json()["set_aside"] is True
    assert client.get(f"/api/v1/tournaments/{tournament.pk}").json()["set_aside"] is False
    assert client.get(f"/api/v1/tournaments/{tournament.pk}/standings").status_code == 200


def test_no_next_round_is_promised_on_a_ladder_that_is_set_aside(
    two: tuple[Ladder, Ladder],
) -> None:
    for ladder in two:
        competitions.open_ladder_round(ladder.pk)
    small.run_all()
    sql("UPDATE league_ladder SET k_schedule = '{\"k\": 1}' WHERE slug = 'bad'")
    competitions.check_stored(timezone.now())
    bad, good = (
        Standing.objects.select_related("ladder").filter(ladder=ladder).latest("pk")
        for ladder in two
    )
    assert "next block" in competitions.describe_next_block(good)
    assert competitions.describe_next_block(bad) == (
        "An error keeps this ladder from playing new matches. Its page shows organisers the reason."
    )


def shown(client: Client, path: str) -> str:
    page = client.get(path)
    assert page.status_code == 200
    return page.content.decode()
