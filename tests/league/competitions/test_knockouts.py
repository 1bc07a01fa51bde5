"""Knockouts through the real services: seeding, ties at the cut, extra blocks."""

import pytest

from engine.rating import elo
from league import competitions, moderation, ratings
from league.competitions.history import history_of
from league.competitions.tournament_standings import (
    bracket_of,
    tournament_standings,
)
from league.models import Block, Bot, Match
from tests.league import small
from tests.league.competitions.events import again, begun, play_round, tables

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_knockout_of_house_bots_plays_itself_to_the_end() -> None:
    tournament = begun(bots=9, seats=4, format="knockout")
    small.run_all()
    tournament = again(tournament)
    assert tournament.state == "finished"
    bracket = bracket_of(history_of(tournament))
    assert [len(round_.tables) for round_ in bracket] == [3, 2, 1]
    assert [round_.final for round_ in bracket] == [False, False, True]
    [final] = bracket[-1].tables
    rows = tournament_standings(tournament)
    assert rows[0].bot == final.seats[0].bot
    assert [seat.goes_on for seat in final.seats] == [True, False, False, False]
    last_rounds = [placed.row.round_reached for placed in rows]
    reached = [number for number in last_rounds if number is not None]
    assert len(reached) == len(rows)
    assert reached == sorted(reached, reverse=True)
    assert ratings.recompute(tournament.ladder) == []


def test_knockouts_are_seeded_by_the_ratings_at_the_start() -> None:
    first = begun(bots=4, seats=4)
    small.run_all()
    ratings = dict(again(first).ladder.standings.values_list("bot", "rating"))
    tournament = small.tournament(again(first).ladder, format="knockout")
    competitions.advance_tournament(tournament.pk)
    stored = dict(tournament.entries.values_list("bot", "rating"))
    assert stored == ratings
    [table] = bracket_of(history_of(again(tournament)))[0].tables
    by_seed = sorted(table.seats, key=lambda seat: seat.seed or 0)
    assert [stored[seat.bot.pk] for seat in by_seed] == sorted(ratings.values(), reverse=True)


def test_a_tie_at_the_cut_opens_an_extra_block_for_that_table() -> None:
    tournament = begun(bots=4, seats=2, format="knockout")
    play_round()
    level, clear = Block.objects.order_by("number")
    small.set_places(level.matches.all(), lambda _: 1)
    better, _ = tables(tournament)[1]
    small.set_places(clear.matches.all(), lambda bot: 1 if bot == better else 2)
    competitions.advance_tournament(tournament.pk)
    extra = tournament.rounds.order_by("number").last()
    assert extra is not None
    assert (extra.stage, extra.extra) == (1, 1)
    assert extra.blocks.count() == 1
    assert tables(tournament)[2] == tables(tournament)[0]
    small.run_all()
    assert again(tournament).state == "finished"
    # Only what is in the records counts for ratings.
    assert sum(tournament.ladder.standings.values_list("rating", flat=True)) == 4 * elo.START


def test_the_better_seed_goes_on_if_the_cut_stays_tied() -> None:
    tournament = begun(bots=2, seats=2, format="knockout")
    for _ in range(5):
        play_round()
        small.set_places(Match.objects.all(), lambda _: 1)
        competitions.advance_tournament(tournament.pk)
    assert again(tournament).state == "finished"
    [final] = bracket_of(history_of(again(tournament)))
    [table] = final.tables
    assert (table.extra_blocks, table.by_seed) == (4, True)
    assert [(seat.seed, seat.goes_on) for seat in table.seats] == [(1, True), (2, False)]


def test_without_extra_blocks_a_tie_at_the_cut_is_decided_by_seed_at_once() -> None:
    tournament = begun(bots=2, seats=2, format="knockout", extra_blocks=0)
    play_round()
    small.set_places(Match.objects.all(), lambda _: 1)
    competitions.advance_tournament(tournament.pk)
    assert again(tournament).state == "finished"
    [final] = bracket_of(history_of(again(tournament)))
    assert (final.tables[0].extra_blocks, final.tables[0].by_seed) == (0, True)


def test_a_bot_that_is_reinstated_during_extra_blocks_does_not_stop_a_knockout() -> None:
    tournament = begun(bots=4, seats=4, format="knockout")
    play_round()
    small.set_places(Match.objects.all(), lambda _: 1)
    bot = Bot.objects.order_by("pk")[0]
    moderation.disqualify(tournament=again(tournament), bot=bot, reason="x", made_by=None)
    competitions.advance_tournament(tournament.pk)
    extra = tournament.rounds.get(extra=1)
    assert bot.pk not in extra.blocks.values_list("bots__bot", flat=True)
    moderation.reinstate(tournament=again(tournament), bot=bot, made_by=None)
    small.run_all()
    assert again(tournament).state == "finished"
    [final] = bracket_of(history_of(again(tournament)))
    assert len(final.tables[0].seats) == 4
