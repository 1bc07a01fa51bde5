"""Uploaded bots in matches: among themselves, with the house, with remote ones."""

import os
import select
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from types import SimpleNamespace
from typing import Any, NoReturn

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.core.cache import cache

from bots_sdk.bot import MatchInfo
from bots_sdk.sandbox import zygotes
from bots_sdk.sandbox.errors import SandboxBrokenError, SandboxUnavailableError
from engine.games.game import Observation
from engine.record import verify
from league import bots, play
from league.bots import jails, sandbox_reports
from league.models import Bot, BotSource, Match, SeatLog
from league.play import bot_processes, mixed_tables, owner_reports
from league.play.bot_processes import BotProcesses
from league.play.retries import MAX_FAILURES
from tests.league import small
from tests.league.bots.uploaded import FIRST, LOUD, RAISES, owner, ready_bot
from tests.league.play.live import START, play_on, remote_bots

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _no_processes_left() -> Iterator[None]:
    yield
    bot_processes.close_all()


@pytest.fixture
def ada() -> User:
    return owner()


def match_of(bots: list[Bot]) -> Match:
    return play.open_unrated_match(
        game="twelve-days",
        rules="eight-nights",
        versions=small.versions(bots),
        move_seconds=5,
    )


def finished(match: Match) -> Match:
    match.refresh_from_db()
    assert match.status == "finished"
    verify(match.record)
    return match


def test_hosted_bots_play_with_house_bots_and_owners_read_their_output(ada: User) -> None:
    bots = [ready_bot(ada, LOUD), ready_bot(owner(), LOUD), *house()]
    match = match_of(bots)
    assert play.play_match(match.pk)
    finished(match)
    assert match.record.faults == ()
    [seat] = owner_reports.owner_report(match, ada)
    assert seat["printed"].startswith("seat 0\nasked 1\nasked 2\n")
    assert seat["faults"] == []


def owner_of(bot: Bot) -> User:
    assert bot.owner is not None
    return bot.owner


def house() -> list[Bot]:
    bots = small.bots(1)
    bots[0].name = "house-random"
    bots[0].save()
    return bots


class StartedBot:
    """A bot of the second form, which needs its start."""

    def start(self, info: MatchInfo) -> None:
        self.info = info

    def choose(self, seen: Observation) -> str:
        return str(seen["legal_moves"][self.info["seat"] - seen["seat"]])


def run_test(source: str, **bot: Any) -> None:
    """Run the test of a fault beside a bot's file with these parts."""
    namespace: dict[str, Any] = {"bot": SimpleNamespace(**bot)}
    exec(source.replace("import bot ", ""), namespace)
    next(value for name, value in namespace.items() if name.startswith("test_match_"))()


def test_a_bot_that_raises_forfeits_and_its_owner_sees_reason_and_observation(ada: User) -> None:
    bots = [ready_bot(ada, RAISES), *(ready_bot(owner()) for _ in range(2))]
    match = match_of(bots)
    assert play.play_match(match.pk)
    finished(match)
    assert {fault.seat for fault in match.record.faults} == {0}
    [seat] = owner_reports.owner_report(match, ada)
    first = seat["faults"][0]
    assert (first["kind"], first["ply"]) == ("crash", 0)
    assert "gold" in first["reason"]
    assert first["move"] in first["observation"]["legal_moves"]
    with pytest.raises(AssertionError):
        run_test(first["test"], choose=lambda seen: "no")
    run_test(first["test"], Bot=StartedBot)
    assert owner_reports.owner_report(match, owner_of(bots[1]))[0]["faults"] == []
    assert seat["faults"][-1]["kind"] == "forfeit"
    assert seat["faults"][-1]["observation"] is None


def test_matches_drawn_before_an_upload_are_played_by_the_old_version(ada: User) -> None:
    made = [ready_bot(ada, LOUD), ready_bot(ada), ready_bot(ada)]
    match = match_of(made)
    version = bots.upload(bot=made[0], data=RAISES)
    made[0].current = version
    made[0].save()
    assert play.play_match(match.pk)
    assert finished(match).record.faults == ()


def test_without_a_sandbox_a_hosted_match_waits_untouched(
    ada: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none(**_: object) -> NoReturn:
        raise SandboxUnavailableError("no Landlock")

    match = match_of([ready_bot(ada) for _ in range(3)])
    with monkeypatch.context() as patch:
        patch.setattr(jails, "proven_jail", none)
        jails.distrust()
        assert not play.play_match(match.pk)
    match.refresh_from_db()
    assert (match.status, match.attempts) == ("waiting", 0)
    jails.distrust()
    assert play.play_match(match.pk)


@pytest.fixture
def no_sandbox(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Match], object]]:
    """No worker has had a sandbox for long; give a way to let the time pass until the next try."""

    def none(**_: object) -> NoReturn:
        raise SandboxUnavailableError("no Landlock")

    monkeypatch.setattr(jails, "proven_jail", none)
    jails.distrust()
    assert not jails.prove()
    monkeypatch.setattr(sandbox_reports, "lacking_for", lambda: settings.SANDBOX_PATIENCE)
    yield lambda match: cache.delete(f"tried:{match.pk}")
    jails.distrust()


def test_without_any_sandbox_a_match_is_void_after_three_tries_long_apart(
    ada: User, no_sandbox: Callable[[Match], object]
) -> None:
    match = match_of([ready_bot(ada) for _ in range(3)])
    for tried in (1, 2, 3):
        for _ in range(5):
            assert not play.play_match(match.pk)
        match.refresh_from_db()
        assert match.failures == tried
        assert match.status == ("void" if tried == 3 else "waiting")
        no_sandbox(match)
    assert match.void_reason == (
        "The league could not play the match: it failed 3 times. No bot gets a fault for this. "
        "Last failure: no worker has had a working sandbox for 600 s."
    )


def test_without_any_sandbox_a_match_with_remote_bots_is_void_too(
    ada: User, no_sandbox: Callable[[Match], object]
) -> None:
    match = match_of([ready_bot(ada), *remote_bots(2)])
    assert play.open_live(match.pk, START)
    for tried in (1, 2, 3):
        for _ in range(5):
            assert play.play_house_turns(match.pk) == 0
        match.refresh_from_db()
        assert match.status == ("void" if tried == 3 else "playing")
        no_sandbox(match)


def test_a_match_with_remote_bots_outlives_killed_sandboxes_and_is_void_after_twelve(
    ada: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> NoReturn:
        raise SandboxBrokenError("bubblewrap is gone")

    monkeypatch.setattr(bots.HostedBot, "__call__", broken)
    match = match_of([ready_bot(ada), *remote_bots(2)])
    assert play.open_live(match.pk, START)
    for broken_minutes in range(1, 13):
        assert play.play_house_turns(match.pk) == 0
        assert play.play_house_turns(match.pk) == 0, "it counts once in a minute"
        cache.delete(f"tried:{match.pk}")
        match.refresh_from_db()
        assert (match.losses, match.failures, match.lease) == (broken_minutes, 0, None)
        assert match.status == ("void" if broken_minutes == 12 else "playing")
    assert match.void_reason == (
        "The league could not play the match: its worker or sandbox broke 12 times."
    )


def test_no_sandbox_is_lacking_while_one_worker_has_one(monkeypatch: pytest.MonkeyPatch) -> None:
    sandbox_reports.note("")
    sandbox_reports.note("no Landlock")
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 700)
    sandbox_reports.note("no Landlock")
    assert 699 < sandbox_reports.lacking_for() < 702
    sandbox_reports.note("")
    assert sandbox_reports.lacking_for() == 0


def test_a_broken_sandbox_is_no_fault_and_the_match_is_played_again(
    ada: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    match = match_of([ready_bot(ada) for _ in range(3)])

    def broken(*_: object) -> NoReturn:
        raise SandboxBrokenError("bubblewrap is gone")

    with monkeypatch.context() as patch:
        patch.setattr(bots.HostedBot, "__call__", broken)
        assert not play.play_match(match.pk)
    match.refresh_from_db()
    assert (match.status, match.attempts, match.losses) == ("waiting", 1, 1)
    assert play.play_match(match.pk)
    assert finished(match).record.faults == ()


def test_at_a_mixed_table_a_hosted_bot_keeps_its_memory(ada: User) -> None:
    remote = remote_bots(2)
    match = match_of([ready_bot(ada, LOUD), *remote])
    assert play.open_live(match.pk, START)
    for _ in range(40):
        play.play_house_turns(match.pk)
        play_on(remote)
        if Match.objects.get(pk=match.pk).status == "finished":
            break
    record = finished(match).record
    assert record.faults == ()
    [seat] = owner_reports.owner_report(match, ada)
    counted = [line for line in seat["printed"].splitlines() if line.startswith("asked")]
    assert counted == [f"asked {number}" for number in range(1, len(counted) + 1)]
    assert len(counted) > 3


def test_the_processes_of_a_mixed_table_end_with_its_match(
    ada: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended = Event()
    close = BotProcesses.close

    def closed(processes: BotProcesses) -> None:
        close(processes)
        ended.set()

    monkeypatch.setattr(bot_processes, "CLEAN_UP_EVERY", 0.05)
    monkeypatch.setattr(BotProcesses, "close", closed)
    others = remote_bots(2)
    matches = [match_of([ready_bot(ada), *others]) for _ in range(2)]
    for match in matches:
        assert play.open_live(match.pk, START)
        assert play.play_house_turns(match.pk) > 0
    handles = [process_handle(match) for match in matches]
    Match.objects.filter(pk=matches[0].pk).update(status="void")  # by another process
    assert ended.wait(20)
    assert [bool(select.select([handle], [], [], 0)[0]) for handle in handles] == [True, False]
    assert [key[0] for key in bot_processes._kept] == [matches[1].pk]
    for handle in handles:
        os.close(handle)


def process_handle(match: Match) -> int:
    """Return a descriptor that is readable when the process of the match's hosted bot has ended."""
    [kept] = [kept for key, kept in bot_processes._kept.items() if key[0] == match.pk]
    process = kept._bots[0]._process
    assert process is not None
    return os.pidfd_open(process.process_ids[-1])


def test_a_fault_at_a_mixed_table_is_reported_and_other_bots_play_on(ada: User) -> None:
    remote = remote_bots(2)
    match = match_of([ready_bot(ada, RAISES), *remote])
    assert play.open_live(match.pk, START)
    for _ in range(40):
        play.play_house_turns(match.pk)
        play_on(remote)
        if Match.objects.get(pk=match.pk).status == "finished":
            break
    record = finished(match).record
    assert {fault.seat for fault in record.faults} == {0}
    [seat] = owner_reports.owner_report(match, ada)
    assert "gold" in seat["faults"][0]["reason"]
    [receipts] = [
        report["turns"] for report in owner_reports.owner_report(match, owner_of(remote[0]))
    ][:1]
    assert receipts[0]["handed_out_at"]


def test_a_quiet_bot_without_faults_leaves_no_log(ada: User) -> None:
    match = match_of([ready_bot(ada, FIRST) for _ in range(3)])
    assert play.play_match(match.pk)
    assert not SeatLog.objects.exists()


def test_a_second_task_of_a_mixed_table_returns_at_once_and_the_first_looks_again(
    ada: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    match = match_of([ready_bot(ada), *remote_bots(2)])
    assert play.open_live(match.pk, START)
    looked: list[int] = []
    play_pending = mixed_tables._play_pending

    def counted(match_id: int, player: Any, todo: list[int]) -> int:
        looked.append(match_id)
        if len(looked) == 1:
            with ThreadPoolExecutor(1) as another_thread:
                assert another_thread.submit(play.play_house_turns, match.pk).result(20) == 0
        return play_pending(match_id, player, todo)

    monkeypatch.setattr(mixed_tables, "_play_pending", counted)
    assert play.play_house_turns(match.pk) == 1
    assert looked == [match.pk] * 2
    assert play.play_house_turns(match.pk) == 0
    assert looked == [match.pk] * 3


def test_a_task_of_a_mixed_table_that_fails_does_not_keep_the_table(
    ada: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    match = match_of([ready_bot(ada), *remote_bots(2)])
    assert play.open_live(match.pk, START)
    with monkeypatch.context() as patch:
        patch.setattr(mixed_tables, "read_matches", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            play.play_house_turns(match.pk)
    assert play.play_house_turns(match.pk) == 1


def test_a_live_match_whose_zygote_was_killed_between_two_moves_goes_on(ada: User) -> None:
    remote = remote_bots(2)
    match = match_of([ready_bot(ada), *remote])
    assert play.open_live(match.pk, START)
    assert play.play_house_turns(match.pk) > 0
    zygotes.end_all()  # as if the kernel had killed it
    for _ in range(60):
        play.play_house_turns(match.pk)
        play_on(remote)
        match.refresh_from_db()
        if match.status == "finished":
            break
    assert finished(match).record.faults == ()


def test_a_live_match_that_can_not_be_played_becomes_void(ada: User) -> None:
    match = match_of([ready_bot(ada), *remote_bots(2)])
    assert play.open_live(match.pk, START)
    BotSource.objects.all().delete()
    for _ in range(MAX_FAILURES):
        assert play.play_house_turns(match.pk) == 0
        assert play.play_house_turns(match.pk) == 0  # counts once
        cache.clear()  # as if a minute had passed
    match.refresh_from_db()
    assert match.status == "void"
    assert "failed 3 times" in match.void_reason
    assert "DoesNotExist" in match.void_reason
