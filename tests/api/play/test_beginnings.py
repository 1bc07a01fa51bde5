"""The stream of live matches that begin, over real HTTP."""

import json
import threading
from contextlib import suppress

import httpx
import pytest

from api.play import wakeup_listener
from league.models import Bot, Match
from league.play.spectating import live_now
from tests.api.play.sites import Site, await_true
from tests.api.play.test_watching import events_of
from tests.league.play.live import match_of, play_on

pytestmark = pytest.mark.django_db(transaction=True)

PATH = "http://testserver/tv/events"


@pytest.fixture
def begun(site: Site) -> list[int]:
    """The matches that a client of the stream has heard of, in their order."""
    found: list[int] = []
    connected = threading.Event()

    def read() -> None:
        with suppress(httpx.HTTPError), site.client.stream("GET", PATH) as response:
            for line in response.iter_lines():
                connected.set()
                if line.startswith("data: "):
                    found.append(json.loads(line.removeprefix("data: "))["match"])

    threading.Thread(target=read, daemon=True).start()
    assert connected.wait(20)
    return found


@pytest.mark.parametrize("way", ["wakeups", "refreshes"])
def test_a_match_that_begins_is_sent_once(
    bots: list[Bot],
    begun: list[int],
    request: pytest.FixtureRequest,
    way: str,
) -> None:
    request.getfixturevalue("blind" if way == "wakeups" else "deaf")
    first = match_of(bots)
    await_true(lambda: begun == [first.pk])
    second = match_of(bots)
    await_true(lambda: begun == [first.pk, second.pk])
    play_on(bots)
    third = match_of(bots)
    await_true(lambda: begun == [first.pk, second.pk, third.pk])


def test_a_stream_begins_with_the_matches_in_play(site: Site, bots: list[Bot]) -> None:
    matches = [match_of(bots), match_of(bots)]
    stream = events_of(site, PATH)
    sent = [next(stream), next(stream)]
    assert [kind for _, kind, _ in sent] == ["begin", "begin"]
    assert {data["match"] for _, _, data in sent} == {match.pk for match in matches}
    stream.close()


def test_without_a_stream_nothing_is_read(
    site: Site, bots: list[Bot], monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[int] = []

    def noted() -> list[int]:
        read.append(1)
        return []

    monkeypatch.setattr("api.play.beginnings.live_now", noted)
    monkeypatch.setattr(wakeup_listener, "REFRESH_SECONDS", 0.01)
    match = match_of(bots)
    stream = events_of(site, f"/matches/{match.pk}/events")
    assert next(stream)[1] == "phase"  # so wake-ups and refreshes have come
    assert read == []
    stream.close()


def test_matches_that_nobody_may_watch_are_left_out(bots: list[Bot]) -> None:
    matches = [match_of(bots) for _ in range(3)]
    assert live_now() == [match.pk for match in reversed(matches)]
    assert live_now(1) == [matches[-1].pk]
    Match.objects.filter(pk=matches[0].pk).update(status=Match.Status.VOID)
    assert live_now() == [matches[2].pk, matches[1].pk]
