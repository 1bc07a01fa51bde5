"""Following, the feed of an account, Atom feeds and times."""

import re
from datetime import UTC, datetime, timedelta
from xml.etree import ElementTree

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from league import bots, feeds
from league.models import Bot, FeedItem, Match, Tournament
from league.play.headlines import headline
from tests.web.pages import page, queries, words_of

pytestmark = pytest.mark.django_db(transaction=True)

ATOM = "{http://www.w3.org/2005/Atom}"


def test_an_account_follows_a_bot_and_reads_what_happened_to_it(
    client: Client, played: Tournament
) -> None:
    feeds.write_items(timezone.now())
    assert client.get("/feed/").status_code == 302
    sentence = "Your feed needs an account."
    assert sentence in client.get("/feed/", follow=True).content.decode()
    assert sentence not in page(client, "/account/sign-in/")
    assert "Sign in to follow this bot" in words_of(page(client, "/bots/bot-0/"))
    client.force_login(User.objects.create(username="ada"))
    assert "You follow nothing yet" in page(client, "/feed/")
    answer = client.post("/bots/bot-0/follow/")
    assert answer["Location"] == "/bots/bot-0/"
    assert "Stop following" in page(client, "/bots/bot-0/")
    text = page(client, "/feed/")
    assert re.search(r"bot-0 (wins|finishes) A tournament", words_of(text))
    placed = FeedItem.objects.get(kind="placed", bot__name="bot-0")
    assert f'<a href="/matches/{placed.match_id}/">Watch the last match</a>' in text
    assert "/bots/bot-1/" not in text
    FeedItem.objects.update(at=timezone.now() + timedelta(minutes=1))
    count = feeds.feed_of(User.objects.get(username="ada")).count()
    header = page(client, "/bots/bot-0/").partition('class="count-new">')[2]
    assert header.startswith(f"{count}<")
    assert page(client, "/feed/").count('class="state new"') == count
    FeedItem.objects.update(at=timezone.now() - timedelta(minutes=1))
    assert 'class="count-new"' not in page(client, "/bots/bot-0/")  # the browser showed the feed
    assert 'class="state new"' not in page(client, "/feed/")
    client.post("/bots/bot-0/follow/", {"follow": "no"})
    assert "You follow nothing yet" in page(client, "/feed/")


def test_what_is_stored_after_a_visit_is_new_although_it_happened_before(
    client: Client, played: Tournament
) -> None:
    client.force_login(User.objects.create(username="ada"))
    client.post(f"/tournaments/{played.pk}/follow/")
    page(client, "/feed/")
    long_ago = timezone.now() - timedelta(seconds=20)
    Tournament.objects.filter(pk=played.pk).update(starts_at=long_ago, finished_at=long_ago)
    feeds.write_items(timezone.now())
    assert page(client, "/bots/").partition('class="count-new">')[2].startswith("2<")
    assert page(client, "/feed/").count('class="state new"') == 1  # both are of one tournament
    assert 'class="count-new"' not in page(client, "/bots/")
    assert 'class="state new"' not in page(client, "/feed/")


def test_the_feed_lists_a_persons_bots_among_what_they_follow(
    client: Client, played: Tournament
) -> None:
    feeds.write_items(timezone.now())
    ada = User.objects.create(username="ada")
    Bot.objects.filter(name="bot-0").update(owner=ada, kind=Bot.Kind.HOSTED)
    client.force_login(ada)
    text = page(client, "/feed/")
    assert re.search(r"bot-0 (wins|finishes)", words_of(text))
    followed = text.partition("<h2>You follow</h2>")[2].partition("</ul>")[0]
    assert '<a href="/bots/bot-0/">bot-0</a> <span class="quiet">yours</span>' in followed
    own = page(client, "/bots/bot-0/")
    assert "Follow bot" not in words_of(own)
    assert 'Its news is in <a href="/feed/">your feed</a>' in own
    client.post("/bots/bot-0/follow/")
    followed = page(client, "/feed/").partition("<h2>You follow</h2>")[2].partition("</ul>")[0]
    assert followed.count("/bots/bot-0/") == 1


def test_the_feed_labels_each_item_by_its_kind(client: Client, played: Tournament) -> None:
    feeds.find_highlights(timezone.now().date())
    feeds.write_items(timezone.now())
    client.force_login(User.objects.create(username="ada"))
    for number in range(4):
        client.post(f"/bots/bot-{number}/follow/")
    text = page(client, "/feed/")
    shown = re.findall(r'<span class="kind">([^<]+)</span>', text)
    assert len(shown) == text.count('class="match-link"')
    labels = [label for each in shown for label in each.split(", ")]
    assert "Tournament" in labels
    kinds = [item.text.split(" of ")[0] for item in FeedItem.objects.filter(kind="highlight")]
    assert kinds
    assert set(kinds) <= set(labels)
    assert f"{kinds[0]} of " not in text


def test_the_feed_groups_items_by_day_and_shows_their_matches(
    client: Client, played: Tournament, monkeypatch: pytest.MonkeyPatch
) -> None:
    feeds.find_highlights(timezone.now().date())
    feeds.write_items(timezone.now())
    client.force_login(User.objects.create(username="ada"))
    for number in range(4):
        client.post(f"/bots/bot-{number}/follow/")
    oldest = FeedItem.objects.filter(bot__name="bot-0").earliest("pk")
    FeedItem.objects.filter(pk=oldest.pk).update(at=datetime(2026, 1, 2, 3, 4, tzinfo=UTC))
    text = page(client, "/feed/")
    days = re.findall(r'<section class="day-of">.*?</section>', text, re.DOTALL)
    assert len(days) == 2
    assert '<time datetime="2026-01-02">Friday, 2 January 2026</time>' in days[1]
    assert days[1].count("<li") == 1
    assert re.search(r"data-clock>03:04 UTC</time>", days[1])
    matches = set(FeedItem.objects.exclude(match=None).values_list("match", flat=True))
    pictures = len(re.findall('<div class="moment[ "]', text))
    assert 0 < pictures <= min(len(matches), 8, text.count('class="match-link"'))
    monkeypatch.setattr("web.feed_days.may_see_record", lambda match: False)
    assert '<div class="moment' not in page(client, "/feed/")
    assert "Watch the last match" in page(client, "/feed/")


def test_news_of_a_day_about_one_tournament_or_match_stand_together(
    client: Client, played: Tournament
) -> None:
    feeds.write_items(timezone.now())
    client.force_login(User.objects.create(username="ada"))
    client.post(f"/tournaments/{played.pk}/follow/")
    for number in range(4):
        client.post(f"/bots/bot-{number}/follow/")
    match = Match.objects.finished().latest("pk")
    texts = ("what happened", headline(match))
    for number, (kind, text) in enumerate(zip(("Upset", "Closest match"), texts, strict=True)):
        FeedItem.objects.create(
            key=f"{number}",
            kind="highlight",
            at=timezone.now(),
            bot=Bot.objects.get(name="bot-0"),
            match=match,
            number=2,
            text=f"{kind} of 1 Jan 2026: {text}",
        )
    text = page(client, "/feed/")
    blocks = [each for each in text.split('<p class="kicker">')[1:] if 'class="lines-of"' in each]
    of_match, of_event = (" ".join(re.sub(r"<[^>]+>", " ", each).split()) for each in blocks)
    assert of_match.startswith(f"Closest match, Upset new {headline(match)} Closest match ")
    assert of_match.count(headline(match)) == 1
    assert "Upset: what happened" in of_match
    assert "<h1>Closest match" not in text  # as its line in the block begins
    winner = FeedItem.objects.get(kind="placed", number=1).bot
    assert of_event.startswith(f"Tournament new {winner} wins A tournament Is over: {winner}")
    assert f"Your feed {winner} wins A tournament This page" in words_of(text)
    for line in (f"Is over: {winner} wins", f"{winner} wins", "with rank 2", "Begins with 4 bots"):
        assert line in of_event
    assert text.count("A tournament</a>") == 2  # the title of the block, and what she follows
    FeedItem.objects.filter(kind="started").update(at=timezone.now() - timedelta(days=1))
    assert "A tournament has begun with 4 bots" in page(client, "/feed/")


def test_ranks_of_a_day_on_one_ladder_are_one_block_without_a_picture(
    client: Client, played: Tournament
) -> None:
    client.force_login(User.objects.create(username="ada"))
    match = Match.objects.finished().latest("pk")
    for number in range(3):
        bot = Bot.objects.get(name=f"bot-{number}")
        client.post(f"/bots/{bot}/follow/")
        FeedItem.objects.create(
            key=f"r{number}",
            kind="first-rank",
            at=timezone.now(),
            bot=bot,
            ladder=played.ladder,
            match=match,
            number=number + 1,
        )
    text = page(client, "/feed/")
    assert text.count(f"{played.ladder.title}: new ranks of 3 bots") == 1
    assert '<div class="moment' not in text
    assert "<h1>Your feed</h1>" not in text  # the headline is what happened last


def test_an_empty_feed_offers_bots_to_follow(client: Client, played: Tournament) -> None:
    client.force_login(User.objects.create(username="ada"))
    text = page(client, "/feed/")
    assert "<h1>Your feed</h1>" in text
    assert len(re.findall(r'action="/bots/[\w-]+/follow/"', text)) == 3


def test_new_versions_of_a_bot_on_one_day_are_one_block_with_each_time_once(
    client: Client, played: Tournament
) -> None:
    client.force_login(User.objects.create(username="ada"))
    client.post("/bots/bot-0/follow/")
    bot = Bot.objects.get(name="bot-0")
    at = datetime(2026, 1, 2, 3, 4, tzinfo=UTC)
    for number in (7, 8):
        FeedItem.objects.create(key=f"v{number}", kind="version", at=at, bot=bot, number=number)
    text = page(client, "/feed/")
    assert words_of(text).count("bot-0: 2 new versions") == 1
    assert "Version 7 is ready to play" in text
    assert "Version 8 is ready to play" in text
    assert text.count("03:04 UTC") == 1


def test_the_banner_of_a_tournament_offers_to_follow_it(client: Client, played: Tournament) -> None:
    address = f"/tournaments/{played.pk}/"
    banner = page(client, address).partition("</header>\n")[2].partition("</header>")[0]
    assert "Sign in to follow this tournament" in words_of(banner)
    assert banner.index("Sign in to follow") < banner.index("data-share")
    client.force_login(User.objects.create(username="ada"))
    banner = page(client, address).partition("</header>\n")[2].partition("</header>")[0]
    assert "Follow tournament" in words_of(banner)


def test_an_account_follows_a_tournament(client: Client, played: Tournament) -> None:
    feeds.write_items(timezone.now())
    client.force_login(User.objects.create(username="ada"))
    client.post(f"/tournaments/{played.pk}/follow/")
    assert "Begins with 4 bots" in page(client, "/feed/")
    client.post("/bots/bot-3/follow/")
    before = queries(client, "/feed/")
    for number in range(3):
        client.post(f"/bots/bot-{number}/follow/")
    assert queries(client, "/feed/") == before


@pytest.mark.parametrize("path", ["/bots/bot-0/", "/ladders/quick/", "/tournaments/{}/"])
def test_bots_ladders_and_tournaments_have_an_atom_feed(
    client: Client, played: Tournament, path: str
) -> None:
    feeds.write_items(timezone.now())
    address = path.format(played.pk)
    assert f'type="application/atom+xml" href="{address}feed.atom"' in page(client, address)
    feed = ElementTree.fromstring(page(client, f"{address}feed.atom"))
    titles = [entry.findtext(f"{ATOM}title") for entry in feed.iter(f"{ATOM}entry")]
    assert titles
    if path != "/ladders/quick/":
        links = [entry.findtext(f"{ATOM}summary") or "" for entry in feed.iter(f"{ATOM}entry")]
        assert any(re.search(r' <a href="http://testserver/matches/\d+/">', each) for each in links)
    if path != "/bots/bot-0/":
        assert "A tournament has begun with 4 bots" in titles
    assert len({entry.findtext(f"{ATOM}id") for entry in feed.iter(f"{ATOM}entry")}) == len(titles)
    page(client, "/bots/none/feed.atom", status=404)


def test_a_renamed_bot_is_followed_and_read_by_its_former_name(
    client: Client, played: Tournament
) -> None:
    feeds.write_items(timezone.now())
    bots.change_bot(Bot.objects.get(name="bot-0"), name="renamed")
    feed = ElementTree.fromstring(page(client, "/bots/bot-0/feed.atom"))
    titles = [entry.findtext(f"{ATOM}title") or "" for entry in feed.iter(f"{ATOM}entry")]
    assert any(title.startswith("renamed ") for title in titles)
    client.force_login(User.objects.create(username="ada"))
    assert client.post("/bots/bot-0/follow/")["Location"] == "/bots/renamed/"
    assert "renamed" in page(client, "/feed/").partition("<h2>You follow</h2>")[2]


def test_times_have_no_fractions_and_name_their_zone(client: Client, played: Tournament) -> None:
    times = re.findall(r'<time datetime="([^"]+)">([^<]+)<', page(client, "/events/"))
    assert times
    for machine, text in times:
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", machine)
        assert text.endswith(" UTC")


PREVIEWED = [
    *("/", "/bots/bot-0/", "/ladders/quick/", "/tournaments/{}/", "/play/"),
    *("/docs/", "/docs/rules/partridge/"),
]


@pytest.mark.parametrize("path", PREVIEWED)
def test_pages_have_a_title_and_description_for_previews(
    client: Client, played: Tournament, path: str
) -> None:
    text = page(client, path.format(played.pk))
    for name in ("og:title", "og:description"):
        assert re.search(rf'<meta property="{name}" content="[^"]+">', text)


def test_the_title_of_a_tournament_in_the_feed_is_the_best_news_of_it(
    client: Client, played: Tournament
) -> None:
    bot = Bot.objects.get(name="bot-1")
    ada = User.objects.create(username="ada-of-the-feed")
    Bot.objects.filter(pk=bot.pk).update(owner=ada, kind="hosted")
    FeedItem.objects.all().delete()
    for number, kind in ((1, "placed"), (3, "started")):
        FeedItem.objects.create(
            key=kind, kind=kind, bot=bot, tournament=played, number=number, at=timezone.now()
        )
    client.force_login(ada)
    text = words_of(page(client, "/feed/"))
    assert f"bot-1 wins {played.title} " in text
