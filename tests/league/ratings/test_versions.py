"""Performance, rank and band of a bot belong to its current version, whatever is played late."""

import math
from datetime import timedelta

import pytest
from django.utils import timezone

from engine.pairing import Table
from league import bots, competitions, play, ratings
from league.models import Bot, BotVersion, Fit, Ladder, Round, Standing
from league.ratings import performance
from tests.league import small
from tests.league.kept import kept

pytestmark = pytest.mark.django_db(transaction=True)


def fit_due() -> int:
    return sum(ratings.fit_round(round_id) for round_id in ratings.take_fits())


@pytest.fixture
@kept
def ladder() -> Ladder:
    """A ladder on which five bots have played six blocks each, and have a rank from six on."""
    ladder = small.ladder()
    small.bots(5)
    small.rank_from(ladder, 6)
    small.tournament(ladder)
    small.run_all()
    assert fit_due() == 1
    return ladder


def promote(bot: Bot, number: int) -> Bot:
    """Make another version of a bot current, as its owner does."""
    bots.promote(BotVersion.objects.get_or_create(bot=bot, number=number)[0])
    return Bot.objects.get(pk=bot.pk)


def numbers(bot: Bot) -> tuple[float | None, int, int | None, bool]:
    row = Standing.objects.get(bot=bot)
    return row.performance, row.performance_blocks, row.band, row.is_provisional


def open_own(ladder: Ladder, *table: Bot) -> Round:
    tables = [Table(tuple(sorted(bot.pk for bot in table)), True)]
    seed = bytes([ladder.rounds.count()]) * 32
    return competitions.open_round(ladder=ladder, tables=tables, seed=seed)


def close(round_: Round) -> None:
    for block in round_.blocks.all():
        for match in block.matches.all():
            play.play_match(match.pk, players=small.players)
    assert ratings.apply_round(round_.pk)


def test_a_new_version_has_no_rank_from_the_moment_it_becomes_current(ladder: Ladder) -> None:
    bot = ladder.standings.first().bot
    assert numbers(bot)[1:] == (6, 1, False)
    promote(bot, 2)
    assert numbers(bot) == (None, 0, None, True)
    assert competitions.rank_progress(ladder, Bot.objects.get(pk=bot.pk)) is not None
    assert fit_due() == 1
    assert numbers(bot) == (None, 0, None, True)
    assert fit_due() == 0
    others = ladder.standings.exclude(bot=bot)
    # Their bands follow from the draw.
    shown = [numbers(row.bot) for row in others]
    assert {(blocks, provisional) for _, blocks, _, provisional in shown} == {(6, False)}


def test_a_version_that_returns_has_its_rank_although_its_k_starts_anew(ladder: Ladder) -> None:
    small.tournament(ladder)
    small.run_all()
    assert fit_due() == 1
    small.rank_from(ladder, 12)
    bot, *others = [row.bot for row in ladder.standings.order_by("bot")]
    assert numbers(bot)[1:] == (12, 1, False)
    for number in (2, 1):
        bot = promote(bot, number)
        close(open_own(ladder, bot, *others[:2]))
        assert fit_due() == 1
    standing = ladder.standings.get(bot=bot)
    assert standing.blocks < 12 < standing.performance_blocks
    assert numbers(bot)[1:] == (13, 1, False)


def test_promoting_the_current_version_again_changes_nothing(ladder: Ladder) -> None:
    bot = ladder.standings.first().bot
    before = numbers(bot)
    promote(bot, 1)
    assert (numbers(bot), fit_due()) == (before, 0)


def test_an_older_version_gets_its_numbers_back_without_another_round(ladder: Ladder) -> None:
    bot = ladder.standings.first().bot
    before = numbers(bot)
    promote(bot, 2)
    fit_due()
    promote(bot, 1)
    assert numbers(bot)[1] == 0
    assert fit_due() == 1
    after = numbers(bot)
    assert after[0] == pytest.approx(before[0])
    assert after[1:] == before[1:]


def test_a_round_that_the_old_version_plays_late_leaves_the_new_versions_numbers(
    ladder: Ladder,
) -> None:
    bot, *others = (row.bot for row in ladder.standings.order_by("bot"))
    late = open_own(ladder, bot, *others[:2])
    bot = promote(bot, 2)
    close(open_own(ladder, bot, *others[2:4]))
    fit_due()
    of_new = numbers(bot)
    assert of_new[1:] == (1, None, True)
    close(late)
    assert Standing.objects.get(bot=bot).version == 1
    assert fit_due() == 1
    assert numbers(bot)[1:] == of_new[1:]
    assert Standing.objects.get(bot=bot).fitted_version == 2
    # The late block counts for its opponents.
    assert {numbers(other)[1] for other in others} == {7}


def test_a_fit_that_a_new_version_asks_for_rests_too(ladder: Ladder) -> None:
    bot = ladder.standings.first().bot
    last = Fit.objects.finished().latest("finished_at")
    Fit.objects.filter(pk=last.pk).update(
        tried_at=timezone.now() - timedelta(seconds=12), finished_at=timezone.now()
    )
    promote(bot, 2)
    assert ratings.take_fits(rest=4) == []
    Fit.objects.filter(pk=last.pk).update(
        tried_at=timezone.now() - timedelta(seconds=62),
        finished_at=timezone.now() - timedelta(seconds=50),
    )
    assert ratings.take_fits(rest=4) == [last.round_id]


def test_a_version_that_becomes_current_during_a_fit_is_fitted_next(
    ladder: Ladder, monkeypatch: pytest.MonkeyPatch
) -> None:
    bot = ladder.standings.first().bot
    Fit.objects.all().delete()
    [round_id] = ratings.take_fits()
    rank = performance._rank

    def then_promote(*args: object) -> object:
        found = rank(*args)  # type: ignore[arg-type]
        promote(bot, 2)
        return found

    monkeypatch.setattr(performance, "_rank", then_promote)
    assert ratings.fit_round(round_id)
    assert numbers(bot) == (None, 0, None, True)
    monkeypatch.setattr(performance, "_rank", rank)
    assert fit_due() == 1
    assert not Standing.objects.filter(awaits_fit=True).exists()


def test_a_bot_keeps_its_blocks_and_rank_when_all_its_opponents_change(ladder: Ladder) -> None:
    bot, *others = (row.bot for row in ladder.standings.order_by("bot"))
    before = Standing.objects.get(bot=bot)
    for other in others:
        promote(other, 2)
    assert fit_due() == 1
    after = Standing.objects.get(bot=bot)
    assert (after.performance_blocks, after.band, after.is_provisional) == (6, 1, False)
    assert {numbers(other)[1] for other in others} == {0}
    assert after.performance == pytest.approx(1500)  # the mean of the bots that have results
    assert before.performance_error is not None
    assert after.performance_error is not None
    # It depends on the deals, but with six blocks it can't double.
    assert 0.5 < after.performance_error / before.performance_error < 2
    close(open_own(ladder, *(Bot.objects.get(pk=each.pk) for each in (bot, *others[:2]))))
    assert fit_due() == 1
    assert numbers(bot)[1] == 7


def test_older_versions_that_played_last_come_first_if_a_fit_has_too_many(
    ladder: Ladder, monkeypatch: pytest.MonkeyPatch
) -> None:
    bot, *others = (row.bot for row in ladder.standings.order_by("bot"))
    close(open_own(ladder, bot, *others[:2]))
    for other in others:
        promote(other, 2)
    # One place for the bot, two for older versions: those of the last block.
    monkeypatch.setattr("league.ratings.performance_data.MAX_EXACT", len(others) + 3)
    fit_due()
    met = ladder.rounds.last().blocks.get().bots.exclude(bot=bot).values_list("bot", flat=True)
    counted = {
        block.pk
        for round_ in ladder.rounds.all()
        for block in round_.blocks.filter(bots__bot=bot)
        if block.bots.filter(bot__in=list(met)).exists()
    }
    assert math.isfinite(numbers(bot)[0] or math.nan)
    assert numbers(bot)[1] == len(counted) < 7
