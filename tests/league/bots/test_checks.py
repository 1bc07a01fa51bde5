"""From an upload to a version that plays, or the reason why not."""

import pytest
from django.core.exceptions import ValidationError

from bots_sdk.sandbox.errors import SandboxUnavailableError
from league import bots, competitions
from league.bots import checks, jails
from league.models import BotVersion, Trial
from tests.league import small
from tests.league.bots.uploaded import FIRST, LOUD, RAISES, hosted_bot, owner, ready_bot

pytestmark = pytest.mark.django_db(transaction=True)
ONLY_TWELVE_DAYS = (
    b"def choose(observation):\n"
    b"    assert observation['game'] == 'twelve-days'\n"
    b"    return observation['legal_moves'][0]\n"
)


@pytest.fixture
def bot():
    return hosted_bot(owner())


def qualified(bot, source):
    version = bots.upload(bot=bot, data=source)
    assert version.state == "checking"
    assert bots.qualify(version.pk)
    version.refresh_from_db()
    bot.refresh_from_db()
    return version


def test_a_version_that_plays_both_games_is_ready_and_plays_from_then_on(bot):
    version = qualified(bot, LOUD)
    assert (version.number, version.state, version.reason) == (1, "ready", "")
    assert bot.current == version
    trials = Trial.objects.filter(version=version)
    assert {trial.game for trial in trials} == {"twelve-days", "partridge"}
    assert all(trial.printed.startswith("seat 0\nasked 1\n") for trial in trials)


def test_one_that_fails_is_refused_with_the_reason_what_it_printed_and_what_it_was_asked(bot):
    ready = qualified(bot, FIRST)
    refused = qualified(bot, RAISES)
    assert (refused.number, refused.state) == (2, "refused")
    assert "crash" in refused.reason
    assert "gold" in refused.reason
    trial = refused.trials.first()
    assert "about to\n" in trial.printed
    assert trial.observation["legal_moves"]
    assert bot.current == ready  # it never replaces the one that plays


@pytest.mark.parametrize("source", [b"def choose(o:\n", b"x = 1\n", b"import socket\n" + FIRST])
def test_what_is_no_bot_is_refused_or_harmless(bot, source):
    version = qualified(bot, source)
    assert version.state == "refused" or b"socket" in source


def test_one_that_plays_one_game_is_ready_for_that_and_not_let_into_the_other(bot):
    version = qualified(bot, ONLY_TWELVE_DAYS)
    assert version.state == "ready"
    competitions.enter_ladder(ladder=small.ladder(), bot=bot)
    other = small.ladder("other")
    other.game = "partridge"
    other.save()
    with pytest.raises(ValidationError, match="did not qualify for partridge: crash") as caught:
        competitions.enter_ladder(ladder=other, bot=bot)
    assert caught.value.code == "not-qualified"


def test_a_new_version_must_play_every_game_that_the_bot_has_entered(bot):
    qualified(bot, FIRST)
    partridge = small.ladder("other", seats=4)
    partridge.game, partridge.rules = "partridge", "eagle-short"
    partridge.save()
    competitions.enter_ladder(ladder=partridge, bot=bot)
    version = qualified(bot, ONLY_TWELVE_DAYS)
    assert version.state == "refused"
    assert version.reason.startswith("partridge: crash")


def test_a_check_that_comes_twice_counts_once(bot):
    version = qualified(bot, FIRST)
    assert not bots.qualify(version.pk)
    assert Trial.objects.count() == 2
    trials = [Trial(version=version, game="twelve-days", passed=False)]
    assert not checks._decide(version.pk, trials)


def test_an_older_version_that_is_ready_later_does_not_replace_a_newer_one(bot):
    first, second = (bots.upload(bot=bot, data=FIRST) for _ in range(2))
    for version in (second, first):
        assert bots.qualify(version.pk)
    bot.refresh_from_db()
    assert bot.current == second


def test_without_a_sandbox_a_version_waits(bot, monkeypatch):
    def none():
        raise SandboxUnavailableError("tier 1: no namespaces; tier 2: no Landlock")

    version = bots.upload(bot=bot, data=FIRST)
    with monkeypatch.context() as patch:
        patch.setattr(jails, "proven_jail", none)
        jails.distrust()
        assert not bots.qualify(version.pk)
        assert "no Landlock" in jails.find_fault()
    jails.distrust()
    assert bots.qualify(version.pk)
    assert jails.find_fault() is None


def test_a_version_that_was_forgotten_is_queued_again_once_a_minute(bot):
    version = bots.upload(bot=bot, data=FIRST)
    assert bots.versions_to_qualify() == []
    BotVersion.objects.update(created_at=version.created_at - 2 * checks.LATER)
    assert bots.versions_to_qualify() == [version.pk]
    assert bots.versions_to_qualify() == []


def test_only_so_many_versions_of_an_owner_are_checked_at_a_time(bot):
    for _ in range(5):
        bots.upload(bot=bot, data=FIRST)
    with pytest.raises(ValidationError) as caught:
        bots.upload(bot=bot, data=FIRST)
    assert caught.value.code == "too-many-uploads"


def test_remote_bots_and_empty_files_take_no_upload(bot):
    with pytest.raises(ValidationError, match="empty"):
        bots.upload(bot=bot, data=b" \n")
    remote = ready_bot(bot.owner)
    remote.kind = "remote"
    with pytest.raises(ValidationError, match="is a remote bot"):
        bots.upload(bot=remote, data=FIRST)
