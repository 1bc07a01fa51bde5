"""An operator queues a match again, cancels it, and takes that back."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.utils import timezone

from league import competitions, moderation, play
from league.models import Bot, BotSource, Challenge, Match, ModerationEntry, Turn
from league.play import leases, retries
from tests.league import small
from tests.league.play.live import match_of, remote_bots

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def olga(db: None) -> User:
    return User.objects.create(username="olga", is_staff=True)


@pytest.fixture
def match() -> Match:
    """A match of house bots that belongs to nothing."""
    versions = small.versions(small.bots(3))
    return play.open_unrated_match(
        game="twelve-days",
        rules="eight-nights",
        versions=versions,
        move_seconds=1.0,
        bank_seconds=2.0,
    )


@pytest.fixture
def challenge(db: None) -> Challenge:
    ada = User.objects.create(username="ada")
    own = small.bots(1, ada, prefix="ada")
    small.ladder()
    small.bots(2)
    Bot.objects.filter(pk=own[0].pk).update(kind=Bot.Kind.HOUSE)
    return competitions.challenge(owner=ada, bot=own[0].name, opponents=["bot-0", "bot-1"])


def test_a_match_that_is_queued_again_is_due_at_once_and_its_worker_stops(
    match: Match, olga: User
) -> None:
    lease = leases.take(match.pk)
    assert lease is not None
    assert play.claim_due_hosted() == []
    moderation.requeue_match(match=match, reason="It hangs.", made_by=olga)
    assert not Match.objects.filter(lease=lease.id).exists()
    assert play.claim_due_hosted() == [match.pk]
    assert play.play_match(match.pk, players=small.players)
    row = ModerationEntry.objects.get()
    assert (row.action, row.subject, row.reason, row.made_by) == (
        "requeue-match",
        f"match {match.pk}",
        "It hangs.",
        olga,
    )


def test_a_pause_after_a_failure_ends_when_the_match_is_queued_again(
    match: Match, olga: User
) -> None:
    lease = leases.take(match.pk)
    assert lease is not None
    retries.note_failure(match.pk, "ValueError", lease.id)
    assert play.claim_due_hosted() == []
    moderation.requeue_match(match=match, made_by=olga)
    assert play.claim_due_hosted() == [match.pk]


def test_a_live_match_that_is_queued_again_keeps_its_moves_and_clocks(olga: User) -> None:
    live = match_of(remote_bots(3))
    turns = list(Turn.objects.values_list("deadline", flat=True))
    Match.objects.filter(pk=live.pk).update(due_at=timezone.now() + timedelta(hours=1))
    moderation.requeue_match(match=live, made_by=olga)
    assert play.claim_due_live() == [live.pk]
    live.refresh_from_db()
    assert live.status == Match.Status.PLAYING
    assert list(Turn.objects.values_list("deadline", flat=True)) == turns


def test_a_cancelled_match_is_void_with_its_reason_and_can_be_played_all_the_same(
    match: Match, olga: User
) -> None:
    with pytest.raises(ValidationError):
        moderation.cancel_match(match=match, reason=" ", made_by=olga)
    moderation.cancel_match(match=match, reason="Opened twice.", made_by=olga)
    match.refresh_from_db()
    assert (match.status, match.void_reason) == ("void", "Opened twice.")
    assert play.claim_due_hosted() == []
    moderation.restore_match(match=match, made_by=olga)
    assert play.claim_due_hosted() == [match.pk]
    assert play.play_match(match.pk, players=small.players)
    actions = ModerationEntry.objects.order_by("pk").values_list("action", flat=True)
    assert list(actions) == ["cancel-match", "restore-match"]


def test_a_challenge_is_cancelled_and_comes_back_as_a_whole(
    challenge: Challenge, olga: User
) -> None:
    first, second, third = challenge.matches.order_by("pk")
    assert play.play_match(first.pk, players=small.players)
    assert moderation.preview_cancellation_of_match(second).notes[-1] == "You can take it back."
    moderation.cancel_match(match=second, reason="Wrong bots.", made_by=olga)
    states = [match.status for match in challenge.matches.order_by("pk")]
    assert states == ["finished", "void", "void"]
    third.refresh_from_db()
    moderation.restore_match(match=third, made_by=olga)
    small.play_due()
    assert {match.status for match in challenge.matches.all()} == {"finished"}


def test_a_match_of_a_block_is_cancelled_with_its_block(olga: User) -> None:
    small.bots(3)
    tournament = small.tournament(small.ladder())
    competitions.advance_tournament(tournament.pk)
    match = Match.objects.select_related("block__round__tournament", "block__round__ladder").first()
    assert match is not None
    assert match.block is not None
    preview = moderation.preview_cancellation_of_match(match)
    assert preview.notes[0].endswith("becomes void, with all its matches.")
    moderation.cancel_match(match=match, reason="No end.", made_by=olga)
    assert {each.status for each in match.block.matches.all()} == {"void"}
    assert ModerationEntry.objects.get().action == "void-block"


def test_a_match_that_is_over_is_neither_queued_nor_cancelled(match: Match, olga: User) -> None:
    small.play_due()
    match.refresh_from_db()
    for decide in (moderation.requeue_match, moderation.cancel_match):
        with pytest.raises(ValidationError) as refused:
            decide(match=match, reason="x", made_by=olga)
        assert refused.value.code == "match-over"
    assert not ModerationEntry.objects.exists()


def test_only_what_an_operator_cancelled_comes_back(match: Match, olga: User) -> None:
    play.void_match(match, "The league could not play the match.")
    match.refresh_from_db()
    with pytest.raises(ValidationError) as refused:
        moderation.restore_match(match=match, made_by=olga)
    assert refused.value.code == "match-not-restorable"
    live = match_of(remote_bots(3))
    moderation.cancel_match(match=live, reason="Too slow.", made_by=olga)
    with pytest.raises(ValidationError) as refused:
        moderation.restore_match(match=live, made_by=olga)
    assert refused.value.code == "match-not-restorable"


def test_a_match_does_not_come_back_without_the_files_of_a_bot_that_was_deleted(
    olga: User,
) -> None:
    [own] = small.bots(1, User.objects.create(username="ada"))
    assert own.current is not None
    BotSource.objects.create(version=own.current, data=b"def choose(observation): ...")
    seated = small.versions([own, *small.bots(2, prefix="house")])
    match = play.open_unrated_match(game="twelve-days", rules="eight-nights", versions=seated)
    moderation.cancel_match(match=match, reason="Too slow.", made_by=olga)
    match.refresh_from_db()
    assert moderation.preview_return_of_match(match).notes
    competitions.delete_bot(own)
    with pytest.raises(ValidationError, match="bot-0 was deleted") as refused:
        moderation.restore_match(match=match, made_by=olga)
    assert refused.value.code == "match-not-restorable"


def test_a_decision_about_a_match_that_another_operator_decided_on_is_refused(
    match: Match, olga: User
) -> None:
    seen = str(moderation.state_of_match(match))
    leases.take(match.pk)  # a worker begins to play it, which changes nothing for the operator
    moderation.requeue_match(match=match, made_by=None, seen=seen)
    with pytest.raises(ValidationError) as refused:
        moderation.cancel_match(match=match, reason="x", made_by=olga, seen=seen)
    assert refused.value.code == "changed-meanwhile"
