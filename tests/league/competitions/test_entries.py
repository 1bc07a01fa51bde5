"""Entries while a tournament runs: late entry, withdrawal, disqualification, paused bots."""

from collections import Counter
from datetime import timedelta

import pytest
from django.core.exceptions import ValidationError
from django.utils import timezone

from engine.pairing import seeding, stages
from engine.rating import elo
from league import bots, competitions, ratings
from league.competitions.history import history_of
from league.competitions.tournament_standings import (
    tournament_standings,
)
from league.models import (
    Block,
    Bot,
    BotVersion,
    Bye,
    Match,
    QualifyingMatch,
    Tournament,
    TournamentEntry,
)
from tests.league import small
from tests.league.competitions.events import (
    again,
    begun,
    entered_by,
    late_bot,
    pause,
    play_round,
    tables,
)

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_withdrawn_bot_plays_its_drawn_blocks_and_no_more() -> None:
    tournament = begun(format="swiss")
    bot = Bot.objects.get(name="bot-0")
    competitions.withdraw(tournament=tournament, bot=bot)
    small.run_all()
    entry = tournament.entries.get(bot=bot)
    assert (entry.state, entry.left_after) == ("withdrawn", 1)
    played = Block.objects.filter(bots__bot=bot).values_list("round__stage", flat=True)
    assert set(played) == {1}
    row = next(p.row for p in tournament_standings(again(tournament)) if p.bot == bot)
    assert (row.blocks, row.rank is not None) == (2, True)
    with pytest.raises(ValidationError, match="is finished"):
        competitions.withdraw(tournament=tournament, bot=bot)


@pytest.mark.parametrize(
    ("of", "away"), [("swiss", {"paused": True}), ("round-robin", {"current": None})]
)
def test_a_bot_that_cannot_play_misses_rounds_without_points_until_it_returns(
    of: str, away: dict[str, object]
) -> None:
    tournament = begun(bots=9, format=of)
    bot = Bot.objects.get(name="bot-0")
    back = {name: getattr(bot, name) for name in away}
    Bot.objects.filter(pk=bot.pk).update(**away)
    play_round()
    competitions.advance_tournament(tournament.pk)
    Bot.objects.filter(pk=bot.pk).update(**back)
    play_round()
    competitions.advance_tournament(tournament.pk)
    played = Block.objects.filter(bots__bot=bot).values_list("round__stage", flat=True)
    assert set(played) == {1, 3}
    assert not Bye.objects.filter(bot=bot).exists()
    entry = tournament.entries.get(bot=bot)
    assert entry.state == "entered"


def test_a_knockout_withdraws_a_paused_bot_when_it_would_be_seated() -> None:
    tournament = begun(bots=8, seats=4, format="knockout")
    play_round()
    for match in Match.objects.all():  # nobody ties at the cut
        places = {bot: place for place, bot in enumerate(sorted(match.bot_ids), 1)}
        small.set_places([match], places.__getitem__)
    history = history_of(again(tournament))
    seeds = seeding(history.event_settings, history.entrants)
    [first, other] = stages(history.rounds, seeds)[0].tables
    through, next_in_line = first.entrants[0], first.entrants[2]
    pause(Bot.objects.get(pk=through))
    pause(Bot.objects.get(pk=other.entrants[3]))  # out already
    competitions.advance_tournament(tournament.pk)
    pause(Bot.objects.get(pk=through), paused=False)
    left = dict(tournament.entries.exclude(state="entered").values_list("bot", "left_after"))
    assert left == {through: 1}
    assert next_in_line in tables(tournament)[-1]
    small.run_all()
    assert again(tournament).state == "finished"
    assert through not in tables(tournament)[-1]


def test_a_tournament_with_too_few_playable_bots_at_its_start_is_cancelled() -> None:
    tournament = small.tournament(small.ladder(seats=2), format="knockout")
    pause(small.bots(2)[0])
    TournamentEntry.objects.create(tournament=tournament, bot=Bot.objects.get(name="bot-0"))
    competitions.advance_tournament(tournament.pk)
    assert again(tournament).state == "cancelled"


def test_a_disqualified_bot_has_no_rank_and_cannot_enter_again() -> None:
    tournament = begun(format="swiss", late_entry=True)
    bot = Bot.objects.get(name="bot-0")
    competitions.disqualify(tournament=tournament, bot=bot, reason="Asked for hidden cards.")
    with pytest.raises(ValidationError, match="can't enter this tournament again"):
        competitions.enter(tournament=tournament, bot=bot)
    competitions.withdraw(tournament=tournament, bot=bot)
    small.run_all()
    last = tournament_standings(again(tournament))[-1]
    assert (last.bot, last.row.rank, last.entry.state) == (bot, None, "disqualified")
    assert last.row.blocks == 2
    assert ratings.recompute(tournament.ladder) == []


def test_the_winner_can_be_disqualified_after_the_end_and_the_others_move_up() -> None:
    tournament = begun(bots=6, seats=3, format="knockout")
    small.run_all()
    before = tournament_standings(again(tournament))
    competitions.disqualify(tournament=tournament, bot=before[0].bot, reason="Two accounts.")
    after = tournament_standings(again(tournament))
    assert [p.bot for p in after] == [p.bot for p in [*before[1:], before[0]]]
    assert after[0].row.rank == 1


def test_a_disqualification_needs_a_reason_and_a_bot_that_is_entered() -> None:
    tournament = begun(format="swiss")
    bot = Bot.objects.get(name="bot-0")
    with pytest.raises(ValidationError, match="Give a reason"):
        competitions.disqualify(tournament=tournament, bot=bot, reason=" ")
    with pytest.raises(ValidationError, match="not entered"):
        competitions.disqualify(tournament=tournament, bot=late_bot(), reason="x")


@pytest.mark.parametrize("of", ["swiss", "round-robin"])
def test_a_late_entrant_plays_from_the_next_round_on(of: str) -> None:
    tournament = begun(bots=5, seats=3, format=of, late_entry=True)
    bot = late_bot()
    entry = competitions.enter(tournament=tournament, bot=bot)
    assert (entry.first_round, entry.rating) == (2, elo.START)
    play_round()
    competitions.advance_tournament(tournament.pk)
    seated = Block.objects.filter(bots__bot=bot).values_list("round__stage", flat=True)
    assert set(seated) == {2}
    small.run_all()
    assert again(tournament).state == "finished"
    if of == "round-robin":
        assert Counter(map(tuple, tables(tournament))).most_common(1)[0][1] == 1
        assert len(tables(tournament)) == 20  # every three of six


@pytest.mark.parametrize("of", ["swiss", "round-robin", "knockout"])
def test_without_late_entry_no_bot_enters_a_running_tournament(of: str) -> None:
    tournament = begun(bots=5, seats=3, format=of)
    with pytest.raises(ValidationError, match="Entries are not open"):
        competitions.enter(tournament=tournament, bot=late_bot())


def test_no_bot_enters_after_the_last_round_of_a_swiss_is_open() -> None:
    tournament = begun(bots=5, seats=3, format="swiss", late_entry=True, swiss_rounds=1)
    with pytest.raises(ValidationError, match="Entries are not open"):
        competitions.enter(tournament=tournament, bot=late_bot())


def test_a_tournament_that_all_bots_leave_is_over() -> None:
    for of in ("swiss", "knockout", "round-robin"):
        tournament = small.tournament(small.ladder(of, seats=3), format=of)
        if not Bot.objects.exists():
            small.bots(6)
        competitions.advance_tournament(tournament.pk)
        for bot in Bot.objects.all():
            competitions.withdraw(tournament=tournament, bot=bot)
        small.run_all()
        assert again(tournament).state == "finished"
        assert tournament.rounds.count() == 1
        assert len(tournament_standings(again(tournament))) == 6


def test_a_bot_whose_version_does_not_play_the_game_any_more_is_not_drawn() -> None:
    bot = late_bot()
    tournament = entered_by([*small.bots(4), bot], format="swiss")
    competitions.cancel_tournament(tournament=tournament)
    other = BotVersion.objects.create(bot=bot, number=2, state="ready")
    QualifyingMatch.objects.create(version=other, game="partridge", passed=True)
    assert bots.promote(other)  # it is in no tournament that goes on
    soon = timezone.now() + timedelta(seconds=2)
    competitions.restore_tournament(tournament=tournament, starts_at=soon)
    Tournament.objects.update(starts_at=timezone.now())
    competitions.advance_tournament(tournament.pk)
    assert tables(tournament)
    assert not any(bot.pk in table for table in tables(tournament))
