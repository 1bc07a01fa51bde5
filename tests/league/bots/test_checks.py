"""From an upload to a version that plays, or the reason why not."""

import time
from concurrent.futures import ThreadPoolExecutor
from typing import NoReturn

import pytest
from django.core.cache import cache
from django.core.exceptions import ValidationError
from django.db import OperationalError, connection
from django.utils import timezone
from pytest_django import Settings

from bots_sdk.sandbox.errors import SandboxUnavailableError
from league import bots, competitions
from league.bots import check_attempts, checks, jails, sandbox_reports
from league.bots.qualifying import CheckTooLongError, MatchSetting, WallLimit
from league.models import Bot, BotSource, BotVersion, QualifyingMatch
from league.single_workers import Work, single_worker
from tests.league import small
from tests.league.bots.charged_clock import count_charged_seconds_only
from tests.league.bots.uploaded import FIRST, LOUD, RAISES, hosted_bot, owner, ready_bot

pytestmark = pytest.mark.django_db(transaction=True)
TOO_LONG = "timeout: a check may take 60 s"
ONLY_TWELVE_DAYS = (
    b"def choose(observation):\n"
    b"    assert observation['game'] == 'twelve-days'\n"
    b"    return observation['legal_moves'][0]\n"
)


@pytest.fixture
def bot() -> Bot:
    return hosted_bot(owner())


def qualified(bot: Bot, source: bytes) -> BotVersion:
    version = bots.upload(bot=bot, data=source)
    assert version.state == "checking"
    assert bots.check_version(version.pk)
    version.refresh_from_db()
    bot.refresh_from_db()
    return version


def test_a_version_that_plays_both_games_is_ready_and_plays_from_then_on(bot: Bot) -> None:
    version = qualified(bot, LOUD)
    assert (version.number, version.state, version.reason) == (1, "ready", "")
    assert bot.current == version
    matches = QualifyingMatch.objects.filter(version=version)
    assert {match.game for match in matches} == {"twelve-days", "partridge"}
    assert all(match.printed.startswith("seat 0\nasked 1\n") for match in matches)


def test_a_failed_check_stores_reason_output_and_observation(bot: Bot) -> None:
    ready = qualified(bot, FIRST)
    refused = qualified(bot, RAISES)
    assert (refused.number, refused.state) == (2, "refused")
    assert "crash" in refused.reason
    assert "gold" in refused.reason
    match = refused.qualifying.first()
    assert match is not None
    assert "about to\n" in match.printed
    assert match.observation is not None
    assert match.observation["legal_moves"]
    assert bot.current == ready  # it never replaces the one that plays


@pytest.mark.parametrize("source", [b"def choose(o:\n", b"x = 1\n", b"import socket\n" + FIRST])
def test_files_that_are_no_bots_are_refused_or_harmless(bot: Bot, source: bytes) -> None:
    version = qualified(bot, source)
    assert version.state == "refused" or b"socket" in source


def test_a_version_that_plays_one_game_cannot_enter_the_other(bot: Bot) -> None:
    version = qualified(bot, ONLY_TWELVE_DAYS)
    assert version.state == "ready"
    competitions.enter_ladder(ladder=small.ladder(), bot=bot)
    other = small.ladder("other")
    other.game = "partridge"
    other.save()
    with pytest.raises(ValidationError, match="failed its check for partridge: crash") as caught:
        competitions.enter_ladder(ladder=other, bot=bot)
    assert caught.value.code == "not-qualified"


def test_a_new_version_must_play_each_game_that_its_bot_has_entered(bot: Bot) -> None:
    qualified(bot, FIRST)
    partridge = small.ladder("other", seats=4)
    partridge.game, partridge.rules = "partridge", "eagle-short"
    partridge.save()
    competitions.enter_ladder(ladder=partridge, bot=bot)
    version = qualified(bot, ONLY_TWELVE_DAYS)
    assert version.state == "refused"
    assert version.reason.startswith("partridge: crash")


def test_a_version_that_declares_a_game_is_checked_for_that_game_only(bot: Bot) -> None:
    version = qualified(bot, b'GAMES = ["twelve-days"]\n' + ONLY_TWELVE_DAYS)
    assert version.state == "ready"
    assert [match.game for match in version.qualifying.all()] == ["twelve-days"]
    competitions.enter_ladder(ladder=small.ladder(), bot=bot)
    other = small.ladder("other")
    other.game, other.rules = "partridge", "eagle-short"
    other.save()
    with pytest.raises(ValidationError, match="declares that it plays twelve-days, not") as caught:
        competitions.enter_ladder(ladder=other, bot=bot)
    assert caught.value.code == "not-qualified"
    refused = qualified(bot, b"GAMES = ['partridge']\n" + FIRST)
    assert refused.state == "refused"
    assert "twelve-days: " in refused.reason
    assert "Add twelve-days to GAMES, or withdraw" in refused.reason
    assert bot.current == version


def test_a_version_must_play_each_game_that_it_declares(bot: Bot) -> None:
    both = b"GAMES = ['twelve-days', 'partridge']\n"
    version = qualified(bot, both + ONLY_TWELVE_DAYS)
    assert version.state == "refused"
    assert version.reason.startswith("partridge: crash")


def test_a_version_that_declares_an_unknown_game_is_refused(bot: Bot) -> None:
    version = qualified(bot, b"GAMES = ['chess']\n" + FIRST)
    assert version.state == "refused"
    assert "chess" in version.reason
    assert '"partridge", "twelve-days"' in version.reason


def test_a_check_that_takes_too_long_is_refused_with_the_limit_and_the_remedy(
    bot: Bot, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    ready = qualified(bot, FIRST)
    count_charged_seconds_only(monkeypatch)
    settings.MAX_CHECK_SECONDS = 1.0
    slow = b"import time\ndef start(info): print('loaded')\ndef choose(observation):\n"
    slow += b"    time.sleep(0.2)\n    return observation['legal_moves'][0]\n"
    version = qualified(bot, slow)
    assert version.state == "refused"
    assert "timeout: a check may take 1 s, waiting included. The time ended after" in version.reason
    assert "Choose moves faster, or declare only the games" in version.reason
    match = version.qualifying.get(passed=False)
    assert match.printed == "loaded\n"
    assert match.observation is not None
    assert bot.current == ready


def reach_the_limit_in_partridge(monkeypatch: pytest.MonkeyPatch) -> None:
    def play_until(version: BotVersion, setting: MatchSetting, _: WallLimit) -> QualifyingMatch:
        if setting.game == "twelve-days":
            return QualifyingMatch(version=version, game=setting.game, passed=True)
        raise CheckTooLongError(
            QualifyingMatch(version=version, game=setting.game, passed=False, reason=TOO_LONG)
        )

    monkeypatch.setattr(checks, "play_qualifying_match", play_until)


def test_a_version_that_passed_one_game_is_ready_if_the_other_takes_too_long(
    bot: Bot, monkeypatch: pytest.MonkeyPatch
) -> None:
    reach_the_limit_in_partridge(monkeypatch)
    version = qualified(bot, FIRST)
    assert (version.state, version.reason) == ("ready", "")
    assert version.qualifying.get(passed=False).reason == TOO_LONG
    with pytest.raises(ValidationError, match="failed its check for partridge: timeout"):
        bots.require_qualified(bot, "partridge")


@pytest.mark.parametrize("why", ["declared", "entered"])
def test_a_version_is_refused_if_a_game_that_it_must_play_takes_too_long(
    bot: Bot, monkeypatch: pytest.MonkeyPatch, why: str
) -> None:
    if why == "entered":
        small.ladder("two", seats=2).entries.create(bot=bot)
    reach_the_limit_in_partridge(monkeypatch)
    declared = b"GAMES = ['twelve-days', 'partridge']\n" if why == "declared" else b""
    version = qualified(bot, declared + FIRST)
    assert (version.state, version.reason) == ("refused", f"partridge: {TOO_LONG}")


def test_one_version_of_an_owner_is_checked_at_a_time_and_queues_the_next(
    bot: Bot, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = (bots.upload(bot=bot, data=FIRST) for _ in range(2))
    other = bots.upload(bot=hosted_bot(owner()), data=FIRST)
    queued: list[int] = []
    monkeypatch.setattr(checks, "queue", lambda task, pk: queued.append(pk))

    def checked(pk: int) -> bool:
        try:
            return bots.check_version(pk)
        finally:
            connection.close()

    with (
        single_worker(Work.CHECK_OF_OWNER, bot.owner_id or 0) as free,
        ThreadPoolExecutor(1) as another_worker,
    ):
        assert free
        assert not another_worker.submit(checked, second.pk).result()
        assert another_worker.submit(checked, other.pk).result()
    assert queued == []
    assert bots.check_version(first.pk)
    assert queued == [second.pk]


def killed(*_: object) -> NoReturn:
    raise SystemExit


def database_away(*_: object) -> NoReturn:
    raise OperationalError("terminating connection due to administrator command")


def fails(*_: object) -> NoReturn:
    raise RuntimeError("no such preset")


def end_pause(version: BotVersion) -> None:
    cache.delete(f"check-pause:{version.pk}")


def lose(version: BotVersion, monkeypatch: pytest.MonkeyPatch, times: int) -> None:
    """Let workers be killed during checks of a version."""
    with monkeypatch.context() as patch:
        patch.setattr(checks, "play_qualifying_match", killed)
        for _ in range(times):
            end_pause(version)
            with pytest.raises(SystemExit):
                bots.check_version(version.pk)


def test_a_check_that_fails_again_and_again_is_refused(
    bot: Bot, monkeypatch: pytest.MonkeyPatch
) -> None:
    version = bots.upload(bot=bot, data=FIRST)
    monkeypatch.setattr(checks, "play_qualifying_match", fails)
    for _ in range(check_attempts.MAX_FAILURES):
        with pytest.raises(RuntimeError):
            bots.check_version(version.pk)
    assert bots.check_version(version.pk)
    version.refresh_from_db()
    assert version.state == "refused"
    assert "failed 5 times" in version.reason


def test_a_version_whose_workers_are_killed_is_checked_again_after_a_pause(
    bot: Bot, monkeypatch: pytest.MonkeyPatch
) -> None:
    version = bots.upload(bot=bot, data=FIRST)
    lose(version, monkeypatch, 8)
    assert not bots.check_version(version.pk), "it pauses"
    end_pause(version)
    assert bots.check_version(version.pk)
    version.refresh_from_db()
    assert version.state == "ready"


def test_a_version_whose_check_always_ends_its_worker_is_refused_in_the_end(
    bot: Bot, monkeypatch: pytest.MonkeyPatch
) -> None:
    version = bots.upload(bot=bot, data=FIRST)
    lose(version, monkeypatch, check_attempts.MAX_LOSSES)
    end_pause(version)
    assert bots.check_version(version.pk)
    version.refresh_from_db()
    assert version.state == "refused"
    assert "12 workers ended" in version.reason


def test_a_database_that_is_away_does_not_count_against_a_version(
    bot: Bot, monkeypatch: pytest.MonkeyPatch
) -> None:
    version = bots.upload(bot=bot, data=FIRST)
    with monkeypatch.context() as patch:
        patch.setattr(checks, "play_qualifying_match", database_away)
        for _ in range(check_attempts.MAX_LOSSES + 1):
            assert not bots.check_version(version.pk)
    assert bots.check_version(version.pk)
    version.refresh_from_db()
    assert version.state == "ready"


@pytest.mark.parametrize("moment", ["before its source is read", "before its match", "at its end"])
@pytest.mark.parametrize("retired", [False, True], ids=["removed", "retired"])
def test_a_bot_that_is_deleted_during_its_check_delays_no_other_check(
    bot: Bot, monkeypatch: pytest.MonkeyPatch, moment: str, retired: bool
) -> None:
    version = bots.upload(bot=bot, data=FIRST)
    other = bots.upload(bot=hosted_bot(bot.owner or owner()), data=FIRST)
    queued: list[int] = []
    monkeypatch.setattr(checks, "queue", lambda task, pk: queued.append(pk))

    def deletes_before(name: str) -> None:
        real = getattr(checks, name)

        def deletes(*args: object, **kwargs: object) -> object:
            monkeypatch.setattr(checks, name, real)
            if retired:
                bots.retire(bot, timezone.now())
            else:
                bots.remove(bot)
            return real(*args, **kwargs)

        monkeypatch.setattr(checks, name, deletes)

    step = {
        "before its source is read": "_check",
        "before its match": "play_qualifying_match",
        "at its end": "_decide",
    }
    deletes_before(step[moment])
    assert not bots.check_version(version.pk)
    assert queued == [other.pk]


def test_a_stored_file_that_can_no_longer_be_read_is_refused(bot: Bot) -> None:
    version = bots.upload(bot=bot, data=FIRST)
    BotSource.objects.filter(version=version).update(data=b"PK\x03\x04 and no archive")
    assert bots.check_version(version.pk)
    version.refresh_from_db()
    assert version.state == "refused"
    assert "can't be a bot" in version.reason


def test_a_check_that_comes_twice_counts_once(bot: Bot) -> None:
    version = qualified(bot, FIRST)
    assert not bots.check_version(version.pk)
    assert QualifyingMatch.objects.count() == 2
    matches = [QualifyingMatch(version=version, game="twelve-days", passed=False)]
    assert not checks._decide(version.pk, matches)


def test_an_older_version_that_is_ready_later_does_not_replace_a_newer_one(bot: Bot) -> None:
    first, second = (bots.upload(bot=bot, data=FIRST) for _ in range(2))
    for version in (second, first):
        assert bots.check_version(version.pk)
    bot.refresh_from_db()
    assert bot.current == second


def test_without_a_sandbox_a_version_waits(bot: Bot, monkeypatch: pytest.MonkeyPatch) -> None:
    def none(**_: object) -> NoReturn:
        raise SandboxUnavailableError("tier 1: no namespaces; tier 2: no Landlock")

    version = bots.upload(bot=bot, data=FIRST)
    with monkeypatch.context() as patch:
        patch.setattr(jails, "proven_jail", none)
        jails.distrust()
        assert not bots.check_version(version.pk)
        assert "no Landlock" in (sandbox_reports.find_fault() or "")
    jails.distrust()
    assert bots.check_version(version.pk)
    assert sandbox_reports.find_fault() is None


def test_the_fault_of_a_worker_that_is_gone_does_not_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(**_: object) -> NoReturn:
        raise SandboxUnavailableError("no Landlock")

    now = time.time()
    with monkeypatch.context() as patch:
        patch.setattr(jails, "proven_jail", none)
        patch.setattr(sandbox_reports, "_reporter", "play@replaced")
        jails.distrust()
        assert not jails.prove()
    jails.distrust()
    assert jails.prove()
    assert "play@replaced: no Landlock" in (sandbox_reports.find_fault() or "")
    monkeypatch.setattr(time, "time", lambda: now + sandbox_reports.REPORTED_FOR + 60)
    assert sandbox_reports.find_fault() is None


def test_a_version_whose_task_is_lost_is_queued_again_once_a_minute(bot: Bot) -> None:
    version = bots.upload(bot=bot, data=FIRST)
    assert bots.versions_to_check() == []
    BotVersion.objects.update(created_at=version.created_at - 2 * checks.QUEUE_AGAIN_AFTER)
    assert bots.versions_to_check() == [version.pk]
    assert bots.versions_to_check() == []


def test_the_unchecked_versions_of_an_owner_are_limited(bot: Bot) -> None:
    for _ in range(5):
        bots.upload(bot=bot, data=FIRST)
    with pytest.raises(ValidationError) as caught:
        bots.upload(bot=bot, data=FIRST)
    assert caught.value.code == "too-many-uploads"


def test_remote_bots_and_empty_files_take_no_upload(bot: Bot) -> None:
    with pytest.raises(ValidationError, match="empty"):
        bots.upload(bot=bot, data=b" \n")
    assert bot.owner is not None
    remote = ready_bot(bot.owner)
    remote.kind = "remote"
    with pytest.raises(ValidationError, match="is a remote bot"):
        bots.upload(bot=remote, data=FIRST)
