"""What the feed stores, and for whom."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.utils import timezone
from pytest_django.fixtures import DjangoAssertNumQueries

from league import feeds, moderation, ratings
from league.feeds import follows
from league.feeds.items import sentence
from league.models import (
    Bot,
    BotVersion,
    FeedItem,
    Highlight,
    Match,
    MatchSeat,
    Round,
    Standing,
    Tournament,
)
from tests.league import small
from tests.league.kept import kept

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
@kept
def cup() -> Tournament:
    """A knockout played to its end by four bots."""
    tournament = small.tournament(small.ladder("eagles", seats=2), format="knockout")
    small.bots(4)
    small.run_all()
    tournament.refresh_from_db()
    return tournament


@pytest.fixture
def ada(cup: Tournament) -> User:
    return User.objects.create(username="ada")


def sentences() -> list[str]:
    return [sentence(item) for item in FeedItem.objects.order_by("pk")]


def test_a_tournament_gives_an_item_at_its_start_its_end_and_for_each_bot(
    cup: Tournament,
) -> None:
    feeds.write_items(timezone.now())
    found = sentences()
    assert found[0] == "A tournament has begun with 4 bots"
    [winner] = [item.bot for item in FeedItem.objects.filter(kind="placed", number=1)]
    assert f"{winner} wins the final of A tournament" in found
    assert found[-1] == f"{winner} wins A tournament"
    over = FeedItem.objects.get(kind="finished")
    assert over.match is not None
    assert over.match.block is not None
    last = Round.objects.filter(tournament=cup).order_by("number").last()
    assert over.match.block.round == last
    for item in FeedItem.objects.filter(kind="placed"):
        assert item.match is not None
        played = MatchSeat.objects.filter(bot=item.bot, match__block__round__tournament=cup)
        assert item.match == played.latest("match_id").match
    assert sum("finishes A tournament with rank" in each for each in found) == 3
    feeds.write_items(timezone.now())
    assert sentences() == found


def test_the_items_of_an_end_follow_later_decisions(cup: Tournament) -> None:
    def write() -> tuple[Bot | None, dict[str, int]]:
        feeds.write_items(timezone.now())
        places = FeedItem.objects.filter(kind="placed").values_list("bot__name", "number")
        return FeedItem.objects.get(kind="finished").bot, dict(places)

    winner, places = write()
    assert winner is not None
    moderation.disqualify(tournament=cup, bot=winner, reason="A copy.", made_by=None)
    Tournament.objects.update(finished_at=timezone.now() - timedelta(days=300))
    second, others = write()
    assert second is not None
    assert second != winner
    assert others[second.name] == 1
    assert winner.name not in others
    moderation.reinstate(tournament=cup, bot=winner, made_by=None)
    assert write() == (winner, places)


def test_the_item_of_a_new_remote_bot_names_no_version(ada: User, cup: Tournament) -> None:
    [bot] = small.bots(1, owner=ada, prefix="ada")
    Bot.objects.filter(pk=bot.pk).update(kind=Bot.Kind.REMOTE)
    bot.refresh_from_db()
    feeds.write_items(timezone.now())
    assert [sentence(item) for item in bot.feed_items.all()] == [
        "ada-0: the new remote bot is ready to play"
    ]


def test_a_bot_gives_an_item_for_a_version_its_first_rank_and_a_change_of_rank_once_a_day(
    ada: User, cup: Tournament
) -> None:
    [bot] = small.bots(1, owner=ada, prefix="ada")
    BotVersion.objects.create(bot=bot, number=2, state="checking")
    player = Bot.with_players.create(name="eve_x1y2z3", kind=Bot.Kind.PLAYER)
    BotVersion.objects.create(bot=player, number=1)
    standing = Standing.objects.create(
        ladder=cup.ladder, bot=bot, rating=9_000_000, blocks=99, version=1
    )
    Standing.objects.update(blocks=99)
    now = timezone.now()
    feeds.write_items(now)
    own = [sentence(item) for item in bot.feed_items.order_by("pk")]
    assert own == ["ada-0: version 1 is ready to play", "ada-0 gets its first rank on Eagles: 1"]
    assert FeedItem.objects.filter(kind="version").count() == 1
    for hour, rating in ((1, 1), (2, 2)):
        Standing.objects.filter(pk=standing.pk).update(rating=rating)
        feeds.write_items(now.replace(hour=0) + timedelta(days=1, hours=hour))
    assert [sentence(item) for item in bot.feed_items.filter(kind="rank")] == [
        "ada-0 falls from rank 1 to 5 on Eagles"
    ]
    Standing.objects.filter(pk=standing.pk).update(rating=9_000_000)
    feeds.write_items(now.replace(hour=0) + timedelta(days=1, hours=3))
    assert not bot.feed_items.filter(kind="rank").exists()  # it is back at its rank of that day
    Standing.objects.filter(pk=standing.pk).update(rating=1)
    feeds.write_items(now + timedelta(days=2))
    Standing.objects.filter(pk=standing.pk).update(rating=9_000_000)
    feeds.write_items(now + timedelta(days=3))
    assert sentence(bot.feed_items.latest("pk")) == "ada-0 climbs from rank 5 to 1 on Eagles"


def test_a_feed_has_what_its_account_follows_and_nothing_else(ada: User, cup: Tournament) -> None:
    feeds.write_items(timezone.now())
    assert list(feeds.feed_of(ada)) == []
    bot = Bot.objects.get(name="bot-1")
    feeds.follow(ada, bot)
    feeds.follow(ada, bot)
    assert {item.bot for item in feeds.feed_of(ada)} == {bot}
    assert {item.kind for item in feeds.feed_of(ada)} <= {"placed", "first-rank"}
    feeds.follow(ada, cup)
    assert {item.kind for item in feeds.feed_of(ada)} >= {"placed", "started", "finished"}
    assert {item.bot for item in feeds.feed_of(ada) if item.kind == "placed"} == {bot}
    assert feeds.follow_state(ada, bot) == (True, 1)
    assert feeds.follow_state(None, bot) == (False, 1)
    feeds.unfollow(ada, bot)
    assert feeds.follow_state(ada, bot) == (False, 0)
    assert {item.kind for item in feeds.feed_of(ada)} == {"started", "finished"}


def test_the_feed_of_an_owner_has_their_bots_without_following_them(
    ada: User, cup: Tournament
) -> None:
    feeds.write_items(timezone.now())
    bot = Bot.objects.get(name="bot-1")
    Bot.objects.filter(pk=bot.pk).update(owner=ada, kind=Bot.Kind.HOSTED)
    assert {item.bot for item in feeds.feed_of(ada)} == {bot}
    count = feeds.feed_of(ada).count()
    assert feeds.count_news(ada, timezone.now() - timedelta(days=1), 99) == count > 0
    feeds.follow(ada, bot)
    assert feeds.feed_of(ada).count() == count  # each item once


def test_an_account_follows_a_limited_number(
    ada: User, cup: Tournament, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(follows, "MAX_FOLLOWED", 1)
    feeds.follow(ada, cup)
    feeds.follow(ada, cup)  # nothing changes
    with pytest.raises(ValidationError, match="You follow 1 "):
        feeds.follow(ada, Bot.objects.get(name="bot-1"))


def test_writing_items_costs_no_query_a_bot(
    cup: Tournament, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    feeds.write_items(timezone.now())
    small.bots(20, prefix="more")
    for bot in Bot.objects.filter(name__startswith="more"):
        Standing.objects.create(
            ladder=cup.ladder, bot=bot, rating=1_000 * bot.pk, blocks=99, version=1
        )
    with django_assert_max_num_queries(16):
        feeds.write_items(timezone.now())


def test_a_highlight_is_an_item_of_its_bot_and_follows_the_highlight(
    ada: User, cup: Tournament
) -> None:
    def items() -> list[tuple[str, int | None]]:
        found = feeds.feed_of(ada).filter(kind="highlight")
        return [(sentence(item), item.match_id) for item in found]

    today = timezone.now().date()
    feeds.find_highlights(today)
    closest = Highlight.objects.get(kind="closest")
    feeds.write_items(timezone.now())
    assert items() == []
    feeds.follow(ada, closest.bot)
    [shown] = [item for item in items() if item[0].startswith("Closest match of")]
    assert shown[1] == closest.match_id
    before = items()
    feeds.write_items(timezone.now())
    assert items() == before
    other = Match.objects.exclude(pk=closest.match_id or 0).latest("pk")
    Highlight.objects.filter(pk=closest.pk).update(match=other)
    feeds.write_items(timezone.now())
    assert [pk for text, pk in items() if text.startswith("Closest")] == [other.pk]
    Highlight.objects.all().delete()
    feeds.write_items(timezone.now())
    assert items() == []


def test_the_item_of_an_older_highlight_goes_and_comes_back_with_its_match(
    ada: User, cup: Tournament
) -> None:
    feeds.find_highlights(timezone.now().date())
    feeds.write_items(timezone.now())
    closest = Highlight.objects.get(kind="closest")
    feeds.follow(ada, closest.bot)
    assert closest.match is not None
    block = closest.match.block
    assert block is not None
    days_later = timezone.now() + timedelta(days=3)

    def shown() -> set[int | None]:
        ratings.correct(cup.ladder_id)
        feeds.write_items(days_later)
        found = feeds.feed_of(ada).filter(kind="highlight")
        return set(found.values_list("match", flat=True))

    assert closest.match_id in shown()
    moderation.void_block(block=block, reason="A copy.", made_by=None)
    assert closest.match_id not in shown()
    moderation.restore_block(block=block, reason="Not a copy.", made_by=None)
    assert closest.match_id in shown()


def test_a_void_mark_makes_no_news_of_other_highlights_of_its_day(
    ada: User, cup: Tournament
) -> None:
    feeds.find_highlights(timezone.now().date())
    closest = Highlight.objects.get(kind="closest")
    assert closest.match is not None
    assert closest.match.block is not None
    Highlight.objects.exclude(pk=closest.pk).delete()
    other = Match.objects.finished().exclude(block=closest.match.block).latest("pk")
    Highlight.objects.create(
        day=closest.day, kind="upset", game=closest.game, bot=closest.bot, match=other, number=1
    )
    moderation.void_block(block=closest.match.block, reason="A copy.", made_by=None)
    ratings.correct(cup.ladder_id)
    feeds.write_items(timezone.now() + timedelta(days=3))
    assert not FeedItem.objects.filter(kind="highlight").exists()
