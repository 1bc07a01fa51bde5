"""The search over bots, matches and tournaments, and filters of lists with unknown values."""

import re
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from engine.games.titles import GAME_TITLES
from league.models import (
    Block,
    Bot,
    FeedItem,
    Ladder,
    Match,
    MatchAnalysis,
    Standing,
    Tournament,
)
from tests.league import small
from tests.web.pages import page, queries, words_of

pytestmark = pytest.mark.django_db(transaction=True)


def test_the_search_finds_bots_their_matches_and_tournaments(
    client: Client, played: Tournament
) -> None:
    Tournament.objects.filter(pk=played.pk).update(title="Cup of bot-1")
    text = page(client, "/search/?q=BOT-1")
    assert 'href="/bots/bot-1/"' in text
    assert 'href="/bots/bot-2/"' not in text
    assert 'class="match-link" href="/matches/' in text
    assert f'href="/tournaments/{played.pk}/"' in text
    assert 'href="/matches/?q=BOT-1"' in text  # more matches than the search shows


def test_the_search_lists_matches_with_a_result_before_hidden_ones(
    client: Client, played: Tournament
) -> None:
    hidden = Match.objects.latest("pk").block
    assert hidden is not None
    Block.objects.filter(pk=hidden.pk).update(state=Block.State.PLAYING)
    text = page(client, "/search/?q=bot-")
    assert "result hidden" not in text
    assert text.count('class="match-link" href="/matches/') == 5
    Block.objects.exclude(pk=hidden.pk).update(state=Block.State.PLAYING)
    assert "result hidden" in page(client, "/search/?q=bot-")


def test_the_search_says_what_it_finds_and_when_it_finds_nothing(client: Client) -> None:
    empty = page(client, "/search/")
    assert "Enter a part of a bot’s name" in empty
    assert '<input id="q" type="search" name="q"' in empty
    nothing = page(client, "/search/?q=%3Cnothing%3E")
    assert "No bot, match or tournament found for “&lt;nothing&gt;”" in nothing
    assert 'href="/docs/?q=%3Cnothing%3E"' in nothing
    assert 'href="/search/"' in page(client, "/")


def test_the_search_finds_matches_of_a_bot_that_is_retired(
    client: Client, played: Tournament
) -> None:
    Bot.objects.filter(name="bot-1").update(retired_at=timezone.now())
    text = page(client, "/search/?q=bot-1")
    assert 'href="/bots/bot-1/"' not in text
    assert 'class="match-link" href="/matches/' in text


def test_the_search_costs_as_many_queries_for_more_rows(client: Client, played: Tournament) -> None:
    Tournament.objects.update(title="The cup of bots")
    before = queries(client, "/search/?q=bot")
    small.bots(9, prefix="more-bot")
    for _ in range(3):
        small.tournament(Ladder.objects.get())
    Tournament.objects.update(title="The cup of bots")
    assert queries(client, "/search/?q=bot") == before


def test_the_name_of_the_menu_leads_to_the_tables(client: Client) -> None:
    answer = client.get("/watch/")
    assert (answer.status_code, answer["Location"]) == (301, "/tv/")


@pytest.mark.parametrize(
    ("path", "error"),
    [
        ("/matches/?state=live", "The state “live” does not exist, so the list ignores it."),
        ("/matches/?state=live", "You can choose playing (in play), finished or waiting."),
        ("/matches/?game=go", "The game “go” does not exist"),
        ("/bots/?kind=fast", "You can choose house (house bots), hosted (hosted bots) or remote"),
        ("/bots/?sort=luck", "The sort “luck” does not exist"),
        ("/ladders/?game=go", "You can choose twelve-days (12 Days) or partridge"),
        ("/events/?format=cup", "The format “cup” does not exist"),
    ],
)
def test_a_list_names_an_unknown_value_of_a_filter_and_the_known_ones(
    client: Client, path: str, error: str
) -> None:
    text = page(client, path, 400)
    assert error in words_of(text)
    assert 'role="alert"' in text
    assert 'href="?">Show all</a>' in text


def test_a_list_without_or_with_known_values_has_no_error(client: Client) -> None:
    known = ("/matches/?state=", "/matches/?state=playing&game=partridge", "/bots/?sort=rating")
    for path in known:
        assert "does not exist" not in page(client, path)
    assert page(client, "/matches/?state=" + 500 * "x", 400).count(41 * "x") == 0


def test_matches_of_a_block_stand_below_one_head_with_the_winner_in_bold(
    client: Client, played: Tournament
) -> None:
    before = queries(client, "/matches/")
    MatchAnalysis.objects.create(
        match=Match.objects.latest("pk"), version=1, finished_at=timezone.now(), packed_result=b""
    )
    text = page(client, "/matches/")
    heads = re.findall(r'<h3 class="group-head">.*?</h3>', text, re.S)
    assert 1 < len(heads) <= Block.objects.count() < Match.objects.count()
    assert all(f'href="/tournaments/{played.pk}/"' in head for head in heads)
    links = re.findall(r'class="match-link" href="/matches/(\d+)/">(.*?)</a>', text, re.S)
    for pk, link in links:
        places = sorted(seat.place or 0 for seat in Match.objects.get(pk=pk).seating.all())
        assert link.count('class="seat-of"') + link.count('class="seat-of won"') == len(places)
        assert link.count('class="seat-of won"') == link.count("winner: ") == places.count(1)
        assert "won" in link.partition("</b>")[0]  # the winner is first
    assert text.count(">analysed</span>") == 1
    assert queries(client, "/matches/") == before


def test_without_a_match_in_play_the_list_states_what_comes_next(client: Client) -> None:
    assert "No match is in play now." in page(client, "/matches/?state=playing")
    coming = small.tournament(small.ladder())
    Tournament.objects.update(starts_at=timezone.now() + timedelta(hours=2))
    assert f'href="/tournaments/{coming.pk}/"' in page(client, "/matches/?state=playing")


def test_the_ladders_begin_with_the_leader_and_need_no_form_while_they_are_few(
    client: Client, played: Tournament
) -> None:
    leading, second = sorted(Standing.objects.select_related("bot"), key=lambda row: -row.rating)[
        :2
    ]
    Standing.objects.update(blocks=small.RANKED_FROM)
    Standing.objects.filter(pk=leading.pk).update(rating=second.rating + 42_000)
    text = words_of(page(client, "/ladders/"))
    assert f"{leading.bot.name} leads the ladder" in text
    assert f"{leading.bot.name} leads by 42 Elo." in text
    assert "list-search" not in page(client, "/ladders/")
    Standing.objects.filter(pk=leading.pk).update(rating=second.rating)
    assert "leads the ladder" not in words_of(page(client, "/ladders/"))
    Standing.objects.filter(pk=leading.pk).update(rating=second.rating + 42_000)
    for number in range(4):
        small.ladder(f"more-{number}")
    # Nobody leads the new ones, so the headline names the ladder.
    assert f"<h1>{leading.bot.name} leads {played.ladder.title}</h1>" in page(client, "/ladders/")
    Standing.objects.filter(pk=second.pk).update(
        rating=leading.rating + 90_000, blocks=small.RANKED_FROM - 1
    )
    text = words_of(page(client, "/ladders/"))
    assert f"{second.bot.name} is ahead on {played.ladder.title}" in text
    assert f"{second.bot.name} has the highest rating, but needs 1 more block for a rank." in text
    # The list shows the best five bots; all five of them have a rank.
    others = small.bots(5, prefix="ranked")
    Standing.objects.bulk_create(
        Standing(
            ladder=played.ladder, bot=bot, version=1, blocks=small.RANKED_FROM, rating=1_000_000
        )
        for bot in others
    )
    text = words_of(page(client, "/ladders/"))
    assert f"{second.bot.name} has the highest rating, but needs 1 more block for a rank." in text
    assert "list-search" in page(client, "/ladders/")
    assert "<h1>Ladders</h1>" in page(client, "/ladders/?q=quick")


def test_the_tournaments_begin_with_the_last_winner(client: Client, played: Tournament) -> None:
    FeedItem.objects.filter(tournament=played).delete()
    assert "<h1>Tournaments</h1>" in page(client, "/events/")
    bot = Bot.objects.get(name="bot-2")
    FeedItem.objects.create(
        key="end", kind="finished", bot=bot, tournament=played, at=timezone.now()
    )
    text = page(client, "/events/")
    assert "bot-2 wins A tournament" in words_of(text)
    kind = played.get_format_display().capitalize()
    assert f"{kind} · {GAME_TITLES[played.ladder.game]} ·" in " ".join(text.split())
    newer = small.tournament(Ladder.objects.get())
    Tournament.objects.filter(pk=newer.pk).update(
        state="finished", starts_at=timezone.now() + timedelta(hours=1), finished_at=timezone.now()
    )
    assert "bot-2 wins A tournament" not in words_of(page(client, "/events/"))
