"""What only ranked bots have after a fit: a rank band and a probability of being the best."""

from typing import Any

import pytest
from django.utils import timezone

from league import ratings
from league.models import BotVersion, Fit, Ladder, Performance, Standing
from league.ratings import performance
from league.ratings.standings import standing_rows
from tests.league import small
from tests.league.kept import kept

pytestmark = pytest.mark.django_db(transaction=True)


def play_tournament(ladder: Ladder) -> None:
    small.tournament(ladder)
    small.run_all()


def fit_due() -> None:
    for round_id in ratings.take_fits():
        assert ratings.fit_round(round_id)


def begin_version_2(*standings: Standing) -> None:
    """Let bots be without a block of the version that plays."""
    for row in standings:
        row.bot.current = BotVersion.objects.create(bot=row.bot, number=2)
        row.bot.save()


@pytest.fixture
@kept
def ladder() -> Ladder:
    """A ladder on which five bots have played a tournament, and nothing is fitted."""
    ladder = small.ladder()
    small.bots(5)
    play_tournament(ladder)
    return ladder


def test_only_ranked_bots_have_a_band(ladder: Ladder) -> None:
    fit_due()
    assert set(ladder.standings.values_list("band", flat=True)) == {None}
    small.rank_from(ladder, 6)
    known = list(ladder.standings.order_by("-performance")[:3])
    begin_version_2(*ladder.standings.exclude(pk__in=[row.pk for row in known]))
    Fit.objects.all().delete()
    fit_due()
    bands = dict(ladder.standings.values_list("pk", "band"))
    ranked = [bands.pop(row.pk) for row in known]
    assert None not in ranked
    assert min(band for band in ranked if band is not None) == 1
    assert set(bands.values()) == {None}


def test_ranked_bots_share_the_probability_of_being_the_best(
    ladder: Ladder,
) -> None:
    fit_due()
    assert not ladder.standings.exclude(best_chance=None).exists()
    small.rank_from(ladder, 6)
    first, second, third, *others = ladder.standings.order_by("-performance")
    begin_version_2(*others)
    Fit.objects.all().delete()
    fit_due()
    chances = dict(ladder.standings.values_list("pk", "best_chance"))
    ranked = [chances.pop(row.pk) or 0 for row in (first, second, third)]
    assert sum(ranked) == pytest.approx(1)
    assert min(ranked) > 0
    assert set(chances.values()) == {None}
    for row in Performance.objects.all():
        assert row.best_chance == ladder.standings.get(bot=row.bot).best_chance


def test_a_bot_hidden_during_a_fit_has_neither_band_nor_chance(
    ladder: Ladder, monkeypatch: pytest.MonkeyPatch
) -> None:
    small.rank_from(ladder, 6)
    [round_id] = ratings.take_fits()
    rank = performance._rank
    best = ladder.standings.order_by("-rating").first()

    def then_hide(*args: Any) -> Any:
        found = rank(*args)
        ladder.standings.filter(pk=best.pk).update(hidden="idle", hidden_at=timezone.now())
        return found

    monkeypatch.setattr(performance, "_rank", then_hide)
    assert ratings.fit_round(round_id)
    best.refresh_from_db()
    assert (best.band, best.best_chance) == (None, None)
    others = ladder.standings.exclude(pk=best.pk).values_list("best_chance", flat=True)
    assert sum(chance or 0 for chance in others) == pytest.approx(1)


def test_a_new_version_has_no_band_before_enough_blocks_of_its_kind(
    ladder: Ladder,
) -> None:
    small.rank_from(ladder, 10)
    bot = ladder.standings.first().bot
    bot.current = BotVersion.objects.create(bot=bot, number=2)
    bot.save()
    play_tournament(ladder)
    fit_due()
    for row in ladder.standings.all():
        assert row.blocks == 12
        fitted, banded = (6, False) if row.bot == bot else (12, True)
        assert (row.performance_blocks, row.band is not None) == (fitted, banded)
    Standing.objects.update(blocks=small.RANKED_FROM)
    row = ladder.standings.get(bot=bot)
    [shown] = standing_rows(ladder, [row])
    assert (shown.rank, row.blocks_for_rank) == (None, 6)
