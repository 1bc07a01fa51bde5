"""The way of a new bot to its rank: blocks finished, in play and queued, and the time left."""

import sys
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from league import competitions, play, ratings
from league.competitions.rank_progress import usual_seconds
from league.models import Block, Bot, Ladder, Match, Round, Standing
from tests.league import small
from tests.league.competitions.placing import ada as ada
from tests.league.competitions.placing import enter
from tests.league.competitions.placing import ladder as ladder
from tests.web.pages import page

pytestmark = pytest.mark.django_db(transaction=True)


def progress(ladder: Ladder, bot: Bot) -> tuple[int, int, int]:
    found = competitions.rank_progress(ladder, Bot.objects.get(pk=bot.pk))
    assert found is not None
    assert found.needed == small.RANKED_FROM
    return found.finished, found.playing, found.queued


def test_the_way_to_a_rank_counts_blocks_apart_and_estimates_the_time(
    ladder: Ladder, ada: User
) -> None:
    [bot] = enter(ladder, ada)
    assert progress(ladder, bot) == (0, 0, 0)
    first, second, *_ = competitions.open_placements(ladder.pk)
    assert progress(ladder, bot) == (0, 0, small.RANKED_FROM)
    block, other = first.blocks.get(), second.blocks.earliest("number")
    for match in block.matches.all():
        play.play_match(match.pk, players=small.players)
    play.play_match(other.matches.earliest("pk").pk, players=small.players)
    assert progress(ladder, bot) == (1, 1, small.RANKED_FROM - 2)
    Round.objects.update(opened_at=timezone.now() - timedelta(seconds=10))
    over = ladder.seats + 1
    left = small.RANKED_FROM * ladder.seats - over
    found = competitions.rank_progress(ladder, bot)
    assert found is not None
    played = over / (over + left)
    at_first, by_pace = 25 - 10, 10 * left / over  # the last match ended just now
    expected = (1 - played) * at_first + played * by_pace
    assert found.seconds_left == pytest.approx(expected, rel=0.1)
    small.run_all()
    for round_id in ratings.take_fits():
        ratings.fit_round(round_id)
    assert competitions.rank_progress(ladder, Bot.objects.get(pk=bot.pk)) is None


def test_blocks_beyond_those_that_a_rank_needs_do_not_count(ladder: Ladder, ada: User) -> None:
    [bot] = enter(ladder, ada)
    enter(ladder, User.objects.create(username="zoe"), "zoe")
    competitions.open_placements(ladder.pk)
    # The placement of the other bot draws this one too.
    assert sum(competitions.count_blocks(ladder, bot)) > small.RANKED_FROM
    assert progress(ladder, bot) == (0, 0, small.RANKED_FROM)
    for match in Match.objects.filter(block__bots__bot=bot):
        play.play_match(match.pk, players=small.players)
    assert progress(ladder, bot) == (small.RANKED_FROM, 0, 0)
    standing = Standing(ladder=ladder, bot=Bot.objects.get(pk=bot.pk), blocks=0)
    assert competitions.describe_next_block(standing) == (
        "A rank needs 20 blocks; finished: 20, in play: 0, waiting to begin: 0. The league "
        "computes its rank."
    )


def test_while_no_match_ends_the_estimate_falls(ladder: Ladder, ada: User) -> None:
    [bot] = enter(ladder, ada)
    first, *_ = competitions.open_placements(ladder.pk)
    for match in Match.objects.filter(block=first.blocks.earliest("number")):
        play.play_match(match.pk, players=small.players)
    estimates = []
    for ago in (0, 4, 8):
        ended = timezone.now() - timedelta(seconds=ago)
        Round.objects.update(opened_at=ended - timedelta(seconds=90))
        Match.objects.exclude(finished_at=None).update(finished_at=ended)
        found = competitions.rank_progress(ladder, bot)
        assert found is not None
        assert found.seconds_left is not None
        estimates.append(found.seconds_left)
    assert estimates[0] > estimates[1] > estimates[2]


def test_rounds_that_are_rated_already_count_in_the_pace(ladder: Ladder, ada: User) -> None:
    [bot] = enter(ladder, ada)
    competitions.open_placements(ladder.pk)
    first = Round.objects.filter(placed=bot).earliest("pk")
    opened = timezone.now() - timedelta(seconds=30)
    Round.objects.filter(placed=bot).update(opened_at=opened)
    for match in Match.objects.filter(block__round=first):
        play.play_match(match.pk, players=small.players)
    before = competitions.rank_progress(ladder, bot)
    assert ratings.apply_round(first.pk)
    Round.objects.filter(pk=first.pk).update(opened_at=opened - timedelta(seconds=2))
    after = competitions.rank_progress(ladder, bot)
    assert before is not None
    assert after is not None
    assert before.seconds_left is not None
    assert after.seconds_left == pytest.approx(before.seconds_left, rel=0.2)


def test_before_the_first_match_the_estimate_is_the_time_of_the_last_new_bot(
    ladder: Ladder, ada: User
) -> None:
    [first] = enter(ladder, ada)
    competitions.open_placements(ladder.pk)
    small.run_all()
    opened = timezone.now() - timedelta(seconds=200)
    Round.objects.filter(placed=first).update(opened_at=opened)
    ended = opened + timedelta(seconds=79)
    Match.objects.finished().update(started_at=opened, finished_at=ended)
    last = Round.objects.filter(placed=first).order_by("-applied_number").first()
    assert last is not None
    Round.objects.filter(pk=last.pk).update(applied_at=opened + timedelta(seconds=80))
    Round.objects.filter(placed=first).exclude(pk=last.pk).update(applied_at=opened)
    [other] = small.bots(1, owner=User.objects.create_user("zoe"), prefix="zoe")
    competitions.enter_ladder(ladder=ladder, bot=other)
    found = competitions.rank_progress(ladder, other)
    assert found is not None
    assert found.seconds_left == pytest.approx(80)
    competitions.open_placements(ladder.pk)
    Round.objects.filter(placed=other).update(opened_at=timezone.now() - timedelta(seconds=30))
    found = competitions.rank_progress(ladder, other)
    assert found is not None
    assert found.seconds_left == pytest.approx(50, abs=10)


def test_placements_at_the_same_time_share_the_workers(ladder: Ladder, ada: User) -> None:
    zoe, eva = (User.objects.create(username=name) for name in ("zoe", "eva"))
    [bot] = enter(ladder, ada)
    assert seconds_left(ladder, bot) == pytest.approx(25)
    enter(ladder, zoe, "zoe")
    enter(ladder, ada, "second")  # it waits for the first bot of its owner
    assert seconds_left(ladder, bot) == pytest.approx(50)
    competitions.open_placements(ladder.pk)
    assert seconds_left(ladder, bot) == pytest.approx(50, abs=5)
    Round.objects.update(opened_at=timezone.now() - timedelta(seconds=25))
    half = small.RANKED_FROM * ladder.seats // 2
    for placed in ("ada-0", "zoe-0"):
        for match in Match.objects.filter(block__round__placed__name=placed)[:half]:
            play.play_match(match.pk, players=small.players)
    assert seconds_left(ladder, bot) == pytest.approx(25, rel=0.2)
    enter(ladder, eva, "eva")
    assert seconds_left(ladder, bot) > 31


def test_the_pace_of_placements_that_shared_the_workers_counts_their_matches(
    ladder: Ladder, ada: User
) -> None:
    for name in ("zoe", "eva"):
        enter(ladder, User.objects.create(username=name), name)
    competitions.open_placements(ladder.pk)
    small.run_all()
    began = timezone.now() - timedelta(seconds=300)
    Round.objects.filter(placed__isnull=False).update(
        opened_at=began, applied_at=began + timedelta(seconds=150)
    )
    Match.objects.finished().update(finished_at=began + timedelta(seconds=149))
    [bot] = enter(ladder, ada)
    assert usual_seconds(ladder, bot) == pytest.approx(150 / 2, rel=0.1)


def test_the_estimate_follows_how_long_matches_take_now(
    ladder: Ladder, ada: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first bots of a ladder meet slow house bots, the next ones meet each other."""
    enter(ladder, User.objects.create(username="zoe"), "zoe")
    competitions.open_placements(ladder.pk)
    small.run_all()
    began = timezone.now() - timedelta(seconds=300)
    placed = Round.objects.filter(placed__isnull=False)
    placed.update(opened_at=began, applied_at=began + timedelta(seconds=40))
    ended = began + timedelta(seconds=39)
    Match.objects.finished().update(started_at=ended - timedelta(seconds=4), finished_at=ended)
    [bot] = enter(ladder, ada)
    assert usual_seconds(ladder, bot) == pytest.approx(40, rel=0.1)
    before = set(Match.objects.values_list("pk", flat=True))
    Ladder.objects.update(idle_pause_seconds=0)
    for _ in range(5):
        competitions.open_ladder_round(ladder.pk)
        small.run_all()
    quick = Match.objects.exclude(pk__in=before)
    later = ended + timedelta(hours=1)
    quick.update(started_at=later - timedelta(seconds=1), finished_at=later)
    assert usual_seconds(ladder, bot) == pytest.approx(10, rel=0.1)
    # A round of a large ladder has many blocks: only the newest ones count.
    newest = Block.objects.filter(matches__in=quick).latest("pk")
    monkeypatch.setattr(sys.modules[usual_seconds.__module__], "_NEWEST_BLOCKS", 1)
    newest.matches.update(started_at=later - timedelta(seconds=2))
    assert usual_seconds(ladder, bot) == pytest.approx(20, rel=0.1)


def play_rounds(ladder: Ladder, matches: int) -> None:
    """Play the ladder's own rounds, until it has so many matches."""
    Ladder.objects.update(idle_pause_seconds=0)  # else the loop waits for the next round
    while Match.objects.finished().count() < matches:
        competitions.open_ladder_round(ladder.pk)
        small.run_all()


def seconds_left(ladder: Ladder, bot: Bot) -> float:
    found = competitions.rank_progress(ladder, bot)
    assert found is not None
    assert found.seconds_left is not None
    return found.seconds_left


def test_on_a_new_ladder_the_estimate_follows_the_pace_of_busy_workers(
    ladder: Ladder, ada: User
) -> None:
    play_rounds(ladder, 20)
    [bot] = enter(ladder, ada)
    now, played = timezone.now(), Match.objects.finished()
    ago = {"started_at": now - timedelta(seconds=50), "finished_at": now - timedelta(seconds=10)}
    played.update(**ago)
    pace = 50 / played.count()
    matches = small.RANKED_FROM * ladder.seats
    assert seconds_left(ladder, bot) == pytest.approx(max(25, matches * pace), rel=0.1)
    competitions.open_ladder_round(ladder.pk)
    # Workers play a match of others after each match of the placement.
    others = min(matches, Match.objects.unfinished().count())
    assert others
    assert seconds_left(ladder, bot) == pytest.approx((matches + others) * pace, rel=0.1)


def test_on_a_new_ladder_the_estimate_does_not_jump_with_the_number_of_matches(
    ladder: Ladder, ada: User
) -> None:
    [bot] = enter(ladder, ada)
    assert usual_seconds(ladder, bot) == 25
    estimates = []
    for count in (2, 18, 24):
        play_rounds(ladder, count)
        now = timezone.now()
        for number, match in enumerate(Match.objects.finished(), start=1):
            ended = now - timedelta(seconds=2 * (number % 24))
            Match.objects.filter(pk=match.pk).update(
                started_at=ended - timedelta(seconds=2), finished_at=ended
            )
        estimates.append(usual_seconds(ladder, bot))
    matches = small.RANKED_FROM * ladder.seats
    assert estimates == [pytest.approx(2 * matches, rel=0.1)] * 3


def test_page_and_api_show_the_way_to_a_rank(client: Client, ladder: Ladder, ada: User) -> None:
    [bot] = enter(ladder, ada)
    assert "Its first blocks come next" in page(client, f"/bots/{bot.name}/")
    competitions.open_placements(ladder.pk)
    assert "No rating yet. Its first match begins in about 10 s" in page(
        client, f"/bots/{bot.name}/"
    )
    entry = client.get(f"/api/v1/ladders/quick/entries/{bot.name}").json()
    assert entry["rank_progress"] == {
        "needed": small.RANKED_FROM,
        "finished": 0,
        "playing": 0,
        "queued": small.RANKED_FROM,
        "seconds_left": pytest.approx(25, abs=5),
    }
    counts = [entry[f"blocks_{state}"] for state in ("queued", "playing", "finished")]
    assert counts == [ladder.ranked_from, 0, 0]
