"""The seed of a cancelled tournament: public when nothing more is dealt from it."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from engine.deals import commitment
from league import competitions, moderation
from league.models import Round, Tournament
from league.play.archiving import due_rounds
from league.visibility import public_seed
from tests.league import small
from tests.league.competitions import events

pytestmark = pytest.mark.django_db(transaction=True)


def cancelled() -> Tournament:
    """Return a tournament that was cancelled while its first round was open."""
    tournament = events.begun()
    competitions.cancel_tournament(tournament=tournament)
    return events.again(tournament)


def test_the_seed_of_a_cancelled_tournament_is_public_when_its_last_round_is_rated(
    settings: Settings,
) -> None:
    settings.ARCHIVE_DAYS = 30
    later = timezone.now() + timedelta(days=31)
    tournament = cancelled()
    assert public_seed(tournament) is None
    assert public_seed(Round.objects.get()) is None
    events.play_round()
    seed = public_seed(events.again(tournament))
    assert seed is not None
    assert commitment(bytes.fromhex(seed)) == tournament.commitment
    assert public_seed(Round.objects.get()) == seed
    assert list(due_rounds(later)) == [Round.objects.get()]


def test_the_rounds_of_a_cancelled_tournament_are_not_archived_while_its_seed_is_secret(
    settings: Settings,
) -> None:
    settings.ARCHIVE_DAYS = 30
    tournament = events.begun()
    events.play_round()
    competitions.advance_tournament(tournament.pk)
    competitions.cancel_tournament(tournament=tournament)
    assert public_seed(events.again(tournament)) is None
    assert not due_rounds(timezone.now() + timedelta(days=31)).exists()


def test_a_tournament_that_goes_on_after_its_seed_was_public_deals_from_other_seeds() -> None:
    tournament = cancelled()
    events.play_round()
    moderation.restore(tournament=tournament, made_by=None)
    competitions.advance_tournament(tournament.pk)
    first, second = Round.objects.order_by("number")
    assert second.commitment != first.commitment == tournament.commitment
    assert public_seed(first) is not None
    assert public_seed(second) is None


def test_a_tournament_that_goes_on_while_its_seed_is_secret_keeps_it() -> None:
    tournament = cancelled()
    moderation.restore(tournament=tournament, made_by=None)
    events.play_round()
    competitions.advance_tournament(tournament.pk)
    assert {each.commitment for each in Round.objects.all()} == {tournament.commitment}
    assert public_seed(events.again(tournament)) is None


def test_a_tournament_that_is_cancelled_before_its_first_round_keeps_its_seed_secret() -> None:
    tournament = small.tournament(small.ladder())
    competitions.cancel_tournament(tournament=tournament)
    assert public_seed(events.again(tournament)) is None
    page = Client().get(f"/tournaments/{tournament.pk}/").content.decode()
    assert "cancelled before the first" in page


def test_the_page_of_a_cancelled_tournament_shows_the_seed_when_it_is_public() -> None:
    tournament = cancelled()
    path = f"/tournaments/{tournament.pk}/"
    assert "publishes the seed when" in Client().get(path).content.decode()
    events.play_round()
    assert bytes(tournament.seed).hex() in Client().get(path).content.decode()
