"""The nightly check: what differs from the records is frozen on display, with an alarm."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from io import StringIO
from typing import Any

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client

from league import health, heartbeats, play, ratings, tasks
from league.models import Block, FrozenStanding, Ladder, Match, MatchSeat, Standing
from league.ratings import DamagedError, recomputing
from league.ratings.recomputing import OvertakenError
from tests import logs
from tests.league import small
from tests.league.kept import kept

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
@kept
def ladder() -> Ladder:
    ladder = small.ladder()
    small.bots(4)
    play_tournament(ladder)
    return ladder


def play_tournament(ladder: Ladder) -> None:
    small.tournament(ladder)
    small.run_all()


def falsify(ladder: Ladder) -> Standing:
    """Give a bot a thousandth of a point."""
    row = ladder.standings.select_related("bot").order_by("rating").first()
    assert row is not None
    Standing.objects.filter(pk=row.pk).update(rating=row.rating + 1)
    row.refresh_from_db()
    return row


def page(client: Client, path: str) -> str:
    response = client.get(path)
    assert response.status_code == 200
    return response.content.decode()


def test_a_check_without_differences_stores_its_time_and_round(
    client: Client, ladder: Ladder
) -> None:
    assert ratings.check_ladder(ladder.pk).differences == []
    ladder.refresh_from_db()
    assert ladder.checked_rounds == ladder.rounds.count()
    assert not ladder.alarm
    assert f"no rating differs in {ladder.checked_rounds} rating rounds" in page(
        client, "/ladders/quick/?view=statistics"
    )
    assert "alarms" not in client.get("/readyz").json()


def test_an_alarm_freezes_the_shown_standings_while_play_goes_on(
    client: Client, ladder: Ladder, caplog: pytest.LogCaptureFixture
) -> None:
    heartbeats.note_tick()
    heartbeats.note_worker(health.QUEUES)
    for part in ("beat", "gateway", "deadlines"):
        heartbeats.note_part(part)
    row = falsify(ladder)
    loser = ladder.standings.exclude(bot=row.bot).first()  # so that the sum is right
    Standing.objects.filter(pk=loser.pk).update(rating=loser.rating - 1)
    ratings.check_ladder(ladder.pk)
    ladder.refresh_from_db()
    text = f"{row.bot.name}, rating: stored {row.rating}, recomputed {row.rating - 1}"
    assert text in ladder.alarm
    [error] = [record for record in caplog.records if record.levelname == "ERROR"]
    assert text in error.getMessage()
    ready = client.get("/readyz")
    assert ready.status_code == 200
    assert text in ready.json()["alarms"]["ladder quick"]
    frozen = page(client, "/ladders/quick/")
    assert "These standings are frozen" in frozen
    assert text in frozen

    def shown() -> list[object]:
        rows = client.get("/api/v1/ladders/quick/standings").json()["results"]
        return [(r["bot"], r["rank"], r["rating"], r["matches"], r["trend"]) for r in rows]

    before, rounds = shown(), ladder.rounds.count()
    live = dict(ladder.standings.values_list("bot", "rating"))
    play_tournament(ladder)
    assert ladder.rounds.count() > rounds
    assert dict(ladder.standings.values_list("bot", "rating")) != live
    assert shown() == before
    of_bot = page(client, f"/bots/{row.bot.name}/statistics/")
    assert "standings of this ladder are frozen" in of_bot
    assert f"/ladders/quick/rounds/{rounds}/" in of_bot
    assert f"/ladders/quick/rounds/{rounds + 1}/" not in of_bot
    assert "<strong>not frozen</strong>" in of_bot
    assert "<strong>not frozen</strong>" in page(client, "/ladders/quick/?view=statistics")
    assert page(client, "/").count(row.bot.name)
    assert client.get("/ladders/quick/?q=bot").status_code == 200


def test_a_repair_writes_what_the_records_give_and_lifts_the_alarm(
    client: Client, ladder: Ladder
) -> None:
    row = falsify(ladder)
    with pytest.raises(CommandError, match="differ from the recomputed ones: 1"):
        call_command("recompute", "quick", stdout=StringIO())
    ladder.refresh_from_db()
    assert ladder.alarm
    assert FrozenStanding.objects.count() == 4
    out = StringIO()
    call_command("recompute", "quick", repair="a disk that lied", stdout=out)
    assert "Repaired. The ledger shows the correction as revision 2." in out.getvalue()
    ladder.refresh_from_db()
    assert (ladder.alarm, ladder.frozen_rounds, ladder.revision) == ("", None, 2)
    assert ladder.revisions.get().reason == "a disk that lied"
    assert Standing.objects.get(pk=row.pk).rating == row.rating - 1
    assert not FrozenStanding.objects.exists()
    out = StringIO()
    call_command("recompute", stdout=out)
    assert out.getvalue() == "quick: 4 ratings, 0 differ\n"
    assert "a disk that lied" in page(client, "/ladders/quick/?view=statistics")


def test_a_damaged_ladder_does_not_hide_the_differences_of_the_next_one(
    ladder: Ladder,
) -> None:
    Match.objects.filter(block__round__ladder=ladder).update(packed_record=b"")
    other = small.ladder(slug="other")
    play_tournament(other)
    falsify(other)
    with pytest.raises(CommandError) as raised:
        call_command("recompute", stdout=StringIO())
    damage, differ = str(raised.value).splitlines()
    assert damage.startswith("quick: round 1 can't be folded: ")
    assert differ.startswith("Stored ratings that differ from the recomputed ones: 1.")


def test_a_wrong_sum_of_ratings_starts_a_check_and_other_ladders_go_on(
    ladder: Ladder, monkeypatch: pytest.MonkeyPatch
) -> None:
    falsify(ladder)
    other = small.ladder(slug="other")
    for to_play in (ladder, other):
        small.tournament(to_play)
    monkeypatch.setattr(
        tasks.play_match,
        "apply_async",
        lambda args, queue: play.play_match(*args, players=small.players),
    )
    tasks.follow_up()
    small.play_due()
    monkeypatch.setattr(tasks.check_ladder, "delay", tasks.check_ladder)
    monkeypatch.setattr(tasks.fit_performance, "delay", lambda round_id: None)
    with logs.captured() as events:
        tasks.follow_up()
    assert ratings.alarms().keys() == {"quick"}
    assert other.rounds.filter(applied_at__isnull=False).exists()
    assert any("milli-Elo" in event.get("exception", "") for event in events)
    with logs.captured() as events:
        tasks.follow_up()
    assert not events  # the alarm is enough: no line of the log each second


def test_a_check_without_differences_lifts_the_alarm(ladder: Ladder) -> None:
    row = falsify(ladder)
    ratings.check_ladder(ladder.pk)
    Standing.objects.filter(pk=row.pk).update(rating=row.rating - 1)
    ratings.check_ladder(ladder.pk)
    ladder.refresh_from_db()
    assert not ladder.alarm


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE league_blockentry SET delta = delta + 1 WHERE id = (SELECT min(id) FROM {})",
        "DELETE FROM league_blockentry WHERE id = (SELECT min(id) FROM {})",
        "UPDATE league_roundentry SET rating_after = 0 WHERE id = (SELECT min(id) FROM {})",
        "UPDATE league_standing SET half_wins = 0 WHERE id = (SELECT min(id) FROM {})",
        "UPDATE league_standing SET blocks = 99 WHERE id = (SELECT min(id) FROM {})",
    ],
)
def test_every_change_made_directly_in_the_database_is_detected(
    ladder: Ladder, change: str
) -> None:
    table = change.removeprefix("DELETE FROM ").removeprefix("UPDATE ").split()[0]
    with connection.cursor() as cursor:
        cursor.execute("SET session_replication_role = replica")  # past the trigger
        cursor.execute(change.format(table))
        cursor.execute("SET session_replication_role = DEFAULT")
    [difference] = ratings.recompute(ladder)
    assert difference.where != "rating"
    assert difference.stored != difference.folded


DAMAGES = {
    "no record": "UPDATE league_match SET status = 'playing', packed_record = NULL, "
    "deal_seed = sha256('lost') WHERE id = {}",
    "a record cut off": "UPDATE league_match SET packed_record = "
    "substr(packed_record, 1, 9) WHERE id = {}",
    "a record of nothing": "UPDATE league_match SET packed_record = '\\x' WHERE id = {}",
    "a changed byte of a record": "UPDATE league_match SET packed_record = "
    "set_byte(packed_record, 20, get_byte(packed_record, 20) # 1) WHERE id = {}",
    "another seed": "UPDATE league_match SET deal_seed = sha256('another') WHERE id = {}",
    "a bot at its table": "DELETE FROM league_blockbot WHERE id = (SELECT min(id) "
    "FROM league_blockbot WHERE block_id = (SELECT block_id FROM league_match WHERE id = {}))",
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_record_raises_the_alarm_until_its_block_is_void(
    client: Client, ladder: Ladder, damage: str
) -> None:
    block = Block.objects.filter(round__ladder=ladder, round__number=1, rated=True).earliest("pk")
    match = block.matches.order_by("number").last()
    with connection.cursor() as cursor:
        cursor.execute(DAMAGES[damage].format(match.pk))
    tasks.check_ladder(ladder.pk)
    ladder.refresh_from_db()
    assert ladder.alarm.startswith("round 1 can't be folded: ")
    assert "These standings are frozen" in page(client, "/ladders/quick/")
    with pytest.raises(DamagedError, match="round 1"):
        ratings.recompute(ladder)
    with pytest.raises(CommandError, match=r"quick: round 1 can't be folded: .* void"):
        call_command("recompute", "quick", repair="a try", stdout=StringIO())
    ratings.mark_void(block_id=block.pk, reason="its record is lost")
    assert ratings.correct(ladder.pk) is not None
    ratings.check_ladder(ladder.pk)
    ladder.refresh_from_db()
    assert not ladder.alarm


@pytest.mark.parametrize("name", ["place", "score", "faults"])
def test_a_number_beside_a_seat_that_differs_from_the_record_raises_the_alarm_until_a_repair(
    ladder: Ladder, name: str
) -> None:
    seat = MatchSeat.objects.filter(match__block__round__ladder=ladder).earliest("match", "seat")
    right = getattr(seat, name)
    match = Match.objects.get(pk=seat.match_id)
    column = {"place": "places", "score": "scores", "faults": "faults"}[name]
    values = getattr(match, column) or [0] * match.seats
    Match.objects.filter(pk=match.pk).update(**{column: [right + 1, *values[1:]]})
    ratings.check_ladder(ladder.pk)
    ladder.refresh_from_db()
    text = f"{seat.bot.name}, match {seat.match_id}, {name}: stored {right + 1}, recomputed {right}"
    assert text in ladder.alarm
    call_command("recompute", "quick", repair="somebody wrote there", stdout=StringIO())
    assert getattr(match.seating.get(seat=0), name) == right
    assert ratings.recompute(ladder) == []


def test_a_deleted_standing_is_detected(ladder: Ladder) -> None:
    row = ladder.standings.first()
    row.delete()
    [difference] = ratings.recompute(ladder)
    assert difference == (row.bot_id, None, row.rating, "rating")


def test_rounds_that_are_rated_while_a_check_folds_raise_no_alarm(
    ladder: Ladder, monkeypatch: pytest.MonkeyPatch
) -> None:
    comparing: Callable[..., Any] = recomputing._compare

    def compare(*args: object) -> object:
        play_tournament(ladder)
        return comparing(*args)

    monkeypatch.setattr(recomputing, "_compare", compare)
    assert ratings.check_ladder(ladder.pk).differences == []
    ladder.refresh_from_db()
    assert not ladder.alarm
    assert ladder.checked_rounds is not None
    assert ladder.checked_rounds < ladder.rounds.count()


def test_a_check_fails_if_corrections_overtake_each_try(
    ladder: Ladder, monkeypatch: pytest.MonkeyPatch
) -> None:
    comparing: Callable[..., Any] = recomputing._compare

    def compare(*args: object) -> object:
        Ladder.objects.update(revision=Ladder.objects.get().revision + 1)
        return comparing(*args)

    monkeypatch.setattr(recomputing, "_compare", compare)
    with pytest.raises(OvertakenError, match="quick was corrected 3 times"):
        ratings.recompute(ladder)


def test_a_second_parallel_check_of_a_ladder_does_nothing(
    ladder: Ladder, monkeypatch: pytest.MonkeyPatch
) -> None:
    comparing: Callable[..., Any] = recomputing._compare
    seconds: list[object] = []

    def second() -> object:
        try:
            return ratings.check_ladder(ladder.pk)
        finally:
            connection.close()

    def compare(*args: object) -> object:
        with ThreadPoolExecutor(1) as thread:
            seconds.append(thread.submit(second).result())
        return comparing(*args)

    monkeypatch.setattr(recomputing, "_compare", compare)
    assert ratings.check_ladder(ladder.pk) is not None
    assert seconds == [None]


def test_beat_checks_every_ladder_at_night(ladder: Ladder, monkeypatch: pytest.MonkeyPatch) -> None:
    nightly = settings.CELERY_BEAT_SCHEDULE["check-ratings"]
    assert nightly["task"] == tasks.check_ratings.name
    assert nightly["schedule"].hour == {3}
    small.ladder(slug="other")
    sent: list[int] = []
    monkeypatch.setattr(tasks.check_ladder, "delay", sent.append)
    tasks.check_ratings()
    assert sorted(sent) == sorted(Ladder.objects.values_list("pk", flat=True))
    falsify(ladder)
    tasks.check_ladder(ladder.pk)
    assert ratings.alarms().keys() == {"quick"}
