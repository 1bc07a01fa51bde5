"""The operator's pages: queues, processes, what waits longest, what failed, single matches."""

import html
import re
import time
from datetime import timedelta

import pytest
from celery import current_app
from django.contrib.auth.models import Group, User
from django.core.cache import cache
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from league import accounts, competitions, heartbeats, play, processes, queueing
from league.models import Ladder, Match, ModerationEntry
from league.play import leases, retries
from league.queueing import broker
from tests.league import small
from tests.league.play.live import match_of, remote_bots
from tests.web.pages import page, queries

pytestmark = pytest.mark.django_db(transaction=True)

PATH = "/organise/operations/"


@pytest.fixture
def olga(client: Client) -> User:
    """An operator who is signed in."""
    olga = User.objects.create(username="olga", is_staff=True)
    client.force_login(olga)
    return olga


def text_of(client: Client, path: str = PATH) -> str:
    """Return what a page shows, without its tags."""
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]*>", " ", page(client, path))))


def seen_on(text: str) -> str:
    found = re.search(r'name="seen" value="([^"]*)"', text)
    return html.unescape(found.group(1)) if found else ""


def note_earlier(monkeypatch: pytest.MonkeyPatch, name: str, *, seconds: float) -> None:
    """Store the heartbeat of a process, so many seconds ago."""
    then = time.time() - seconds
    with monkeypatch.context() as patched:
        patched.setattr(time, "time", lambda: then)
        processes.note(name)


def house_match() -> Match:
    """Store a match of house bots that belongs to nothing."""
    return play.open_unrated_match(
        game="twelve-days",
        rules="eight-nights",
        versions=small.versions(small.bots(3)),
        move_seconds=1.0,
        bank_seconds=2.0,
    )


def test_only_staff_opens_the_pages(client: Client) -> None:
    match = house_match()
    paths = [PATH, f"{PATH}matches/{match.pk}/"]
    organiser = User.objects.create(username="ada")
    organiser.groups.add(Group.objects.create(name=accounts.ORGANISERS))
    for path in paths:
        assert client.get(path).status_code == 302
    client.force_login(organiser)
    for path in paths:
        assert client.get(path).status_code == 403
        assert client.post(path, {"reason": "x"}).status_code == 403
    assert PATH not in page(client, "/organise/")
    organiser.is_staff = True
    organiser.save()
    assert PATH in page(client, "/organise/")
    for path in paths:
        page(client, path)


def test_the_page_shows_how_many_tasks_wait_and_how_long_the_oldest_has(
    client: Client, olga: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    broker().delete("ratings")
    then = time.time() - 1800
    with monkeypatch.context() as patched:
        patched.setattr(time, "time", lambda: then)
        queueing.queue("fit_performance", 1)
    queueing.queue("fit_performance", 2)
    heartbeats.note_worker(["ratings"])
    try:
        assert "ratings yes 2 30 min 0 s" in text_of(client)
    finally:
        broker().delete("ratings")
    cache.delete(heartbeats._worker_key("ratings"))
    assert "ratings none 0 – –" in text_of(client)


def test_the_page_lists_processes_until_they_end_or_are_silent_for_long(
    client: Client, olga: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    broker().delete("league:processes")
    processes.note("play@one", ["play", "placement"])
    note_earlier(monkeypatch, "beat@two/7", seconds=60)
    note_earlier(monkeypatch, "play@old", seconds=1000)
    shown = text_of(client)
    assert "play@one alive 0 s placement, play" in shown
    assert "beat@two/7 silent 60 s –" in shown
    assert "play@old" not in shown
    processes.forget("play@one")
    assert "play@one" not in text_of(client)


def test_a_worker_s_heartbeat_puts_it_on_the_page_and_its_end_takes_it_off() -> None:
    from celery.signals import heartbeat_sent, worker_shutdown

    class Heart:
        class eventer:  # noqa: N801 - Celery's name
            hostname = "seats@here"

    heartbeat_sent.send(sender=Heart())
    [found] = [each for each in processes.alive() if each.name == "seats@here"]
    assert found.queues == sorted(current_app.amqp.queues.consume_from)
    worker_shutdown.send(sender="seats@here")
    assert "seats@here" not in {each.name for each in processes.alive()}


def test_the_page_shows_what_waits_longest_of_each_kind(client: Client, olga: User) -> None:
    assert "Nothing waits." in text_of(client)
    old = house_match()
    Match.objects.filter(pk=old.pk).update(created_at=timezone.now() - timedelta(hours=3))
    bots = remote_bots(3)
    live = match_of(bots)
    shown = text_of(client)
    assert "bot-0, bot-1 and bot-2" in shown
    assert f"(match {old.pk}) waits for a worker for 3 h" in shown
    assert re.search(
        rf"\(match {live.pk}\) waits for a move of {bots[0].name[:-2]}-\d for \d+ days", shown
    )


def test_the_page_shows_failed_and_void_matches_and_rows_set_aside(
    client: Client, olga: User
) -> None:
    ladder = small.ladder()
    match = house_match()
    lease = leases.take(match.pk)
    assert lease is not None
    retries.note_failure(match.pk, "ValueError", lease.id)
    Ladder.objects.filter(pk=ladder.pk).update(set_aside="seats: 9 is too many.")
    shown = text_of(client)
    assert f"bot-2 match {match.pk} waiting to be played 1 failed attempt, 0 lost" in shown
    assert "ladder quick: Set aside: the league leaves it out. seats: 9 is too many." in shown
    assert "None of the last matches is void." in shown
    play.void_match(match, "It <never> ends.")
    assert "It &lt;never&gt; ends." in page(client, PATH)


def test_the_page_stands_while_the_broker_is_away(
    client: Client, olga: User, settings: Settings
) -> None:
    settings.REDIS_URL = "unix:///nowhere/valkey.sock"
    shown = text_of(client)
    assert "broker: REDIS_URL can't be reached" in shown
    assert "so queues and processes are unknown" in shown


def test_the_number_of_queries_does_not_grow_with_the_matches(client: Client, olga: User) -> None:
    ladder = small.ladder()
    small.bots(3)
    competitions.advance_tournament(small.tournament(ladder).pk)
    Match.objects.update(failures=1)
    before = queries(client, PATH)
    for _ in range(3):
        competitions.advance_tournament(small.tournament(ladder).pk)
    Match.objects.update(failures=1)
    assert queries(client, PATH) == before


def test_a_match_is_queued_again_after_a_confirmation(client: Client, olga: User) -> None:
    match = house_match()
    leases.take(match.pk)
    path = f"{PATH}matches/{match.pk}/"
    text = page(client, path)
    assert f"Queue match {match.pk} again</button>" in text
    assert client.get(f"{path}?action=requeue").status_code == 200
    assert Match.objects.filter(lease__isnull=False).exists()  # to look changes nothing
    answer = client.post(path, {"reason": "", "seen": seen_on(text)}, follow=True)
    assert f"Match {match.pk} is queued again." in answer.content.decode()
    assert play.claim_due_hosted() == [match.pk]
    assert "queued a match again" in page(client, "/organise/log/")


def test_a_match_is_cancelled_with_a_reason_and_that_is_taken_back(
    client: Client, olga: User
) -> None:
    match = house_match()
    path = f"{PATH}matches/{match.pk}/"
    text = page(client, f"{path}?action=cancel")
    sent = {"reason": "", "seen": seen_on(text)}
    assert client.post(f"{path}?action=cancel", sent).status_code == 400
    sent["reason"] = "Opened <twice>."
    assert client.post(f"{path}?action=cancel", sent).status_code == 302
    assert "Opened &lt;twice&gt;." in page(Client(), f"/matches/{match.pk}/")
    text = page(client, path)
    assert f"Let match {match.pk} be played</button>" in text
    assert client.post(path, {"reason": "", "seen": seen_on(text)}).status_code == 302
    assert play.play_match(match.pk, players=small.players)
    rows = ModerationEntry.objects.order_by("pk").values_list("action", "made_by")
    assert list(rows) == [("cancel-match", olga.pk), ("restore-match", olga.pk)]
    assert "can't be played again. You can take back" in html.unescape(page(client, path))


def test_a_cancelled_match_of_a_block_makes_the_block_void(client: Client, olga: User) -> None:
    small.bots(3)
    competitions.advance_tournament(small.tournament(small.ladder()).pk)
    match = Match.objects.earliest("pk")
    path = f"{PATH}matches/{match.pk}/?action=cancel"
    text = page(client, path)
    assert "becomes void, with all its matches." in text
    assert "/blocks/0/" in text
    sent = {"reason": "No end.", "seen": seen_on(text)}
    assert client.post(path, sent).status_code == 302
    assert set(Match.objects.values_list("status", flat=True)) == {"void"}


def test_a_number_leads_to_the_page_of_a_match(client: Client, olga: User) -> None:
    match = house_match()
    assert client.get(f"{PATH}?match={match.pk}")["Location"] == f"{PATH}matches/{match.pk}/"
    assert "There is no match 999999." in page(client, f"{PATH}?match=999999", 400)
    page(client, f"{PATH}?match=x", 400)
