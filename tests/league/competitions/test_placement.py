"""Placement: the first blocks of a bot are drawn at once and played before others."""

from datetime import timedelta

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.db.models import F
from django.test import Client
from django.utils import timezone

from league import competitions, moderation, play, ratings, tasks
from league.competitions import ladder_rounds, next_block, placement
from league.models import Block, Bot, Ladder, LadderEntry, Match, Performance, Round, Standing
from tests.league import small
from tests.league.competitions.placing import ada as ada
from tests.league.competitions.placing import enter, remote
from tests.league.competitions.placing import ladder as ladder
from tests.web.pages import page

pytestmark = pytest.mark.django_db(transaction=True)


def blocks_of(bot: Bot) -> int:
    return Block.objects.filter(bots__bot=bot, round__placed=bot).count()


def test_a_new_bot_gets_all_blocks_for_its_rank_at_once(ladder: Ladder, ada: User) -> None:
    [bot] = enter(ladder, ada)
    assert competitions.ladders_to_place_on() == [ladder.pk]
    opened = competitions.open_placements(ladder.pk)
    assert [round_.blocks.count() for round_ in opened] == [1, 2, 4, 4, 4, 4, 1]
    assert {round_.placed for round_ in opened} == {bot}
    assert blocks_of(bot) == small.RANKED_FROM
    assert competitions.ladders_to_place_on() == []
    assert competitions.open_placements(ladder.pk) == []


def test_placement_draws_the_blocks_that_the_ladder_asks_for(ladder: Ladder, ada: User) -> None:
    small.rank_from(ladder, 6)
    [bot] = enter(ladder, ada)
    opened = competitions.open_placements(ladder.pk)
    assert [round_.blocks.count() for round_ in opened] == [1, 2, 3]
    found = competitions.rank_progress(ladder, bot)
    assert found is not None
    assert (found.needed, found.queued) == (6, 6)
    small.run_all()
    for round_id in ratings.take_fits():
        ratings.fit_round(round_id)
    standing = Standing.objects.get(bot=bot)
    assert (standing.blocks, standing.is_provisional, standing.band) == (6, False, 1)
    assert competitions.rank_progress(ladder, bot) is None
    small.rank_from(ladder, 8)
    opened = competitions.open_placements(ladder.pk)
    assert [round_.blocks.count() for round_ in opened] == [2]


def test_a_placed_bot_has_a_rank_once_its_blocks_are_played(ladder: Ladder, ada: User) -> None:
    [bot] = enter(ladder, ada)
    competitions.open_placements(ladder.pk)
    small.run_all()
    for round_id in ratings.take_fits():
        ratings.fit_round(round_id)
    standing = ladder.standings.get(bot=bot)
    assert not standing.is_provisional
    assert standing.band is not None
    assert standing.blocks == standing.performance_blocks == small.RANKED_FROM
    assert competitions.ladders_to_place_on() == []


def test_house_bots_are_not_placed(ladder: Ladder) -> None:
    assert competitions.ladders_to_place_on() == []


def test_a_new_version_is_placed_again(ladder: Ladder, ada: User) -> None:
    [bot] = enter(ladder, ada)
    competitions.open_placements(ladder.pk)
    small.run_all()
    for round_id in ratings.take_fits():
        ratings.fit_round(round_id)
    bot.current = bot.versions.create(number=2)
    bot.save()
    assert competitions.ladders_to_place_on() == [ladder.pk]
    opened = competitions.open_placements(ladder.pk)
    assert sum(round_.blocks.count() for round_ in opened) == small.RANKED_FROM


def test_blocks_that_became_void_are_drawn_again(ladder: Ladder, ada: User) -> None:
    enter(ladder, ada)
    opened = competitions.open_placements(ladder.pk)
    play.void_unfinished_block(opened[0].blocks.earliest("number").pk)
    assert competitions.ladders_to_place_on() == []  # the placement goes on
    small.run_all()
    [again] = competitions.open_placements(ladder.pk)
    assert again.blocks.count() == 1


def test_an_owner_has_one_bot_placed_at_a_time(ladder: Ladder, ada: User) -> None:
    bots = enter(ladder, ada, count=2)
    bert = User.objects.create(username="bert")
    [other] = enter(ladder, bert, "bert")
    competitions.open_placements(ladder.pk)
    assert [blocks_of(bot) for bot in [*bots, other]] == [small.RANKED_FROM, 0, small.RANKED_FROM]
    small.run_all()
    competitions.open_placements(ladder.pk)
    assert blocks_of(bots[1]) > 0


def test_only_so_many_bots_are_placed_at_a_time(
    ladder: Ladder, ada: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(placement, "MAX_PLACED", 1)
    [first] = enter(ladder, ada)
    [second] = enter(ladder, User.objects.create(username="bert"), "bert")
    competitions.open_placements(ladder.pk)
    assert (blocks_of(first), blocks_of(second)) == (small.RANKED_FROM, 0)


def test_a_remote_bot_is_placed_a_few_blocks_at_a_time_while_it_is_online(
    ladder: Ladder, ada: User
) -> None:
    [bot] = enter(ladder, ada)
    remote(bot, silent_for=90)
    assert competitions.ladders_to_place_on() == []
    remote(bot)
    [round_] = competitions.open_placements(ladder.pk)
    assert round_.blocks.count() == placement.REMOTE_BLOCKS
    assert not round_.blocks.filter(duplicate=True).exists()
    assert competitions.ladders_to_place_on() == []


@pytest.mark.parametrize("why", ["paused bot", "paused ladder", "quarantine", "too few"])
def test_a_bot_that_cannot_play_is_not_placed(ladder: Ladder, ada: User, why: str) -> None:
    [bot] = enter(ladder, ada)
    match why:
        case "paused bot":
            Bot.objects.filter(pk=bot.pk).update(paused=True)
        case "paused ladder":
            Ladder.objects.update(paused=True)
        case "quarantine":
            olga = User.objects.create(username="olga", is_staff=True)
            moderation.quarantine_bot(bot=bot, reason="floods", made_by=olga)
        case "too few":
            ladder.entries.exclude(bot=bot).order_by("pk").first().delete()
            ladder.entries.exclude(bot=bot).order_by("pk").first().delete()
            ladder.entries.exclude(bot=bot).order_by("pk").first().delete()
    assert competitions.open_placements(ladder.pk) == []
    assert not Round.objects.exists()


def test_the_tick_queues_placement_first_and_apart(
    ladder: Ladder, ada: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    competitions.open_ladder_round(ladder.pk)
    sent: list[tuple[int, str]] = []
    monkeypatch.setattr(
        tasks.play_match,
        "apply_async",
        lambda args, queue: sent.append((args[0], queue)),
    )
    [bot] = enter(ladder, ada)
    tasks.tick()
    queues = dict(sent)
    placing = set(Match.objects.filter(block__round__placed=bot).values_list("pk", flat=True))
    assert {queues[pk] for pk in queues.keys() & placing} == {"placement"}
    assert {queues[pk] for pk in queues.keys() - placing} == {"play"}
    assert settings.PLAY_QUEUES == ("placement", "play")


def queued(bot: Bot) -> tuple[int, int]:
    """Return how many due matches are claimed: of the placement, and of other rounds."""
    due = play.claim_due_hosted()
    first = play.played_first(due)
    return len(first), len(due) - len(first)


def test_placement_alone_takes_the_whole_queue(ladder: Ladder, ada: User) -> None:
    [bot] = enter(ladder, ada)
    competitions.open_placements(ladder.pk)
    assert queued(bot) == (8, 0)


def test_placement_leaves_half_of_the_workers_to_others(ladder: Ladder, ada: User) -> None:
    competitions.open_ladder_round(ladder.pk)
    [bot] = enter(ladder, ada)
    competitions.open_placements(ladder.pk)
    first, others = queued(bot)
    assert (first, others > 0) == (1, True)
    assert queued(bot)[0] == 0  # one waits already


def test_the_ladders_own_rounds_wait_for_placement(ladder: Ladder, ada: User) -> None:
    competitions.open_ladder_round(ladder.pk)
    small.run_all()
    enter(ladder, ada)
    assert competitions.ladders_to_pair() == [ladder.pk]
    competitions.open_placements(ladder.pk)
    assert competitions.ladders_to_pair() == []
    small.run_all()
    assert competitions.ladders_to_pair() == [ladder.pk]


def test_an_opponents_blocks_count_too(ladder: Ladder, ada: User) -> None:
    [bot] = enter(ladder, ada)
    competitions.open_placements(ladder.pk)
    small.run_all()
    house = Standing.objects.exclude(bot=bot)
    assert sum(house.values_list("blocks", flat=True)) == small.RANKED_FROM * (ladder.seats - 1)
    assert Performance.objects.count() == 0


def test_pages_and_the_api_show_whose_first_blocks_a_round_has(
    client: Client, ladder: Ladder, ada: User
) -> None:
    [bot] = enter(ladder, ada)
    number = competitions.open_placements(ladder.pk)[0].number
    assert "first blocks of" in page(client, "/ladders/quick/?view=statistics")
    shown = " ".join(page(client, f"/ladders/quick/rounds/{number}/").split())
    assert f'first blocks of the bot <a href="/bots/{bot.name}/' in shown
    rounds = client.get("/api/v1/ladders/quick/rounds").json()["results"]
    assert {round_["placed"] for round_ in rounds} == {bot.name}


def test_slow_opponents_are_met_less_often(ladder: Ladder, ada: User) -> None:
    slow = Bot.objects.get(name="bot-3")
    small.tournament(ladder)
    small.run_all()
    finished_at = F("started_at") + timedelta(seconds=1)
    Match.objects.update(finished_at=finished_at)
    Match.objects.filter(seating__bot=slow).update(finished_at=finished_at + timedelta(seconds=8))
    [bot] = enter(ladder, ada)
    competitions.open_placements(ladder.pk)
    blocks = Block.objects.filter(round__placed=bot)
    assert 0 < blocks.filter(bots__bot=slow).count() < blocks.count() / 4


@pytest.mark.parametrize("why", ["version", "left"])
def test_a_placement_that_is_no_longer_wanted_ends(ladder: Ladder, ada: User, why: str) -> None:
    [bot] = enter(ladder, ada)
    first, *_ = competitions.open_placements(ladder.pk)
    begun = first.blocks.earliest("number")
    play.play_match(begun.matches.earliest("pk").pk, players=small.players)
    if why == "version":
        bot.current = bot.versions.create(number=2)
        bot.save()
    else:
        competitions.leave_ladder(ladder=ladder, bot=bot)
    assert competitions.ladders_to_place_on() == [ladder.pk]
    competitions.open_placements(ladder.pk)
    old = Block.objects.filter(bots__version__number=1, round__placed=bot)
    assert set(old.exclude(pk=begun.pk).values_list("state", flat=True)) == {"void"}
    begun.refresh_from_db()
    assert begun.state == "playing"
    assert competitions.ladders_to_place_on() == []
    small.run_all()
    new = Block.objects.filter(bots__version__number=2, round__placed=bot)
    competitions.open_placements(ladder.pk)
    assert new.count() == (small.RANKED_FROM if why == "version" else 0)


def test_a_version_whose_blocks_become_void_is_not_placed_without_end(
    ladder: Ladder, ada: User
) -> None:
    enter(ladder, ada)
    for _ in range(3):
        for round_ in competitions.open_placements(ladder.pk):
            for block in round_.blocks.all():
                block.matches.update(attempts=1)
                play.void_unfinished_block(block.pk)
        ratings_applied = Round.objects.open()
        assert not ratings_applied.exclude(blocks__state="void").exists()
        small.run_all()
    assert Block.objects.count() == small.RANKED_FROM
    assert competitions.ladders_to_place_on() == []


def test_a_bot_that_left_and_came_back_is_placed(ladder: Ladder, ada: User) -> None:
    [bot] = enter(ladder, ada)
    assert competitions.open_placements(ladder.pk)
    competitions.leave_ladder(ladder=ladder, bot=bot)
    competitions.open_placements(ladder.pk)
    assert not Block.objects.exclude(state="void").exists()
    small.run_all()
    competitions.enter_ladder(ladder=ladder, bot=bot)
    assert competitions.open_placements(ladder.pk)
    small.run_all()
    placed = Block.objects.filter(state="finished", round__placed=bot)
    assert placed.count() == small.RANKED_FROM


def test_bots_without_a_rating_are_placed_before_new_versions_and_then_by_time(
    ladder: Ladder, ada: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(placement, "MAX_PLACED", 0)
    monkeypatch.setattr(next_block, "MAX_PLACED", 1)
    [rated] = enter(ladder, ada)
    [late] = enter(ladder, User.objects.create(username="bert"), "bert")
    [early] = enter(ladder, User.objects.create(username="cleo"), "cleo")
    Standing.objects.create(ladder=ladder, bot=rated, version=1, rating=1_500_000, blocks=3)
    LadderEntry.objects.filter(bot=late).update(entered_at=timezone.now() + timedelta(hours=1))
    before = [placement.bots_before(ladder, bot) for bot in (early, late, rated)]
    assert before == [0, 1, 2]
    text = competitions.describe_next_block(Standing(ladder=ladder, bot=late, blocks=0))
    # One bot is placed at a time, and its placement takes 25 s.
    assert text == (
        "Its first blocks come soon, after those of 1 other bot. Its first match begins in about "
        "30 s. A rank needs 20 blocks. It has a rank in about 50 s."
    )


def test_remote_and_hosted_bots_have_places_of_their_own(
    ladder: Ladder, ada: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(placement, "MAX_PLACED", 1)
    [slow] = enter(ladder, ada)
    remote(slow)
    [hosted] = enter(ladder, User.objects.create(username="bert"), "bert")
    competitions.open_placements(ladder.pk)
    assert (blocks_of(slow), blocks_of(hosted)) == (placement.REMOTE_BLOCKS, small.RANKED_FROM)


def test_a_remote_bot_in_a_live_match_is_not_placed(ladder: Ladder, ada: User) -> None:
    [bot] = enter(ladder, ada)
    remote(bot)
    competitions.open_ladder_round(ladder.pk)
    assert Match.objects.filter(live=True, seating__bot=bot).exists()
    assert competitions.ladders_to_place_on() == []


def test_own_rounds_go_on_if_placement_never_ends(ladder: Ladder, ada: User) -> None:
    competitions.open_ladder_round(ladder.pk)
    small.run_all()
    enter(ladder, ada)
    competitions.open_placements(ladder.pk)
    assert competitions.ladders_to_pair() == []
    first = timezone.now() - ladder_rounds.PLACEMENT_FIRST
    Round.objects.filter(placed=None).update(opened_at=first)
    assert competitions.ladders_to_pair() == [ladder.pk]


def test_a_placement_has_no_more_blocks_than_a_round(ladder: Ladder, ada: User) -> None:
    Ladder.objects.update(max_blocks_per_round=2)
    enter(ladder, ada)
    opened = competitions.open_placements(ladder.pk)
    assert [round_.blocks.count() for round_ in opened] == [1, *[2] * 9, 1]
