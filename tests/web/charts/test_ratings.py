"""Charts of ratings: from a bot's first round to the ladder's last, thinned out, never cut."""

from random import Random

import pytest
from django.utils import timezone

from engine.rating.intervals import half_width
from league.models import (
    Block,
    BlockBot,
    Bot,
    BotVersion,
    Ladder,
    Performance,
    Round,
    RoundEntry,
    Standing,
)
from tests.league import small
from web.charts import ratings as rating_charts
from web.charts.ratings import chart_of_bot, chart_of_ladder

pytestmark = pytest.mark.django_db(transaction=True)


def rounds_of(ladder: Ladder, count: int, first: int = 1) -> list[Round]:
    """Store rounds that are applied."""
    return Round.objects.bulk_create(
        Round(
            ladder=ladder,
            number=100_000 - number,  # drawn in another order
            applied_number=number,
            seed=bytes(32),
            commitment=64 * "0",
            applied_at=timezone.now(),
        )
        for number in range(first, first + count)
    )


def _place(round_: Round) -> int:
    return round_.applied_number or 0


def rate(ladder: Ladder, bot: Bot, rounds: list[Round]) -> Standing:
    """Store a bot that gains one point in each round."""
    RoundEntry.objects.bulk_create(
        RoundEntry(
            round=round_,
            applied_number=round_.applied_number or 0,
            bot=bot,
            rating_before=1_500_000 + 1000 * at,
            rating_after=1_501_000 + 1000 * at,
        )
        for at, round_ in enumerate(rounds)
    )
    Performance.objects.bulk_create(
        Performance(
            round=round_,
            bot=bot,
            elo=1500 + at,
            error=10,
            blocks=5 + at,
            matches=1,
            win_share=1,
            mean_points=1,
        )
        for at, round_ in enumerate(rounds)
    )
    return Standing.objects.create(
        ladder=ladder, bot=bot, rating=1_500_000 + 1000 * len(rounds), blocks=1, version=1
    )


def test_a_bot_without_a_block_for_a_thousand_rounds_still_has_its_chart() -> None:
    ladder, [early, late] = small.ladder(), small.bots(2)
    rounds = rounds_of(ladder, 1200)
    gone, new = rate(ladder, early, rounds[:50]), rate(ladder, late, rounds[-10:])
    history = chart_of_bot(gone)
    assert history is not None
    chart = history.chart
    assert (chart.first, chart.last) == ("before rating round 1", "after rating round 1200")
    assert [line.last for line in chart.lines] == [1550, 1549]
    assert chart.areas
    history = chart_of_bot(new)
    assert history is not None
    chart = history.chart
    assert (chart.first, chart.last) == ("before rating round 1191", "after rating round 1200")
    assert len(chart.lines[0].points.split()) == 11  # every round, as there is room
    both = chart_of_ladder(ladder, [early, late])
    assert both is not None
    assert both.first == "before rating round 1"
    assert [line.last for line in both.lines] == [1550, 1510]
    assert all(len(line.points.split()) <= 101 for line in both.lines)
    assert len(both.lines[0].points.split()) > 70


def test_without_a_rating_there_is_no_chart() -> None:
    ladder, [bot] = small.ladder(), small.bots(1)
    assert chart_of_ladder(ladder, [bot]) is None
    rounds_of(ladder, 3)
    assert chart_of_ladder(ladder, [bot]) is None


@pytest.mark.parametrize("luck", range(8))
def test_a_line_has_the_rating_after_each_round_drawn(
    luck: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rating_charts, "_POINTS", 4)
    drawn = []
    monkeypatch.setattr(rating_charts, "chart", lambda *how, **_: drawn.append(how))
    rng = Random(luck)
    ladder, elsewhere, [bot] = small.ladder(), small.ladder("other"), small.bots(1)
    rounds = rounds_of(ladder, rng.randint(1, 15))
    rate(elsewhere, bot, rounds_of(elsewhere, 5))
    rounds += rounds_of(ladder, rng.randint(1, 15), first=len(rounds) + 1)
    played = sorted(rng.sample(rounds, rng.randint(1, len(rounds))), key=_place)
    standing = rate(ladder, bot, played)
    chart_of_bot(standing)
    begins = _place(played[0])
    [(lines, first, last, [(lows, highs)])] = drawn
    assert (first, last) == (f"before rating round {begins}", f"after rating round {len(rounds)}")
    apart = -(-(len(rounds) - begins + 1) // 4)
    chosen = range(len(rounds), begins - 1, -apart)[::-1]
    due = [1500 + sum(_place(one) <= number for one in played) for number in chosen]
    assert dict(lines) == {
        "Elo": [1500, *due],
        "performance, 95 % interval": [None, *(elo - 1 for elo in due)],
    }
    widths = [half_width(10, 5 + elo - 1 - 1500) for elo in due]
    fitted = [elo - 1 for elo in due]
    assert lows == [None, *(elo - width for elo, width in zip(fitted, widths, strict=True))]
    assert highs == [None, *(elo + width for elo, width in zip(fitted, widths, strict=True))]


def test_points_name_their_round_version_and_matches() -> None:
    ladder, bots = small.ladder(), [bot.pk for bot in small.bots(3)]
    small.play_round(ladder, bots)
    second = BotVersion.objects.create(bot_id=bots[0], number=2)
    Bot.objects.filter(pk=bots[0]).update(current=second)
    small.play_round(ladder, bots)
    standing = ladder.standings.select_related("ladder", "bot").get(bot=bots[0])
    history = chart_of_bot(standing)
    assert history is not None
    after = [entry.rating_after / 1000 for entry in standing.bot.round_ledger.order_by("pk")]
    gains = [f"{after[0] - 1500:+.0f}", f"{after[1] - after[0]:+.0f}"]
    assert [mark.text for mark in history.chart.marks] == [
        f"Rating round {number}: {rating:.0f} ({gain}), version {number}, 3 matches".replace(
            "-", "−"
        )
        for number, rating, gain in zip((1, 2), after, gains, strict=True)
    ]
    line = [tuple(map(float, at.split(","))) for at in history.chart.lines[0].points.split()]
    assert [(mark.x, mark.y) for mark in history.chart.marks] == line[1:]
    assert [bound.label for bound in history.chart.bounds] == ["v2"]
    assert [(one.version, one.matches) for one in history.rounds] == [(1, 3), (2, 3)]


def test_no_more_points_are_named_than_fit_and_the_last_one_is_among_them() -> None:
    ladder, [bot] = small.ladder(), small.bots(1)
    rounds = rounds_of(ladder, 150)
    standing = rate(ladder, bot, rounds)
    blocks = Block.objects.bulk_create(
        Block(round=round_, number=0, duplicate=True, state="finished") for round_ in rounds
    )
    BlockBot.objects.bulk_create(
        BlockBot(block=block, bot=bot, version=bot.current) for block in blocks
    )
    history = chart_of_bot(standing)
    assert history is not None
    assert 30 < len(history.rounds) <= 60
    assert history.rounds[-1].entry.round == rounds[-1]


def test_the_interval_has_a_gap_while_a_new_version_has_no_error_bar() -> None:
    ladder, [bot] = small.ladder(), small.bots(1)
    standing = rate(ladder, bot, rounds_of(ladder, 9))
    Performance.objects.filter(round__applied_number__in=[4, 5]).update(error=None)
    history = chart_of_bot(standing)
    assert history is not None
    # Each point of an interval is drawn twice: low and high.
    assert [len(area.split()) for area in history.chart.areas] == [2 * 3, 2 * 4]
