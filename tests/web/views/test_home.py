"""The home page, and what all pages share."""

import re
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from league import competitions, feeds
from league.models import Block, Bot, Highlight, Ladder, Match, Standing, Tournament
from tests.league import small
from tests.league.play.live import match_of, remote_bots
from tests.web.pages import page, queries, words_of

pytestmark = pytest.mark.django_db(transaction=True)


def test_an_empty_league_shows_what_to_do(client: Client) -> None:
    assert "set_up_league" in page(client, "/")
    assert "No tournament is planned" in page(client, "/events/")
    small.ladder()
    assert "No bot has a rating yet" in page(client, "/ladders/quick/")


def test_the_home_page_shows_matches_in_play(client: Client) -> None:
    hidden = '<section id="playing" data-live="30" hidden>'
    assert hidden in page(client, "/")
    bots = remote_bots(3)
    match = match_of(bots)
    text = page(client, "/")
    [shown] = re.findall(r'<section id="playing" data-live="5">.*?</section>', text, re.DOTALL)
    assert f'href="/matches/{match.pk}/"' in shown
    assert all(bot.name in shown for bot in bots)
    assert '<span class="state playing">live</span>' in shown
    with_one = queries(client, "/")
    for _ in range(8):
        match_of(bots)
    assert queries(client, "/") == with_one
    # Six in the list, and the table at the top.
    assert page(client, "/").count('<span class="state playing">live</span>') == 7
    Match.objects.update(status=Match.Status.VOID)
    assert hidden in page(client, "/")


def test_the_home_page_lists_only_matches_with_a_result_to_see(
    client: Client, played: Tournament
) -> None:
    shown = set(re.findall(r'href="/matches/(\d+)/', page(client, "/")))
    finished = set(map(str, Match.objects.finished().values_list("pk", flat=True)))
    assert shown & finished
    Block.objects.update(state=Block.State.PLAYING, duplicate=True)
    assert "result hidden" in page(client, "/matches/")
    text = page(client, "/")
    assert "result hidden" not in text
    assert not finished.intersection(re.findall(r'href="/matches/(\d+)/', text))


def test_an_address_without_a_page_is_not_found(client: Client) -> None:
    for path in ("/ladders/none/", "/tournaments/1/", "/matches/1/", "/matches/x/", "/nothing"):
        assert "Page not found" in page(client, path, status=404)


def test_the_queries_of_a_page_do_not_grow_with_its_rows(
    client: Client, played: Tournament
) -> None:
    paths = [
        "/",
        "/tv/",
        "/bots/",
        "/matches/",
        "/matches/?q=bot",
        "/ladders/",
        "/events/?q=a",
        "/ladders/quick/",
        "/ladders/quick/?q=bot",
        "/events/",
    ]
    paths += [f"/tournaments/{played.pk}/"]
    paths += [f"/bots/bot-0/{tab}" for tab in ("", "matches/", "versions/", "statistics/")]
    Standing.objects.update(blocks=small.RANKED_FROM)
    competitions.enter_ladder(ladder=played.ladder, bot=Bot.objects.get(name="bot-0"))
    page(client, "/bots/bot-0/statistics/")  # from now on, the bot's habits are kept
    page(client, "/")  # from now on, the process keeps the pictures of moments
    before = {path: queries(client, path) for path in paths}
    for _ in range(2):
        small.tournament(Ladder.objects.get())
        small.run_all()
    small.bots(3, prefix="more")
    small.tournament(Ladder.objects.get(), format="swiss", swiss_rounds=1)
    small.run_all()
    page(client, "/")
    assert {path: queries(client, path) for path in paths} == before
    assert before.pop("/bots/bot-0/") <= 32
    assert before.pop("/bots/bot-0/statistics/") <= 28
    assert max(before.values()) <= 19


def test_further_tables_are_live_ones_that_the_page_does_not_show(client: Client) -> None:
    bots = remote_bots(3)
    matches = [match_of(bots) for _ in range(4)]

    def shown(query: str) -> list[int]:
        text = client.get(f"/tv/tables/?{query}").content.decode()
        return [int(pk) for pk in re.findall(r'data-match="(\d+)"', text)]

    newest = [match.pk for match in reversed(matches)]
    assert shown("count=9") == newest
    assert shown("") == newest[:1]
    assert shown(f"count=2&not={newest[0]}&not={newest[2]}&not=x") == [newest[1], newest[3]]
    assert shown("count=9&" + "&".join(f"not={pk}" for pk in newest)) == []


def test_without_a_live_table_recent_highlights_are_replayed_in_turn(
    client: Client, played: Tournament
) -> None:
    def shown(query: str) -> list[int]:
        text = client.get(f"/tv/tables/?{query}").content.decode()
        assert text.count(">replay</span>") == text.count("data-match")
        return [int(pk) for pk in re.findall(r'data-match="(\d+)"', text)]

    assert shown("count=1") == []
    last = shown("count=1&replays=1")
    assert len(last) == 1  # without highlights, the match that finished last
    assert shown(f"count=1&replays=1&not={last[0]}") != last
    steps = {}
    for match in Match.objects.prefetch_related("seating"):
        winners = [seat.seat for seat in match.seating.all() if seat.place == 1]
        if len(winners) == 1:
            steps[match.pk] = feeds.deciding_step(match.record, winners[0])
    decided_late = max(steps, key=lambda pk: steps[pk])
    Match.objects.filter(pk=decided_late).update(finished_at=timezone.now())
    text = client.get("/tv/tables/?count=1&replays=1").content.decode()
    # The replay begins where the winner took the lead, or while cards still lie on the felt.
    end = feeds.last_step(Match.objects.get(pk=decided_late).record)
    assert f'data-small="{min(steps[decided_late], end - 4)}"' in text
    assert "Watch the lowest card that nobody else plays" in text
    feeds.find_highlights(timezone.now().date())
    newest = Highlight.objects.latest("pk")
    others = Match.objects.exclude(pk__in=Highlight.objects.values("match"))
    for at, match in enumerate(others[:2], 1):
        day = newest.day - timedelta(days=at)
        fields = {"bot_id": newest.bot_id, "match": match, "number": 3}
        Highlight.objects.create(day=day, kind="streak", step=2, **fields)
    ring = [each.match_id for each in feeds.recent_highlights(9)]
    assert shown("replays=4") == ring[:4]
    assert 'data-small="2"' in client.get("/tv/tables/?replays=4").content.decode()
    assert len(ring) >= 3
    assert shown(f"replays=1&after={ring[0]}&not={ring[0]}") == [ring[1]]
    assert shown(f"replays=1&after={ring[-1]}&not={ring[-1]}") == [ring[0]]
    assert shown("replays=1&" + "&".join(f"not={pk}" for pk in ring)) == []
    match_of(remote_bots(3))
    text = client.get("/tv/tables/?replays=4").content.decode()
    assert ">live</span>" in text
    assert ">replay</span>" not in text


def test_the_match_whose_replay_runs_is_not_a_highlight_below_it(
    client: Client, played: Tournament
) -> None:
    feeds.find_highlights(timezone.now().date())
    text = client.get("/").content.decode()
    [replayed] = re.findall(r'data-match="(\d+)"', text)
    assert Highlight.objects.filter(match=replayed).exists()
    _, _, below = text.partition('<ul class="highlights brief">')
    cards, _, _ = below.partition("</ul>")
    assert 'href="/matches/' in cards
    assert f'href="/matches/{replayed}/' not in cards


def test_a_person_sees_first_their_bots_places_and_what_they_follow(
    client: Client, played: Tournament
) -> None:
    assert 'id="own"' not in page(client, "/")
    user = User.objects.create_user("viola")
    client.force_login(user)
    text = page(client, "/")
    assert "None of your bots has a rating yet" in text
    assert "what happens to them appears here" in text
    bot = Bot.objects.get(name="bot-0")
    Bot.objects.filter(pk=bot.pk).update(owner=user)
    feeds.follow(user, bot)
    feeds.write_items(timezone.now())
    text = page(client, "/")
    [shown] = re.findall(r'<section id="own".*?</section>', text, re.DOTALL)
    assert 'href="/bots/bot-0/"' in shown
    assert re.search(r"bot-0 (wins|finishes)", words_of(shown))


def test_the_home_page_names_the_winners_of_the_last_tournaments(
    client: Client, played: Tournament
) -> None:
    feeds.write_items(timezone.now())
    assert re.search(rf"bot-\d wins {played.title}", words_of(page(client, "/")))
