"""How comparisons end: also if they can't reach a verdict, and what their pages list then."""

from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.test import Client

from league import competitions, play
from league.competitions import comparisons
from league.models import Bot, Comparison, Ladder, Match
from tests.league import small
from tests.league.competitions.test_comparisons import (
    bot,
    compared,
    ladder,
    play_on,
    players,
    soon,
)

pytestmark = pytest.mark.django_db(transaction=True)
__all__ = ["bot", "ladder", "soon"]


def test_a_comparison_whose_matches_all_become_void_ends(
    ladder: Ladder, bot: Bot, client: Client
) -> None:
    comparison = competitions.compare(bot=bot, ladder=ladder, new=2, old=1)
    for _ in range(comparisons.MAX_VOID_BLOCKS):
        competitions.advance_comparison(comparison.pk)
        for match in Match.objects.unfinished():
            play.void_match(match, "failed 3 times")
    comparison.refresh_from_db()
    assert comparison.state == Comparison.State.CANCELLED
    assert comparison.blocks.count() == comparisons.MAX_VOID_BLOCKS
    assert not Match.objects.unfinished().exists()
    page = client.get(f"/comparisons/{comparison.pk}/").content.decode()
    assert f"The last {comparisons.MAX_VOID_BLOCKS} blocks became void" in page


def test_a_deleted_bot_is_not_compared(ladder: Ladder, bot: Bot) -> None:
    stale = Bot.objects.get(pk=bot.pk)
    others = Bot.objects.house().values_list("pk", flat=True)[:2]
    small.play_round(ladder, [bot.pk, *others])
    competitions.delete_bot(bot)
    with pytest.raises(ValidationError, match="was deleted"):
        competitions.compare(bot=stale, ladder=ladder, new=2, old=1)


def test_a_comparison_ends_when_its_bot_is_deleted_as_it_starts(
    ladder: Ladder, bot: Bot, monkeypatch: pytest.MonkeyPatch
) -> None:
    others = Bot.objects.house().values_list("pk", flat=True)[:2]
    small.play_round(ladder, [bot.pk, *others])
    comparison: list[Any] = []

    def start_meanwhile(_: Any) -> bool:
        comparison.append(competitions.compare(bot=bot, ladder=ladder, new=2, old=1))
        return True

    # The deletion has looked for running comparisons already.
    monkeypatch.setattr("league.competitions.deletions.bots.has_played", start_meanwhile)
    competitions.delete_bot(Bot.objects.get(pk=bot.pk))
    competitions.advance_comparison(comparison[0].pk)
    comparison[0].refresh_from_db()
    assert comparison[0].state == Comparison.State.CANCELLED


def test_the_page_lists_no_block_that_was_finished_but_comes_after_the_verdict(
    bot: Bot, ladder: Ladder, soon: None, client: Client
) -> None:
    comparison = compared(bot, ladder)
    play_on(comparison, players(strong=2))
    counting = len(comparisons.progress(comparison).steps)
    numbers = [*comparison.blocks.order_by("number").values_list("number", flat=True)]
    newest = comparison.blocks.get(number=numbers[counting - 1])
    after = comparison.blocks.get(number=numbers[counting])
    comparison.blocks.filter(pk__in=[newest.pk, after.pk]).update(
        void=False, difference=0.5, same_moves=False
    )
    text = " ".join(client.get(f"/comparisons/{comparison.pk}/").content.decode().split())
    assert f'<td>{newest.number}</td> <td class="number">+50 %</td>' in text
    assert f"<td>{after.number}</td>" not in text
