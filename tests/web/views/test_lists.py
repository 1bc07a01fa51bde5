"""Lists with search, the wall, and the page of two bots."""

import re
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from league import competitions, feeds
from league.models import (
    Block,
    Bot,
    FeedItem,
    Highlight,
    Ladder,
    Match,
    PlayerTable,
    Standing,
    Tournament,
)
from tests.league import small
from tests.league.play.live import match_of, remote_bots
from tests.web.pages import page, queries, words_of

pytestmark = pytest.mark.django_db(transaction=True)

MATCH = r'class="match-link" href="/matches/(\d+)/"'


def found(text: str, pattern: str) -> list[str]:
    return re.findall(pattern, text)


def test_each_row_of_the_bots_has_the_ladders_in_the_same_order(client: Client) -> None:
    bots = remote_bots(2)
    ladders = [small.ladder("alpha"), small.ladder("beta")]
    for bot, ratings in zip(bots, ((1_500_000, 1_600_000), (1_600_000, 1_500_000)), strict=True):
        for ladder, rating in zip(ladders, ratings, strict=True):
            Standing.objects.create(ladder=ladder, bot=bot, rating=rating, blocks=20, version=1)
    Standing.objects.filter(bot=bots[1], ladder=ladders[0]).delete()
    text = page(client, "/bots/")
    heads = text.partition('<div class="bot-heads')[2].partition("</div>")[0]
    assert found(heads, r'href="/ladders/(\w+)/"') == ["alpha", "beta"]
    cells = found(text, r'<span (?:class="of-ladder"|aria-hidden="true" class="no-rating")>([^<]*)')
    assert [each.lower() for each in cells] in (
        ["alpha", "beta", "–", "beta"],
        ["–", "beta", "alpha", "beta"],
    )
    third = small.ladder("gamma")
    Standing.objects.create(ladder=third, bot=bots[0], rating=1_500_000, blocks=20, version=1)
    text = page(client, "/bots/")  # three ladders have no room for a column each
    assert "bot-heads" not in text
    titles = found(text, r'class="seat-of"><a href="/ladders/(\w+)/">')
    assert sorted(titles) == ["alpha", "beta", "beta", "gamma"]


def test_each_rating_of_a_bot_has_its_rank_and_leaders_come_first(client: Client) -> None:
    bots = remote_bots(4)
    ladder, other = small.ladder("alpha"), small.ladder("beta")
    ratings = (1_500_000, 1_700_000, 1_500_000, 1_900_000)
    for bot, rating, blocks in zip(bots, ratings, (20, 20, 20, 3), strict=True):
        Standing.objects.create(ladder=ladder, bot=bot, rating=rating, blocks=blocks, version=1)
    Standing.objects.create(ladder=other, bot=bots[0], rating=1_400_000, blocks=20, version=1)
    text = page(client, "/bots/")
    shown = found(text, r'class="match-link" href="/bots/([^/]+)/"')
    assert shown == [bots[at].name for at in (1, 0, 2, 3)]  # a provisional rating leads nothing
    ranks = found(text, r'<span class="rank-on(?: leads)?">rank (\d+)</span>')
    assert ranks == ["1", "2", "1", "2"]
    assert text.count('<span class="quiet">provisional</span>') == 1
    assert "A rating without a rank" not in text
    assert f"{bots[1].name} is rated best of 4 bots" in words_of(text)
    Bot.objects.exclude(pk=bots[1].pk).update(retired_at=timezone.now())
    assert "<h1>Bots</h1>" in page(client, "/bots/")  # the only bot is not the best of 1


def test_where_most_bots_have_no_rank_one_line_says_so(client: Client) -> None:
    ladder = small.ladder("alpha")
    for bot, blocks in zip(remote_bots(4), (3, 3, 3, 20), strict=True):
        Standing.objects.create(
            ladder=ladder, bot=bot, rating=1_500_000, blocks=blocks, ranked_from=20, version=1
        )
    text = page(client, "/bots/")
    assert text.count("provisional") == 1
    assert "fewer than 20" in text
    for path in ("/", "/ladders/"):
        assert page(client, path).count("No rank yet (provisional): fewer than 20 rated") == 1
        assert "bots without a rank" not in page(client, path)
        assert '<span class="quiet">provisional</span>' not in page(client, path)
    Standing.objects.update(blocks=3)
    for path in ("/", "/ladders/"):
        assert page(client, path).count("bots without a rank are provisional") == 1
        assert "No rank yet" not in page(client, path)
    Standing.objects.update(blocks=20)
    for path in ("/bots/", "/ladders/"):
        assert "provisional" not in page(client, path)


def test_each_bot_of_the_list_has_its_last_results_the_newest_last(
    client: Client, played: Tournament
) -> None:
    bots = {bot.pk: bot.name for bot in Bot.objects.all()}
    before = queries(client, "/bots/")
    last = list(Match.objects.with_bots(min(bots)).order_by("-pk")[:5])[::-1]
    small.set_places(last[:1], lambda bot: 1)
    small.set_places(last[1:2], lambda bot: 2 - (bot == min(bots)))
    small.set_places(last[2:], lambda bot: 1 + (bot == min(bots)))
    text = page(client, "/bots/")
    [row] = re.findall(
        rf'<li class="bot-row">(?:(?!</li>).)*"/bots/{bots[min(bots)]}/".*?</li>', text, re.S
    )
    assert 'aria-label="Last matches of 12 Days: shared 1st of 3, won, 2nd of 3, 2nd' in row
    assert re.findall(r'class="result-mark \w+">(\w)<', row) == ["D", "W", "2", "2", "2"]
    assert text.count('class="form-row"') == len(bots)
    small.bots(5, prefix="more")
    small.tournament(Ladder.objects.get())
    small.run_all()
    assert queries(client, "/bots/") == before
    Block.objects.update(state="playing")
    assert 'class="form-row"' not in page(client, "/bots/")  # the results are secret


def test_empty_lists_say_what_to_do(client: Client) -> None:
    assert "There is no bot yet" in page(client, "/bots/")
    assert "No match has begun yet" in page(client, "/matches/")
    assert "set_up_league" in page(client, "/ladders/")
    assert "No tournament is over yet" in page(client, "/events/")
    assert "No match has been played yet" in page(client, "/tv/")
    for path in ("/bots/", "/matches/", "/ladders/", "/events/"):
        assert "Show all" in page(client, f"{path}?q=nothing")


def test_the_old_address_of_the_tournaments_leads_to_the_events(client: Client) -> None:
    answer = client.get("/tournaments/")
    assert (answer.status_code, answer["Location"]) == (301, "/events/")


@pytest.mark.parametrize(
    ("query", "kept"),
    [
        ("", ""),
        ("?q=a&page=3", "?page=3"),
        ("?page=1", ""),
        ("?page=x", ""),
        ("?page=" + 5000 * "1", ""),
    ],
)
def test_a_page_names_its_own_address_without_the_search(
    client: Client, query: str, kept: str
) -> None:
    text = page(client, f"/bots/{query}")
    address = f"http://testserver/bots/{kept}"
    assert f'<link rel="canonical" href="{address}">' in text
    assert text.count(f'<meta property="og:url" content="{address}">') == 1


def test_bots_are_found_by_name_and_kind(client: Client, played: Tournament) -> None:
    small.bots(2, owner=User.objects.create(username="ada"), prefix="ada")
    names = r'class="match-link" href="/bots/([^/]+)/"'
    assert found(page(client, "/bots/?sort=name"), names) == [
        *("ada-0", "ada-1", "bot-0", "bot-1", "bot-2", "bot-3")
    ]
    assert found(page(client, "/bots/?q=BOT-1"), names) == ["bot-1"]
    assert found(page(client, "/bots/?kind=hosted"), names) == ["ada-0", "ada-1"]
    by_rating = [row.bot.name for row in played.ladder.standings.order_by("-rating")]
    assert found(page(client, "/bots/"), names) == [*by_rating, "ada-0", "ada-1"]
    assert found(page(client, "/bots/?sort=rating"), names) == [*by_rating, "ada-0", "ada-1"]
    assert found(page(client, "/bots/?sort=newest"), names)[0] == "ada-1"
    assert found(page(client, f"/bots/?game={played.ladder.game}"), names) == by_rating
    other = "partridge" if played.ladder.game == "twelve-days" else "twelve-days"
    assert found(page(client, f"/bots/?game={other}&sort=matches"), names) == []
    assert '<option value="matches" selected>' in page(client, "/bots/?sort=matches")
    rating = played.ladder.standings.get(bot__name="bot-1").rating
    assert f"<b>{rating / 1000:.0f}</b>" in page(client, "/bots/?q=bot-1")


def test_a_match_that_became_void_has_no_tag_of_a_highlight(
    client: Client, played: Tournament
) -> None:
    last = Match.objects.finished().latest("pk")
    Highlight.objects.create(
        day=timezone.now().date() - timedelta(days=3),
        kind="comeback",
        game=last.game,
        bot=Bot.objects.get(name="bot-0"),
        match=last,
        number=5,
    )
    assert 'class="state tag">comeback<' in page(client, "/matches/")
    Block.objects.filter(matches=last).update(state=Block.State.VOID)
    assert 'class="state tag">comeback<' not in page(client, "/matches/")


def test_matches_are_found_by_bot_game_and_state(client: Client, played: Tournament) -> None:
    live = match_of(remote_bots(3))
    last = Match.objects.finished().latest("pk")
    Highlight.objects.create(
        day=timezone.now().date(),
        kind="upset",
        game=last.game,
        bot=Bot.objects.get(name="bot-0"),
        match=last,
        number=5,
    )
    tags = re.findall(r'class="state tag">(\w+)<', page(client, "/matches/"))
    assert [tag for tag in tags if tag != "close match"] == ["upset"]
    everything = [str(match.pk) for match in Match.objects.order_by("-pk")]
    assert found(page(client, "/matches/"), MATCH) == everything
    assert found(page(client, "/matches/?state=playing"), MATCH) == [str(live.pk)]
    with_bot = Match.objects.filter(seating__bot__name="bot-2").order_by("-pk")
    assert found(page(client, "/matches/?q=bot-2"), MATCH) == [str(each.pk) for each in with_bot]
    assert found(page(client, "/matches/?game=partridge"), MATCH) == []
    assert found(page(client, "/matches/?game=chess&state=no", 400), MATCH) == everything


def test_a_search_for_a_bot_does_not_count_the_matches_of_players(
    client: Client, played: Tournament, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("web.selectors.matches._OF_BOTS", 1)
    newest, older = Match.objects.with_bots(Bot.objects.get(name="bot-2").pk).order_by("-pk")[:2]
    table = PlayerTable.objects.create(
        code="a", game=newest.game, rules=newest.rules, seats=3, bots=[], move_seconds=1.0
    )
    Match.objects.filter(pk=newest.pk).update(table=table, block=None, stored_seed=bytes(32))
    assert found(page(client, "/matches/?q=bot-2"), MATCH) == [str(older.pk)]


def test_the_list_of_matches_has_pages_without_counting_all(
    client: Client, played: Tournament, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("web.views.lists._ROWS", 5)
    first, second = page(client, "/matches/?state=finished"), page(client, "/matches/?page=2")
    assert 'href="?state=finished&amp;page=2"' in first
    numbers = [*found(first, MATCH), *found(second, MATCH)]
    assert numbers == [str(match.pk) for match in Match.objects.order_by("-pk")[:10]]
    assert "Newer" in second


def test_ladders_and_events_are_found_by_title(client: Client, played: Tournament) -> None:
    small.ladder("other")
    assert '"/ladders/quick/"' not in page(client, "/ladders/?q=oth")
    assert '"/ladders/other/"' in page(client, "/ladders/?q=oth")
    Ladder.objects.filter(slug="other").update(game="partridge", rules="eagle-short")
    assert '"/ladders/quick/"' not in page(client, "/ladders/?game=partridge")
    assert '"/ladders/other/"' in page(client, "/ladders/?game=partridge")
    assert "house bots play" not in page(client, "/events/")
    FeedItem.objects.all().delete()
    assert "</b></a> wins" not in page(client, "/events/")
    feeds.write_items(timezone.now())
    winner = FeedItem.objects.get(kind="finished").bot
    assert f"<b>{winner}</b></a> wins" in page(client, "/events/")
    ended = played.finished_at
    assert ended is not None
    assert f'ended <time datetime="{ended:%Y-%m-%dT%H:%M:%SZ}"' in page(client, "/events/")
    assert f"/tournaments/{played.pk}/" in page(client, "/events/?q=TOURN")
    assert f"/tournaments/{played.pk}/" not in page(client, "/events/?format=swiss")


def test_a_list_says_how_the_first_running_tournaments_stand(client: Client) -> None:
    ladder = small.ladder()
    small.bots(6)
    for _ in range(5):
        small.tournament(ladder, format="swiss", swiss_rounds=2)
    for tournament in Tournament.objects.all():
        competitions.advance_tournament(tournament.pk)
    for path in ("/", "/events/"):
        text = page(client, path)
        assert (text.count('"state running"'), text.count("No result yet")) == (5, 4)
    small.play_due()
    leads = re.findall(
        r'"/bots/([\w-]+)/"><b>\1</b></a> leads with \d\.\d\d points', page(client, "/events/")
    )
    assert len(leads) == 4  # each one costs queries, so a list names the first four leaders only
    assert "No result yet" not in page(client, "/events/")


def test_the_wall_shows_up_to_nine_live_tables_and_else_replays(
    client: Client, played: Tournament
) -> None:
    feeds.find_highlights(timezone.now().date())
    text = page(client, "/tv/")
    assert 1 <= text.count('<article class="tv replayed">') <= 4
    assert "<strong>replays</strong> of recent highlights" in text
    bots = remote_bots(3)
    strongest = match_of(list(Bot.objects.filter(kind="house")[:2]) + bots[:1])
    for _ in range(10):
        match_of(bots)
    text = page(client, "/tv/")
    assert text.count('<article class="tv">') == 9
    assert found(text, r'tv-head"><a href="/matches/(\d+)/')[0] == str(strongest.pk)


def test_no_card_repeats_the_headline_of_the_matches(client: Client, played: Tournament) -> None:
    Highlight.objects.all().delete()
    first, second = Bot.objects.order_by("pk")[:2]
    today = timezone.now().date()
    for number, (kind, game, bot, opponent) in enumerate(
        (
            ("upset", "twelve-days", first, second),
            ("upset", "partridge", second, first),
            ("comeback", "twelve-days", first, second),
        )
    ):
        match = Match.objects.order_by("pk")[number]
        news = Highlight(day=today, kind=kind, game=game, bot=bot, opponent=opponent, match=match)
        news.number = 400 + number
        news.save()
    text = page(client, "/matches/")
    cards = text.partition('class="highlights')[2].partition("</section>")[0]
    assert (cards.count('class="kind">Upset'), cards.count('class="kind">Comeback')) == (0, 1)


def test_the_home_page_shows_the_live_table_and_else_a_replay(
    client: Client, played: Tournament
) -> None:
    feeds.find_highlights(timezone.now().date())
    Highlight.objects.exclude(kind="closest").delete()  # each match appears once
    text = page(client, "/")
    assert ">replay<" in text
    assert "Closest match" in text
    closest = feeds.last_highlights()[0]
    [begins] = map(int, found(text, r'data-small="(\d+)"'))
    assert begins <= feeds.last_step(closest.match.record) - 4  # while cards lie on the felt
    match_of(remote_bots(3))
    assert ">live</span>" in page(client, "/")


def test_a_row_of_a_match_states_each_score_once(client: Client, played: Tournament) -> None:
    match = Match.objects.finished().latest("pk")
    Match.objects.filter(pk=match.pk).update(scores=[61, 47, 32], places=[1, 2, 3])
    text = page(client, "/matches/")
    [row] = re.findall(
        rf'<li class="match-row(?:(?!</li>).)*/matches/{match.pk}/.*?</li>', text, re.S
    )
    words = " ".join(re.sub(r"<time.*?</time>|<[^>]+>", " ", row, flags=re.S).split())
    assert [words.count(score) for score in ("61", "47", "32")] == [1, 1, 1]


def test_a_highlight_shows_its_moment_and_leads_to_its_step(
    client: Client, played: Tournament
) -> None:
    feeds.find_highlights(timezone.now().date())
    Highlight.objects.exclude(kind="closest").delete()  # each match appears once
    closest = next(each for each in feeds.last_highlights() if each.kind == "closest")
    match_of(remote_bots(3))  # a live match, as the replay of the table is no card below it
    text = page(client, "/")
    [part] = re.findall(r'<li class="highlight">(?:(?!</li>).)*Closest match.*?</li>', text, re.S)
    assert f'class="whole-card" href="/matches/{closest.match_id}/?step={closest.step}"' in part
    assert re.search(r'role="img" aria-label="[^"]+ (plays|scores|has|passes) ?', part)
    assert 'class="tc r' in part


def test_matches_of_a_void_block_count_nowhere_and_are_marked_in_lists(
    client: Client, played: Tournament
) -> None:
    both = Match.objects.with_bots(*(Bot.objects.get(name=f"bot-{at}").pk for at in (0, 1)))
    void = both.latest("pk").block
    assert void is not None
    Block.objects.filter(pk=void.pk).update(state="void", void_reason="A bot was copied.")
    meetings = page(client, "/bots/bot-0/against/bot-1/")
    for match in Match.objects.filter(block=void):
        assert f"/matches/{match.pk}/" not in meetings
    listed = page(client, "/matches/")
    mark = 'title="A bot was copied.">void<span class="unseen">: A bot was copied.</span>'
    assert listed.count(mark) == Match.objects.filter(block=void).count()
    Block.objects.update(state="void")
    assert 'class="form-row"' not in page(client, "/bots/")


def test_planned_tournaments_have_pages(client: Client) -> None:
    ladder = small.ladder()
    now = timezone.now()
    for number in range(1, 28):
        competitions.announce_tournament(
            title=f"Cup no. {number}", ladder=ladder, starts_at=now + timedelta(days=number)
        )
    client.force_login(User.objects.create(username="ole", is_staff=True))
    for path, parameter in (("/events/", "coming"), ("/organise/", "page")):
        first, second = (page(client, f"{path}?{parameter}={number}") for number in (1, 2))
        assert f'href="?{parameter}=2"' in first
        assert ("Cup no. 1<" in first, "Cup no. 27<" in first) == (True, False)
        assert ("Cup no. 1<" in second, "Cup no. 27<" in second) == (False, True)
    assert "27 tournaments to come" in page(client, "/organise/?page=2")
