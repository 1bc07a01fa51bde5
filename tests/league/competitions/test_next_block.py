"""The sentences about the next block of a bot that is being placed."""

import pytest
from django.contrib.auth.models import User

from league import competitions, play, ratings
from league.competitions import next_block
from league.models import Bot, Ladder, Match, Round, Standing
from tests.league import small
from tests.league.competitions.placing import ada as ada
from tests.league.competitions.placing import enter, remote
from tests.league.competitions.placing import ladder as ladder

pytestmark = pytest.mark.django_db(transaction=True)


def test_the_next_block_of_a_placed_bot_is_described(ladder: Ladder, ada: User) -> None:
    [bot] = enter(ladder, ada)
    competitions.open_placements(ladder.pk)
    text = competitions.describe_next_block(Standing(ladder=ladder, bot=bot, blocks=0))
    assert text == (
        "Its first match begins in about 10 s. Its blocks are played before most blocks of other "
        "bots. A rank needs 20 blocks; finished: 0, in play: 0, waiting to begin: 20. It has a "
        "rank in about 30 s."
    )


def test_a_bot_that_is_drawn_meanwhile_does_not_wait_for_its_own_placement(
    ladder: Ladder, ada: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    [bot] = enter(ladder, ada)

    def found_waiting(*_: object) -> int:
        competitions.open_placements(ladder.pk)
        return 0

    monkeypatch.setattr(next_block, "bots_before", found_waiting)
    text = competitions.describe_next_block(Standing(ladder=ladder, bot=bot, blocks=0))
    assert "Its first match begins in about 10 s." in text


def test_of_a_bot_with_all_blocks_for_a_rank_no_other_blocks_are_described(
    ladder: Ladder, ada: User
) -> None:
    [bot] = enter(ladder, ada)
    competitions.open_placements(ladder.pk)
    for match in Match.objects.all():
        play.play_match(match.pk, players=small.players)
    for round_ in Round.objects.open():
        assert ratings.apply_round(round_.pk)
    Standing.objects.filter(bot=bot).update(blocks=0)  # another fit is still to come
    text = competitions.describe_next_block(Standing.objects.get(ladder=ladder, bot=bot))
    assert text == (
        "A rank needs 20 blocks; finished: 20, in play: 0, waiting to begin: 0. The league "
        "computes its rank."
    )


def test_of_a_remote_bot_it_is_described_how_many_blocks_are_played_at_a_time(
    ladder: Ladder, ada: User
) -> None:
    [bot] = enter(ladder, ada)
    remote(bot)
    standing = Standing(ladder=ladder, bot=Bot.objects.get(pk=bot.pk), blocks=0)
    assert competitions.describe_next_block(standing) == (
        "Its first blocks come next, two at a time. They are played before most blocks of other "
        "bots. Its first match begins in about 10 s. A rank needs 20 blocks. If its program "
        "answers at once, it has a rank in about 50 s."
    )
    competitions.open_placements(ladder.pk)
    Match.objects.filter(pk=Match.objects.earliest("pk").pk).update(status=Match.Status.PLAYING)
    assert competitions.describe_next_block(standing) == (
        "Its first blocks are played now, two at a time, before most blocks of other bots. A rank "
        "needs 20 blocks; finished: 0, in play: 1, waiting to begin: 1, not planned yet: 18. "
        "If its program answers at once, it has a rank in about 50 s."
    )


@pytest.mark.parametrize("is_rated", [True, False])
def test_between_its_pairs_of_blocks_a_remote_bots_finished_blocks_are_described(
    ladder: Ladder, ada: User, *, is_rated: bool
) -> None:
    [bot] = enter(ladder, ada)
    remote(bot)
    [round_] = competitions.open_placements(ladder.pk)
    Match.objects.update(live=False)  # a worker can then play them
    for match in Match.objects.all():
        play.play_match(match.pk, players=small.players)
    if is_rated:
        assert ratings.apply_round(round_.pk)
    assert Round.objects.open().filter(placed=bot).exists() != is_rated
    standing = Standing(ladder=ladder, bot=Bot.objects.get(pk=bot.pk), blocks=0)
    assert competitions.describe_next_block(standing) == (
        "The league draws its next blocks now, two at a time. A rank needs 20 blocks; finished: 2, "
        "in play: 0, waiting to begin: 0, not planned yet: 18. At this pace, it has a "
        "rank in about 50 s."
    )


def test_of_an_offline_bot_it_is_described_what_its_rank_depends_on(
    ladder: Ladder, ada: User
) -> None:
    [bot] = enter(ladder, ada)
    remote(bot, silent_for=300)
    standing = Standing(ladder=ladder, bot=Bot.objects.get(pk=bot.pk), blocks=0)
    assert competitions.describe_next_block(standing) == (
        "It is offline: it asked for no turns in the last 60 s, so it gets no matches. Start its "
        "program. Its first match then begins in about 10 s. A rank needs 20 blocks. If the "
        "program answers at once, it has a rank in about 50 s."
    )


@pytest.mark.parametrize("stop", ["bot", "ladder", "house"])
def test_of_a_bot_that_is_stopped_the_reason_and_its_blocks_are_described(
    ladder: Ladder, ada: User, stop: str
) -> None:
    [bot] = enter(ladder, ada)
    first, *_ = competitions.open_placements(ladder.pk)
    for match in Match.objects.filter(block=first.blocks.earliest("number")):
        play.play_match(match.pk, players=small.players)
    match stop:
        case "bot":
            Bot.objects.filter(pk=bot.pk).update(paused=True)
            reason = "Its owner has paused it."
        case "ladder":
            Ladder.objects.update(paused=True)
            reason = "The ladder is paused."
        case _:
            Round.objects.update(placed=None)  # only rounds of the ladder draw it
            Bot.objects.filter(owner=None).update(paused=True)
            reason = (
                "It waits for more bots: a table has 3 seats, and 1 of this ladder's bots can play "
                "now."
            )
    standing = Standing(
        ladder=Ladder.objects.get(), bot=Bot.objects.select_related("current").get(pk=bot.pk)
    )
    assert competitions.describe_next_block(standing) == (
        f"{reason} A rank needs 20 blocks; finished: 1, in play: 0, waiting to begin: 19."
    )


def test_of_a_ranked_bot_that_is_paused_only_the_reason_is_described(
    ladder: Ladder, ada: User
) -> None:
    [bot] = enter(ladder, ada)
    competitions.open_placements(ladder.pk)
    small.run_all()
    for round_id in ratings.take_fits():
        ratings.fit_round(round_id)
    Bot.objects.filter(pk=bot.pk).update(paused=True)
    standing = Standing.objects.get(bot=bot)
    assert competitions.describe_next_block(standing) == "Its owner has paused it."
