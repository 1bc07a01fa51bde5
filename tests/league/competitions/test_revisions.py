"""Revisions of tables and tournaments change with what their pages show."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from league import competitions, moderation
from league.competitions.revisions import table_revisions, tournament_revisions
from league.models import Block, Match, PlayerTable, Tournament
from league.models.players import WAITING_ROOM
from tests.league import small
from tests.league.players import house_bots

pytestmark = pytest.mark.django_db


def of_tournament(tournament: Tournament) -> str:
    return tournament_revisions([tournament.pk])[tournament.pk]


def of_table(table: PlayerTable) -> str:
    return table_revisions([table.code], timezone.now())[table.code]


def differing(revision: Callable[[], str], *changes: Callable[[], object]) -> list[bool]:
    """Return for each change whether the revision is another one after it."""
    found = []
    for change in changes:
        before = revision()
        assert revision() == before
        change()
        found.append(revision() != before)
    return found


def test_the_revision_of_a_table_changes_with_its_people_and_its_start() -> None:
    house_bots()
    table, _ = competitions.open_table(
        game="twelve-days", rules="eight-nights", seats=3, waits=True
    )
    assert (
        differing(
            lambda: of_table(table),
            lambda: competitions.join_table(table, nickname="Bob"),
            lambda: competitions.leave_table(table.players.get(nickname="Bob")),
            lambda: competitions.start_table(table),
        )
        == [True] * 3
    )


def test_the_revision_of_a_table_changes_when_it_closes() -> None:
    house_bots()
    table, _ = competitions.open_table(
        game="twelve-days", rules="eight-nights", seats=3, waits=True
    )
    before = of_table(table)
    later = timezone.now() + WAITING_ROOM + timedelta(seconds=1)
    assert table_revisions([table.code, "none"], later).keys() == {table.code}
    assert table_revisions([table.code], later)[table.code] != before


def test_the_revision_of_a_tournament_changes_until_its_end() -> None:
    tournament = small.tournament(small.ladder())
    small.bots(4)
    blocks = Block.objects.filter(round__tournament=tournament)
    assert (
        differing(
            lambda: of_tournament(tournament),
            lambda: competitions.advance_tournament(tournament.pk),
            small.play_due,
            small.run_all,
            lambda: blocks.filter(pk=blocks.earliest("pk").pk).update(state=Block.State.VOID),
        )
        == [True] * 4
    )


def test_a_move_in_an_open_block_changes_the_revision_of_its_tournament() -> None:
    tournament = small.tournament(small.ladder())
    small.bots(3)
    competitions.advance_tournament(tournament.pk)
    matches = Match.objects.filter(block__round__tournament=tournament)
    assert (
        differing(
            lambda: of_tournament(tournament),
            lambda: matches.update(status=Match.Status.PLAYING),
            lambda: matches.filter(pk=matches.earliest("pk").pk).update(plies=3),
        )
        == [True] * 2
    )


def test_entries_and_settings_change_the_revision_of_a_tournament() -> None:
    ada = User.objects.create(username="ada")
    [bot] = small.bots(1, ada, "own")
    tournament = competitions.announce_tournament(
        title="Cup", ladder=small.ladder(), starts_at=timezone.now() + timedelta(hours=1)
    )
    Tournament.objects.update(entries_open_at=timezone.now() - timedelta(hours=1))
    tournament.refresh_from_db()
    assert (
        differing(
            lambda: of_tournament(tournament),
            lambda: competitions.enter(tournament=tournament, bot=bot),
            lambda: competitions.withdraw(tournament=tournament, bot=bot),
            lambda: moderation.tournaments.cancel(
                tournament=tournament, reason="Too few", made_by=ada
            ),
        )
        == [True] * 3
    )


@pytest.mark.parametrize("count", [1, 3])
def test_the_revisions_of_many_cost_as_many_queries(
    count: int, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    ladder = small.ladder()
    tournaments = [small.tournament(ladder) for _ in range(count)]
    small.bots(3)
    for each in tournaments:
        competitions.advance_tournament(each.pk)
    assert Match.objects.exists()
    with django_assert_num_queries(5):
        assert len(tournament_revisions([each.pk for each in tournaments])) == count
    with django_assert_num_queries(2):
        assert table_revisions(["a", "b"], timezone.now()) == {}
