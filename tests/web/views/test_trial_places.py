"""Places of trials: only their own trial frees them, all are counted, and a lost one is noticed."""

import threading
import time

import pytest
from django.core.cache import cache
from django.test import Client
from redis.exceptions import RedisError

from league import tasks
from league.bots import trial_places, trials
from league.queueing import broker
from tests.league.bots.uploaded import FIRST
from tests.responses import Response

pytestmark = pytest.mark.django_db(transaction=True)
PLACE = "trial-place-0"


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let trials end at once."""
    cache.clear()
    monkeypatch.setattr(trials, "_played", lambda trial: {})


def send(client: Client) -> Response:
    return client.post("/learn/write-a-bot/try/", {"game": "twelve-days", "source": FIRST.decode()})


def begun(client: str = "ada") -> str:
    return trials.begin(game="twelve-days", source=FIRST.decode(), client=client)


def test_only_the_trial_that_holds_a_place_frees_or_prolongs_it() -> None:
    assert trial_places.take(PLACE, "new", 100)
    trial_places.free(PLACE, "old")
    with trial_places.prolonged([PLACE], "old"):
        assert not trial_places.take(PLACE, "third", 100)
        assert broker().ttl(cache.make_key(PLACE)) > trial_places.LOST_SECONDS
    trial_places.free(PLACE, "new")
    assert trial_places.take(PLACE, "third", 100)


def test_an_older_trial_does_not_free_its_clients_next_one() -> None:
    old = begun()
    broker().delete(cache.make_key("trial-of-ada"))  # as after its time
    begun()
    assert trials.run(old)
    with pytest.raises(trials.TrialRefusedError, match="is being tried"):
        begun()


def test_a_result_that_can_not_be_kept_leaves_the_client_free(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def away(trial: trials.Trial) -> None:
        raise RedisError("away")

    trial_id = begun()
    with monkeypatch.context() as patch:
        patch.setattr(trials, "_keep", away)
        with pytest.raises(RedisError):
            trials.run(trial_id)
    assert trials.run(begun())


def test_a_trial_that_can_not_be_queued_is_refused_and_leaves_the_client_free(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_: object, **__: object) -> None:
        raise OSError("no broker")

    with monkeypatch.context() as patch:
        patch.setattr("celery.current_app.send_task", away)
        refused = send(client)
    assert refused.status_code == 503
    assert "Try again in a minute" in refused.content.decode()
    assert send(client).status_code == 302


def test_trials_that_wait_outside_the_queue_count_as_waiting(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trials, "MAX_WAITING", 2)
    first = begun("ada")
    begun("bob")
    broker().delete("trials")  # a worker has taken both out, to try again in a second
    refused = send(client)
    assert refused.status_code == 503
    assert "Many people" in refused.content.decode()
    assert trials.run(first)
    assert send(client).status_code == 302


def test_a_trial_no_longer_counts_after_its_time() -> None:
    assert trial_places.wait_in_line("old", most=1, seconds=100)
    assert not trial_places.wait_in_line("new", most=1, seconds=100)
    broker().zadd(cache.make_key("trials-waiting"), {"old": time.time() - 101})
    assert trial_places.wait_in_line("new", most=1, seconds=100)


def test_a_trial_that_is_played_shows_that_its_worker_lives(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(trial_places, "_BEAT_SECONDS", 0.01)
    key, beats = cache.make_key("trial-of-ada"), threading.Event()
    seen = []

    def played(trial: trials.Trial) -> dict[str, object]:
        broker().delete(cache.make_key(f"trial-alive-{trial.id}"))
        while not trial_places.is_played(trial.id):  # until the next beat
            beats.wait(0.01)
        found = trials.find(trial.id)
        seen.append((found and found.state, 0 < broker().ttl(key) <= trial_places.LOST_SECONDS))
        return {}

    monkeypatch.setattr(trials, "_played", played)
    assert trials.run(begun())
    assert seen == [("playing", True)]


def test_the_page_of_a_trial_whose_worker_was_killed_says_what_to_do(client: Client) -> None:
    address = send(client)["Location"]
    trial_id = address.split("/")[-2]
    trial = trials.find(trial_id)
    assert trial is not None
    with trial_places.prolonged([], trial_id):
        trials._keep(trial._replace(state="playing"))
        assert "Your bot plays" in client.get(address).content.decode()
    broker().delete(cache.make_key(f"trial-alive-{trial_id}"))  # ends 15 s after the last beat
    page = client.get(address).content.decode()
    assert "was interrupted" in page
    assert "Change the bot" in page
    tasks.try_bot(trial_id)  # its task comes again: nothing happens
    assert "was interrupted" in client.get(address).content.decode()
