"""The page of a bot."""

import re

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from django.test import Client
from django.utils import timezone

from league import competitions, ratings
from league.models import (
    Bot,
    BotVersion,
    FormerName,
    HeadToHead,
    Match,
    MatchSeat,
    Token,
    Tournament,
)
from league.ratings.last_matches import best_and_worst, last_rated
from tests.league import small
from tests.web.pages import page, words_of
from web import bot_story
from web.ordinals import ordinal
from web.selectors.form import result_mark
from web.selectors.head_to_head import Rival

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def nothing_kept() -> None:
    cache.clear()  # it keeps the habits of other tests' bots with the same ids


def test_a_bots_page_shows_its_interval_opponents_and_when_it_is_due(
    client: Client, played: Tournament, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("league.ratings.performance.ERROR_FROM", 1)
    [round_id] = ratings.take_fits()
    ratings.fit_round(round_id)
    competitions.enter_ladder(ladder=played.ladder, bot=Bot.objects.get(name="bot-0"))
    assert "It waits for more bots: a table has 3 seats, and 1" in page(client, "/bots/bot-0/")
    text = page(client, "/bots/bot-0/statistics/")
    assert "After about 9 more blocks, the ± of its performance is half as large." in text
    assert 'class="area' in text
    for name in ("bot-1", "bot-2", "bot-3"):
        assert re.search(rf'</span>{name}</a></th>\s*<td class="number">6</td>', text)


def test_a_bots_latest_matches_come_first(client: Client, played: Tournament) -> None:
    small.tournament(played.ladder)
    small.run_all()
    text = page(client, "/bots/bot-0/matches/")
    shown = [int(pk) for pk in re.findall(r'class="match-link" href="/matches/(\d+)/"', text)]
    played_in = Match.objects.filter(seating__bot__name="bot-0").order_by("-pk")
    assert shown == list(played_in.values_list("pk", flat=True))[:25]
    overview = page(client, "/bots/bot-0/")
    latest = re.findall(r'class="match-link" href="/matches/(\d+)/"', overview)
    assert [int(pk) for pk in latest] == shown[:5]
    assert "more match" not in text
    queued = small.tournament(played.ladder)
    competitions.advance_tournament(queued.pk)
    text = page(client, "/bots/bot-0/matches/")
    kept = re.findall(r'class="match-link" href="/matches/(\d+)/"', text)
    assert [int(pk) for pk in kept] == shown
    assert "9 more matches of this bot wait to be played" in text


def test_the_overview_of_a_bot_states_its_rating_on_each_ladder(
    client: Client, played: Tournament
) -> None:
    rating = played.ladder.standings.get(bot__name="bot-0").rating
    text = page(client, "/bots/bot-0/")
    words = words_of(text[text.index('<header class="banner') :])
    assert words.startswith("house bot of the league")
    assert f"{played.ladder.title} Rank provisional Rating {rating / 1000:.0f}" in words
    assert re.search(r"It needs \d+ more blocks? for a rank \(\d+ of 20\)\.", words)
    assert 'aria-label="Rating on Quick: now' in text


def test_the_tabs_of_a_bot_are_links_and_the_current_one_is_marked(
    client: Client, played: Tournament
) -> None:
    for path in ("", "matches/", "versions/", "statistics/"):
        text = page(client, f"/bots/bot-0/{path}")
        tabs = text.partition('<nav class="tabs"')[2].partition("</nav>")[0]
        assert len(re.findall(r"<a ", tabs)) == 4
        assert re.findall(r'href="([^"]+)" aria-current="page"', tabs) == [f"/bots/bot-0/{path}"]
        assert re.search(r"<h1>bot-0 has .*no rank yet</h1>", re.sub(r"</?span[^>]*>", "", text))
        page(client, f"/bots/none/{path}", status=404)


def test_a_bots_tabs_move_with_its_name(client: Client, played: Tournament) -> None:
    bot = Bot.objects.get(name="bot-0")
    FormerName.objects.create(bot=bot, name="was-bot-0")
    for path in ("", "matches/", "versions/", "statistics/"):
        answer = client.get(f"/bots/was-bot-0/{path}")
        assert (answer.status_code, answer["Location"]) == (301, f"/bots/bot-0/{path}")


def test_best_and_worst_opponents_are_those_over_all_ladders(
    client: Client, played: Tournament
) -> None:
    HeadToHead.objects.all().delete()
    bots = {bot.name: bot for bot in Bot.objects.filter(name__startswith="bot-")}
    for name, pairs, half_wins in (("bot-1", 6, 9), ("bot-2", 6, 2), ("bot-3", 3, 6)):
        for ladder in (played.ladder, small.ladder(f"of-{name}")):
            HeadToHead.objects.create(
                ladder=ladder,
                bot=bots["bot-0"],
                opponent=bots[name],
                pairs=pairs if ladder == played.ladder else 0,
                half_wins=half_wins if ladder == played.ladder else 0,
            )
    words = words_of(page(client, "/bots/bot-0/"))
    assert "Beats most often against bot-1 75 % of 6 Beats least often" in words
    assert "Beats least often against bot-2 17 % of 6 Each number is" in words
    assert "bot-3 100 %" not in words  # of three matches only
    HeadToHead.objects.filter(opponent=bots["bot-2"]).update(half_wins=8)
    words = words_of(page(client, "/bots/bot-0/"))
    assert "Beats least often Its win share is above 50 % against each opponent" in words


def test_the_headline_says_where_a_bot_stands(client: Client, played: Tournament) -> None:
    ladder = played.ladder

    def headline(name: str) -> str:
        found = re.search(r"<h1>(.*?)</h1>", page(client, f"/bots/{name}/"))
        assert found is not None
        return re.sub("<[^>]*>", "", found[1])

    ladder.standings.filter(bot__name="bot-0").update(rating=1_900_000)
    assert headline("bot-0") == f"bot-0 has the best rating on {ladder.title}, but no rank yet"
    ladder.standings.filter(bot__name="bot-0").update(rating=1_000_000)
    assert headline("bot-0") == "bot-0 has no rank yet"
    small.rank_from(ladder, 1)
    for at, name in enumerate(["bot-1", "bot-0", "bot-3", "bot-2"]):
        ladder.standings.filter(bot__name=name).update(rating=1_600_000 - at)
    assert headline("bot-1") == f"bot-1 leads {ladder.title}"
    assert headline("bot-0") == f"bot-0 ranks 2nd on {ladder.title}"
    ladder.standings.update(hidden="idle", hidden_at=timezone.now())
    assert headline("bot-0") == "bot-0 is idle"
    ladder.standings.update(hidden="withdrawn", hidden_at=timezone.now())
    assert headline("bot-0") == "bot-0 has left its ladder"


@pytest.mark.parametrize(
    ("number", "text"), [(1, "1st"), (2, "2nd"), (3, "3rd"), (11, "11th"), (22, "22nd")]
)
def test_a_place_is_written_as_a_word(number: int, text: str) -> None:
    assert ordinal(number) == text


def test_form_links_the_last_rated_matches_with_words(client: Client, played: Tournament) -> None:
    text = page(client, "/bots/bot-0/")
    form = text[text.index('<ol class="results"') : text.index("</ol>", text.index("results"))]
    seats = MatchSeat.objects.filter(bot__name="bot-0").order_by("-match_id")[:10]
    assert [int(pk) for pk in re.findall(r'href="/matches/(\d+)/"', form)] == [
        seat.match_id for seat in reversed(seats)
    ]
    marks = re.findall(r'aria-hidden="true">(\w)<', form)
    for mark, seat in zip(marks, reversed(seats), strict=True):
        first = MatchSeat.objects.filter(match=seat.match_id, place=1).count()
        expected = str(seat.place) if seat.place != 1 else "W" if first == 1 else "D"
        assert mark == expected
    if "2" in marks:
        assert "2nd of 3: " in form


def test_best_and_worst_match_are_linked_with_their_prediction(
    client: Client, played: Tournament
) -> None:
    standing = played.ladder.standings.select_related("ladder").get(bot__name="bot-0")
    found = [one for one in best_and_worst(last_rated(standing)) if one is not None]
    text = page(client, "/bots/bot-0/statistics/")
    part = text.partition("Best and worst match</h3>")[2].partition("</dl>")[0]
    assert re.findall(r'href="/matches/(\d+)/"', part) == [str(one.match) for one in found]
    for one in found:
        assert f"win share {100 * one.share:.0f} %, predicted 50 %" in part


def test_habits_stand_beside_the_field(client: Client, played: Tournament) -> None:
    text = words_of(page(client, "/bots/bot-0/statistics/"))
    assert re.search(r"gives a low card, up to 2 \d+ % \d+ %", text)
    assert "Counted in the last 9 rated matches of its current version." in text
    assert "all seats in the ladder’s last 12 rated matches." in text


def test_the_chart_names_round_version_and_matches(client: Client, played: Tournament) -> None:
    text = page(client, "/bots/bot-0/statistics/")
    assert re.search(r"<title>Rating round 1: \d+ \([+−]?\d+\), version 1, 9 matches</title>", text)
    assert "The points of the chart as a table" in text


def test_every_opponent_can_be_reached(
    client: Client, played: Tournament, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("web.views.bot_pages._OPPONENTS", 2)
    path = "/bots/bot-0/statistics/"
    found = [
        re.findall(r'href="/bots/bot-0/against/([\w-]+)/"', page(client, path + query))
        for query in ("", "?met-quick=2")
    ]
    assert [len(names) for names in found] == [2, 1]
    assert sorted(found[0] + found[1]) == ["bot-1", "bot-2", "bot-3"]


def test_a_version_shows_what_it_did_to_the_rating(client: Client, played: Tournament) -> None:
    standing = played.ladder.standings.get(bot__name="bot-0")
    text = words_of(page(client, "/bots/bot-0/versions/"))
    assert f"1500 → {standing.rating / 1000:.0f} in {standing.blocks} blocks" in text


def test_a_new_bots_page_says_what_comes_next(client: Client) -> None:
    ada = User.objects.create(username="ada")
    bot = Bot.objects.create(name="mine", kind="hosted", owner=ada)
    assert "<h1>mine has no rating yet</h1>" in page(client, "/bots/mine/")
    assert "Its owner must upload one. Then the league checks it." in page(client, "/bots/mine/")
    version = BotVersion.objects.create(bot=bot, number=1, state="checking")
    assert "The league checks version 1 now" in page(client, "/bots/mine/")
    BotVersion.objects.update(state="refused")
    assert "The league refused version 1." in page(client, "/bots/mine/")
    BotVersion.objects.update(state="ready", held=True)
    assert "Its owner must promote it" in page(client, "/bots/mine/")
    Bot.objects.filter(pk=bot.pk).update(current=version)
    assert "It is ready to play. Its owner must enter it on a ladder" in page(client, "/bots/mine/")
    Bot.objects.filter(pk=bot.pk).update(kind="remote")
    assert "Its program has not asked the league for turns." in page(client, "/bots/mine/")
    bot.refresh_from_db()
    competitions.enter_ladder(ladder=small.ladder(), bot=bot)
    text = page(client, "/bots/mine/")
    assert "<h1>mine awaits its first rating</h1>" in text
    assert "appear here after its first rated blocks" in text
    assert "It is offline" in text


def test_a_bots_page_names_the_tournaments_that_it_will_play(client: Client) -> None:
    small.bots(3)
    cup = small.tournament(small.ladder())
    competitions.advance_tournament(cup.pk)
    text = words_of(page(client, "/bots/bot-0/"))
    assert "A tournament running" in text


def test_an_owner_sees_first_what_to_do_next(client: Client) -> None:
    ada = User.objects.create(username="ada")
    bot = Bot.objects.create(name="mine", kind="hosted", owner=ada)
    assert "Your next step" not in page(client, "/bots/mine/")
    client.force_login(ada)

    def step() -> tuple[str, str]:
        text = page(client, "/bots/mine/")
        part = text.partition('class="next-step"')[2].partition("</section>")[0]
        found = re.search(r'<p>(.*?)</p>.*?class="button" href="([^"]+)"', part, re.S)
        assert found is not None
        return found[1], found[2]

    assert step() == (
        "It has no version yet. Upload one so that it can play.",
        "/account/bots/mine/upload/",
    )
    version = BotVersion.objects.create(bot=bot, number=1, state="checking")
    assert step() == ("The league checks version 1 now.", "/account/bots/mine/versions/1/")
    BotVersion.objects.update(state="refused")
    assert step()[0] == "The league refused version 1."
    BotVersion.objects.update(state="ready", held=True)
    assert step()[0].startswith("Version 1 passed its check and is held. You must promote it")
    Bot.objects.update(current=version)
    assert step() == (
        "It is ready to play. Enter it on a ladder, and it gets a rating.",
        "/account/",
    )
    BotVersion.objects.create(bot=bot, number=2, state="ready", held=True)
    assert step()[1] == "/account/bots/mine/compare/"
    BotVersion.objects.filter(number=2).delete()
    Bot.objects.update(paused=True)
    assert step()[0] == "It is paused, so it plays no match."
    Bot.objects.update(paused=False, kind="remote")
    assert step() == ("Its program needs a bot token to play.", "/bots/mine/manage/")
    Token.objects.create(bot=bot, digest="x", prefix="tn")
    assert step()[0].startswith("It is offline.")
    Bot.objects.update(kind="hosted")
    bot.refresh_from_db()
    competitions.enter_ladder(ladder=small.ladder(), bot=bot)
    assert step() == ("It waits for its first rated block.", "/bots/mine/challenge/")


def test_an_owner_finds_uploads_logs_and_settings(client: Client) -> None:
    ada = User.objects.create(username="ada")
    small.bots(1, owner=ada, prefix="ada")
    assert "manage/" not in page(client, "/bots/ada-0/")
    assert client.get("/bots/ada-0/manage/").status_code == 302
    client.force_login(User.objects.create(username="bob"))
    page(client, "/bots/ada-0/manage/", status=404)
    client.force_login(ada)
    assert 'href="/bots/ada-0/manage/"' in page(client, "/bots/ada-0/")
    text = page(client, "/bots/ada-0/manage/")
    for path in ("upload/", "versions/1/", "compare/", "settings/"):
        assert f'href="/account/bots/ada-0/{path}"' in text


@pytest.mark.parametrize(
    ("best", "worst", "clear", "sentence"),
    [
        ([0.9, 0.73], [0.73], 0, ""),  # no false contrast
        ([0.9, 0.73], [0.6], 1, ""),
        ([0.53], [0.49], 1, "it had the better place in 49 to 53 % of their matches."),
        ([0.73, 0.73], [], 0, "it had the better place in 73 % of their matches."),
        ([0.73], [], 0, ""),
    ],
)
def test_opponents_with_nearly_equal_shares_are_one_sentence(
    best: list[float], worst: list[float], clear: int, sentence: str
) -> None:
    rivals = [[Rival("bot-1", 9, share) for share in shares] for shares in (best, worst)]
    last = bot_story.clear_worst(*rivals)
    assert len(last) == clear
    text = bot_story.even_shares(Bot(name="ada"), [*rivals[0], *last])
    assert text.endswith(sentence)
    assert bool(text) == bool(sentence)


@pytest.mark.parametrize(
    ("place", "seats", "kind"),
    [
        (1, 4, "won"),
        (2, 4, "upper"),
        (3, 4, "lost"),
        (2, 3, "upper"),
        (3, 3, "lost"),
        (2, 2, "lost"),
    ],
)
def test_places_in_the_upper_half_of_a_table_do_not_look_lost(
    place: int, seats: int, kind: str
) -> None:
    assert result_mark(place, seats, tied=False).kind == kind
