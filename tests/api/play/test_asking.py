"""Bots that ask for their turns do not wait for each other, and nothing is done twice."""

import asyncio
import threading
import time
from datetime import datetime, timedelta
from typing import Any

import pytest
import structlog
from django.db import InterfaceError, OperationalError, transaction
from django.utils import timezone

from api.play import database
from api.play.connections import LoopConnections
from api.play.turn_waiters import PollWaiter, TurnWaiters, WaitingBot
from league import accounts, play
from league.models import Bot, Clock, Token, Turn
from league.play import outages
from league.play.turn_clocks import whole_ms
from league.play.turns import note_all_seen
from tests.api.play.sites import SOON, Site, await_true, open_match, served
from tests.api.play.test_waiting import finish_phase
from tests.league.play.live import remote_bots

pytestmark = pytest.mark.django_db(transaction=True)


def test_requests_of_one_bot_at_one_moment_get_each_turn_once(site: Site, bots: list[Bot]) -> None:
    open_match(bots)
    polls = [site.start_poll(bots[0], wait=0) for _ in range(40)]
    assert [len(poll.result(20).json()["turns"]) for poll in polls] == [1] * 40
    found = play.open_turns_of([bots[1], bots[1]], timezone.now())
    assert {pk: len(turns) for pk, turns in found.items()} == {bots[1].pk: 1}


def test_a_bot_whose_row_is_locked_gets_its_turns_and_delays_nobody(
    site: Site, bots: list[Bot]
) -> None:
    open_match(bots)
    with transaction.atomic():
        Bot.objects.select_for_update(of=("self",)).get(pk=bots[0].pk)
        for bot in bots:
            assert len(site.get(bot).json()["turns"]) == 1
        with site.stream(bots[0]) as events:
            assert next(events)["match"]
        await_true(lambda: Bot.objects.get(pk=bots[1].pk).seen_at)
        assert Bot.objects.get(pk=bots[0].pk).seen_at is None


def test_a_bot_whose_token_is_locked_gets_its_turns_and_delays_nobody(bots: list[Bot]) -> None:
    """For example, a long transaction deletes a bot whose program still runs."""
    open_match(bots)
    texts = [accounts.new_bot_token(bot) for bot in bots]
    with served(accounts.find_tokens) as site, transaction.atomic():
        Token.objects.select_for_update().get(bot=bots[0])
        polls = [site.start_poll(text) for text in texts]
        for poll in polls:
            assert len(poll.result(SOON).json()["turns"]) == 1
        used = dict(Token.objects.values_list("bot", "used_at"))
        assert used[bots[0].pk] is None
        assert None not in {used[bot.pk] for bot in bots[1:]}


def test_turns_arrive_although_nobody_can_note_that_a_bot_is_online(
    site: Site, bots: list[Bot], monkeypatch: pytest.MonkeyPatch
) -> None:
    tried = threading.Event()

    def fail(*_: Any) -> None:
        tried.set()
        raise OperationalError("gone")

    monkeypatch.setattr(database, "note_all_seen", fail)
    open_match(bots)
    with site.stream(bots[0]) as events:
        assert next(events)["match"]
    assert len(site.get(bots[1]).json()["turns"]) == 1
    assert tried.wait(10)


def test_a_note_is_written_on_a_new_connection_if_the_first_one_is_broken(
    site: Site, bots: list[Bot], monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[tuple[Any, ...]] = []

    def fail_once(*given: Any) -> None:
        calls.append(given)
        if len(calls) == 1:
            raise OperationalError("the connection broke")
        note_all_seen(*given)

    monkeypatch.setattr(database, "note_all_seen", fail_once)
    with site.stream(bots[0]):
        await_true(lambda: Bot.objects.get(pk=bots[0].pk).seen_at)


def test_an_error_of_a_note_is_logged(
    site: Site,
    bots: list[Bot],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    def fail(*_: Any) -> None:
        raise InterfaceError("connection already closed")

    monkeypatch.setattr(database, "note_all_seen", fail)
    assert site.get(bots[0]).json() == {"turns": []}
    await_true(lambda: "could not be noted" in caplog.text)


def test_bots_with_overdue_turns_do_not_delay_others(site: Site, bots: list[Bot]) -> None:
    others = remote_bots(3)
    open_match(others)
    open_match(bots)
    now = timezone.now()
    Turn.objects.filter(bot__in=bots).update(
        opened_at=now - timedelta(seconds=90), deadline=now - timedelta(seconds=50)
    )
    ran_until = now - timedelta(seconds=60)
    Clock.objects.update_or_create(pk=Clock.ONLY, defaults={"ran_until": ran_until})
    with transaction.atomic():
        outages.hold()
        late = [site.start_poll(bot) for bot in bots]
        site.await_waiters(len(bots))
        for other in others:
            assert len(site.get(other).json()["turns"]) == 1
        assert not any(poll.done() for poll in late)
    assert [len(poll.result(20).json()["turns"]) for poll in late] == [1, 1, 1]


def test_a_clock_starts_after_the_wait_for_the_time_of_an_outage(
    bots: list[Bot], monkeypatch: pytest.MonkeyPatch
) -> None:
    overdue, fresh = open_match(bots), open_match(bots)
    now = timezone.now()
    Turn.objects.filter(match=overdue).update(
        opened_at=now - timedelta(seconds=90), deadline=now - timedelta(seconds=50)
    )
    settled_at = []

    def settle(*_: Any) -> None:
        time.sleep(0.05)  # as for a lock
        settled_at.append(timezone.now())

    monkeypatch.setattr(outages, "settle", settle)
    play.open_turns(bots[0], timezone.now())
    handed_out_at = Turn.objects.get(match=fresh, bot=bots[0]).handed_out_at
    assert handed_out_at
    # The league's clock is in whole milliseconds.
    assert handed_out_at >= settled_at[0] - timedelta(milliseconds=2)


def test_a_second_try_starts_the_clock_at_its_own_time(
    site: Site, bots: list[Bot], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = LoopConnections._run
    broken_at: list[datetime] = []

    async def break_once(self: LoopConnections, *given: Any) -> Any:
        if not broken_at:
            await asyncio.sleep(0.05)
            broken_at.append(timezone.now())
            raise OperationalError("the connection broke")
        return await run(self, *given)

    open_match(bots)
    monkeypatch.setattr(LoopConnections, "_run", break_once)
    assert len(site.get(bots[0]).json()["turns"]) == 1
    handed_out_at = Turn.objects.get(bot=bots[0]).handed_out_at
    assert handed_out_at
    assert handed_out_at >= whole_ms(broken_at[0])


def test_the_log_of_a_woken_request_has_no_ids_of_the_request_that_woke_it(
    site: Site, bots: list[Bot], blind: None, deaf: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_match(bots)
    bound: dict[int, Any] = {}
    hand_out = play.hand_out

    async def spy(ids: list[int], *given: Any) -> Any:
        for pk in ids:
            bound[pk] = structlog.contextvars.get_contextvars().get("bot")
        return await hand_out(ids, *given)

    with site.stream(bots[0]) as events:
        next(events)
        finish_phase(site, bots, lambda: monkeypatch.setattr(play, "hand_out", spy))
        next(events)
    assert bound[bots[0].pk] is None


def test_after_the_end_nobody_is_woken(bots: list[Bot]) -> None:
    async def main() -> None:
        queries = database.Database()
        waiters, bot = TurnWaiters(queries), WaitingBot.of(bots[0])
        waiters.add(bot, PollWaiter())
        await waiters.close()
        waiters.wake([bot.pk])
        assert waiters._entries[bot.pk].reading is None
        await queries.aclose()

    asyncio.run(main())
