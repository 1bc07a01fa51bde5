"""Who may see a match, a record, a seed, and what an owner alone may see."""

import pytest
from django.contrib.auth.models import AnonymousUser, User
from django.utils import timezone

from engine.pairing import Table
from league import competitions, play, visibility
from league.models import Block, Match, Round
from tests.league import small

pytestmark = pytest.mark.django_db


@pytest.fixture
def block() -> Block:
    """A duplicate block of three house bots; its matches wait."""
    bots = small.bots(3)
    competitions.open_round(
        ladder=small.ladder(), tables=[Table(tuple(bot.pk for bot in bots), True)], seed=bytes(32)
    )
    return Block.objects.get()


def seen(block: Block) -> list[tuple[bool, bool]]:
    """Return for each match whether its record and whether its present state are public."""
    matches = Match.objects.filter(block=block).order_by("pk")
    return [(visibility.may_see_record(match), visibility.may_watch(match)) for match in matches]


def test_a_duplicate_block_is_secret_until_all_its_matches_are_played(block: Block) -> None:
    due = play.claim_due_hosted()
    assert block.duplicate
    for match_id in due:
        assert seen(block) == [(False, False)] * 3
        assert play.play_match(match_id, players=small.players)
    assert seen(block) == [(True, True)] * 3


def test_a_match_with_its_own_deal_may_be_watched_and_its_record_seen_at_the_end(
    block: Block,
) -> None:
    Block.objects.update(duplicate=False)
    [first, *_] = play.claim_due_hosted()
    assert seen(block) == [(False, True)] * 3
    play.play_match(first, players=small.players)
    match = Match.objects.get(pk=first)
    assert (visibility.may_see_record(match), visibility.may_watch(match)) == (True, True)


def test_a_void_match_is_secret(block: Block) -> None:
    Block.objects.update(duplicate=False)
    play.void_unfinished_block(block.pk)
    assert seen(block) == [(False, False)] * 3


def test_the_seed_of_a_ladder_round_is_public_when_the_round_is_applied(block: Block) -> None:
    round_ = Round.objects.get()
    assert not visibility.may_see_seed(round_)
    round_.applied_at = timezone.now()
    assert visibility.may_see_seed(round_)


def test_a_bot_is_owned_by_its_owner_alone_and_a_house_bot_by_no_user() -> None:
    ada, bob = (User.objects.create(username=name) for name in ("ada", "bob"))
    [bot], [house] = small.bots(1, ada, prefix="ada"), small.bots(1)
    assert visibility.owns(ada, bot)
    for user in (bob, AnonymousUser(), None):
        assert not visibility.owns(user, bot)
        assert not visibility.owns(user, house)


def test_an_owner_has_the_seats_of_the_own_bots_only() -> None:
    ada, bob = (User.objects.create(username=name) for name in ("ada", "bob"))
    bots = [*small.bots(2, ada, prefix="ada"), *small.bots(1, bob, prefix="bob")]
    match = play.open_unrated_match(
        game="twelve-days", rules="eight-nights", versions=small.versions(bots)
    )
    assert [seat.seat for seat in visibility.own_seats(ada, match)] == [0, 1]
    assert [seat.seat for seat in visibility.own_seats(bob, match)] == [2]
