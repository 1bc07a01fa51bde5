"""Places of trials: who waits, who plays, and which client has a trial, in the cache's server.

A place belongs to one trial: only this trial can free or prolong it. While a trial is played, its
worker prolongs its places every few seconds, so they are free soon after the worker is lost.
"""

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

from django.core.cache import cache
from redis.exceptions import RedisError

from league.queueing import broker

LOST_SECONDS = 15
"""If a worker does not prolong the places of its trial for so long, it is lost."""
_BEAT_SECONDS = 3.0
_WAITING = "trials-waiting"

_FREE = "if redis.call('get', KEYS[1]) == ARGV[1] then redis.call('del', KEYS[1]) end"
_PROLONG = (
    "if redis.call('get', KEYS[1]) == ARGV[1] then redis.call('expire', KEYS[1], ARGV[2]) end"
)


def take(place: str, trial_id: str, seconds: int) -> bool:
    """Take a place for a trial; return whether it was free."""
    return bool(broker().set(cache.make_key(place), trial_id, nx=True, ex=seconds))


def free(place: str, trial_id: str) -> None:
    """Free a place if the trial still holds it; without the cache, it ends by its time."""
    with suppress(RedisError):
        broker().eval(_FREE, 1, cache.make_key(place), trial_id)


@contextmanager
def one_of(places: Sequence[str], trial_id: str) -> Iterator[str | None]:
    """Hold a place that is free; give it, or None if there is none."""
    taken = next((each for each in places if take(each, trial_id, LOST_SECONDS)), None)
    try:
        yield taken
    finally:
        if taken is not None:
            free(taken, trial_id)


@contextmanager
def prolonged(places: Sequence[str], trial_id: str) -> Iterator[None]:
    """Prolong the places of a trial while it is played, and show that its worker lives."""
    over = threading.Event()

    def beat() -> None:
        with suppress(RedisError):
            broker().set(_alive(trial_id), 1, ex=LOST_SECONDS)
            for place in places:
                key = cache.make_key(place)
                broker().eval(_PROLONG, 1, key, trial_id, str(LOST_SECONDS))

    def beats() -> None:
        while not over.wait(_BEAT_SECONDS):
            beat()

    beat()
    beating = threading.Thread(target=beats, name="trial-beats", daemon=True)
    beating.start()
    try:
        yield
    finally:
        over.set()
        beating.join()


def is_played(trial_id: str) -> bool:
    """Return whether a worker plays this trial now.

    Raises:
        RedisError: the cache can't be reached.
    """
    return bool(broker().exists(_alive(trial_id)))


def wait_in_line(trial_id: str, *, most: int, seconds: int) -> bool:
    """Add a trial to those that wait or are played; return False if there are too many.

    Args:
        trial_id: of the new trial.
        most: the most trials, this one included.
        seconds: after so long a trial no longer counts.
    """
    key, now = cache.make_key(_WAITING), time.time()
    with broker().pipeline() as calls:
        calls.zremrangebyscore(key, 0, now - seconds)
        calls.zadd(key, {trial_id: now})
        calls.zcard(key)
        calls.expire(key, seconds)
        count = calls.execute()[2]
    if count > most:
        leave_line(trial_id)
        return False
    return True


def leave_line(trial_id: str) -> None:
    """Remove a trial from those that wait or are played."""
    with suppress(RedisError):
        broker().zrem(cache.make_key(_WAITING), trial_id)


def _alive(trial_id: str) -> str:
    return str(cache.make_key(f"trial-alive-{trial_id}"))
