"""Deal seeds: derived from the seed of the round once a match is over, else stored."""

from hashlib import sha256

import pytest
from django.db import IntegrityError, transaction

from engine.blocks import derive_block_seed, derive_deal_seed
from league import competitions, play
from league.models import Block, Ladder, Match, Round
from league.ratings import DamagedError, recompute
from tests.api.exports import ladder as ladder
from tests.league import small

pytestmark = pytest.mark.django_db


def test_a_seed_is_stored_until_the_end_of_its_match_and_the_same_afterwards() -> None:
    ladder = small.ladder()
    tournament = small.tournament(ladder)
    small.bots(4)
    competitions.advance_tournament(tournament.pk)
    assert not Match.objects.filter(stored_seed=None).exists()
    stored = {match.pk: match.deal_seed for match in Match.objects.all()}
    small.run_all()
    over = Match.objects.filter(pk__in=stored)
    assert set(over.values_list("status", "stored_seed")) == {("finished", None)}
    for match in over:
        assert match.deal_seed == stored[match.pk]
        assert match.deal_seed == match.record.deal_seed
        block = derive_block_seed(bytes(match.block.round.seed), match.block.number)
        assert match.deal_seed == derive_deal_seed(block, 0)


def test_matches_of_a_block_with_a_remote_bot_derive_a_seed_each(ladder: Ladder) -> None:
    block = Block.objects.finished().earliest("pk")
    duplicate = {match.deal_seed for match in block.matches.all()}
    block.duplicate = False
    own = [block.deal_seed(match.number) for match in block.matches.all()]
    assert len(duplicate) == 1
    assert len(set(own)) == len(own) == 3
    assert block.deal_seed(0) in duplicate


def test_no_finished_match_of_a_block_stores_its_seed(ladder: Ladder) -> None:
    in_blocks = Match.objects.finished().exclude(block=None)
    assert in_blocks.count() > 50
    assert not in_blocks.exclude(stored_seed=None).exists()
    assert recompute(ladder) == []


def test_a_seed_that_does_not_follow_from_the_round_stays_stored() -> None:
    ladder = small.ladder()
    tournament = small.tournament(ladder)
    small.bots(3)
    competitions.advance_tournament(tournament.pk)
    other = sha256(b"other").digest()
    Match.objects.update(stored_seed=other)
    small.play_due()
    assert {match.deal_seed for match in Match.objects.all()} == {other}
    assert {bytes(match.stored_seed or b"") for match in Match.objects.all()} == {other}


def test_a_match_without_a_round_keeps_its_seed() -> None:
    match = play.open_unrated_match(
        game="twelve-days", rules="eight-nights", versions=small.versions(small.bots(3))
    )
    seed = match.deal_seed
    small.play_due()
    match.refresh_from_db()
    assert (match.status, match.deal_seed, match.record.deal_seed) == ("finished", seed, seed)
    with pytest.raises(IntegrityError), transaction.atomic():
        Match.objects.update(stored_seed=None)


def test_the_database_refuses_an_unfinished_match_without_a_seed() -> None:
    tournament = small.tournament(small.ladder())
    small.bots(3)
    competitions.advance_tournament(tournament.pk)
    with pytest.raises(IntegrityError), transaction.atomic():
        Match.objects.update(stored_seed=None)


def test_a_changed_seed_of_a_round_is_found_by_recompute(ladder: Ladder) -> None:
    Round.objects.filter(pk=Round.objects.earliest("pk").pk).update(seed=bytes(32))
    with pytest.raises(DamagedError, match=r"round 1 can't be folded: .*its checksum differs"):
        recompute(ladder)
