"""The page of a ladder."""

import re

import pytest
from django.test import Client

from engine.rating.intervals import half_width
from league import ratings
from league.models import HeadToHead, Standing, Tournament
from tests.league import small
from tests.web.pages import page, words_of

pytestmark = pytest.mark.django_db(transaction=True)


def test_the_ladder_shows_every_bot_with_its_rating(client: Client, played: Tournament) -> None:
    text = page(client, "/ladders/quick/")
    standings = played.ladder.standings.all()
    assert len(standings) == 4
    for standing in standings:
        assert standing.bot.name in text
        assert f"{standing.rating / 1000:.0f}" in text


def test_the_ladder_shows_performance_bands_and_who_beats_whom(
    client: Client, played: Tournament, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("league.ratings.performance.ERROR_FROM", 1)
    text = page(client, "/ladders/quick/")
    assert "No rank yet (provisional): fewer than 20 rated blocks" in text
    assert "Ranked: at least" not in text
    [round_id] = ratings.take_fits()
    ratings.fit_round(round_id)
    Standing.objects.filter(bot__name__in=["bot-0", "bot-1"]).update(
        blocks=small.RANKED_FROM, performance_blocks=small.RANKED_FROM, band=1, best_chance=0.004
    )
    Standing.objects.filter(bot__name="bot-1").update(best_chance=0.62)
    text = page(client, "/ladders/quick/?view=statistics")
    for row in played.ladder.standings.all():
        half = half_width(row.performance_error or 0, row.performance_blocks)
        shown = rf'{row.performance:.0f}\s+<span class="quiet">± {half:.0f}</span>'
        assert re.search(shown, text)
        assert (row.band is None) == (row.blocks < small.RANKED_FROM)
    assert text.count('<svg class="bar"') == 4
    second = text.index("No rank yet (provisional): fewer")
    ranked = text.index("Ranked: at least 20")
    assert ranked < text.index("/bots/bot-1/", ranked) < second
    met = HeadToHead.objects.get(bot__name="bot-0", opponent__name="bot-1")
    share = f"{100 * met.half_wins / met.pairs / 2:.0f} %"
    assert f"bot-0 against bot-1: {share} of {met.pairs}" in text
    assert "the distance between the bot and the average of all bots" in text
    likely = " ".join(text[text.index("Probability of being the best") :].split())
    assert likely.startswith(
        'Probability of being the best ranked bot: <a href="/bots/bot-1/">bot-1</a> 62 %. '
    )
    assert "<dd>62 %</dd>" in page(client, "/bots/bot-1/statistics/")
    assert "<dd>&lt; 1 %</dd>" in page(client, "/bots/bot-0/statistics/")
    assert "Probability of being the best" not in page(client, "/bots/bot-2/statistics/")


def test_the_search_for_a_name_ignores_case(client: Client, played: Tournament) -> None:
    text = page(client, "/ladders/quick/?q=BOT-2")
    assert "/bots/bot-2/" in text
    assert "/bots/bot-1/" not in text
    assert "No bot of this ladder has" in page(client, "/ladders/quick/?q=nobody")


def test_twin_house_bots_show_how_much_of_the_ratings_is_luck(client: Client) -> None:
    ladder = small.ladder()
    bots = small.bots(3)
    for bot, name in zip(bots, ("house-thumb", "house-thumb-2", "house-random-2"), strict=True):
        bot.name = name
        bot.save()
    small.tournament(ladder)
    small.run_all()
    one, other = (ladder.standings.get(bot=bot).rating for bot in bots[:2])
    text = page(client, "/ladders/quick/?view=statistics")
    gap = f"<strong>{abs(one - other) / 1000:.0f} Elo</strong> today"
    assert gap in text
    Standing.objects.update(points=0)
    ratings.check_ladder(ladder.pk)
    Standing.objects.filter(bot=bots[0]).update(rating=9_000_000)
    assert gap in page(client, "/ladders/quick/?view=statistics")  # frozen with the standings
    assert text.count("are the same program") == 1


def test_the_standings_come_first_and_statistics_behind_a_link(
    client: Client, played: Tournament
) -> None:
    text = page(client, "/ladders/quick/")
    heads = re.findall(r'<th scope="col"[^>]*>(\w+).*?</th>', text)
    assert heads == ["Rank", "Bot", "History", "Rating", "Trend", "Matches"]
    assert "Who beats whom" not in text
    assert 'href="?view=statistics"' in text
    sought = page(client, "/ladders/quick/?q=bot-1&view=statistics")
    assert 'href="?q=bot-1"' in sought
    assert '<input type="hidden" name="view" value="statistics">' in sought
    assert "Performance" in sought


def test_the_headline_of_a_ladder_names_the_leader_and_its_lead(
    client: Client, played: Tournament
) -> None:
    assert "leads with" not in page(client, "/ladders/quick/")
    for name, rating in (("bot-0", 2_600_000), ("bot-1", 2_588_000)):
        Standing.objects.filter(bot__name=name).update(
            rating=rating, blocks=small.RANKED_FROM, performance_blocks=small.RANKED_FROM
        )
    text = " ".join(page(client, "/ladders/quick/").split())
    assert "bot-0</a></strong> is rated 2600, 12 Elo ahead of <a" in text
    assert '<a href="/bots/bot-1/">bot-1</a>' in text
    title = played.ladder.title
    for rating, second, headline, lead in (  # the headline and the line below it never disagree
        (2_600_000, 2_599_600, "bot-0 and bot-1 lead", "share the lead with 2600"),
        (2_600_600, 2_600_400, "bot-0 and bot-1 lead", "share the lead with 2601"),
        (2_600_400, 2_599_600, "bot-0 leads", "is rated 2600, 1 Elo ahead of"),
    ):
        Standing.objects.filter(bot__name="bot-0").update(rating=rating)
        Standing.objects.filter(bot__name="bot-1").update(rating=second)
        text = words_of(page(client, "/ladders/quick/"))
        assert f"{headline} {title}" in text
        assert lead in text


def test_no_ranked_bot_leads_while_a_provisional_bot_has_the_best_rating(
    client: Client, played: Tournament
) -> None:
    ranked, provisional = (Standing.objects.filter(bot__name=name) for name in ("bot-0", "bot-1"))
    counts = {"blocks": small.RANKED_FROM, "performance_blocks": small.RANKED_FROM}
    ranked.update(rating=2_600_000, **counts)
    text = page(client, "/ladders/quick/")
    assert "medal m1" in text
    few = {name: count - 1 for name, count in counts.items()}
    provisional.update(rating=2_700_000, **few)
    text = " ".join(page(client, "/ladders/quick/").split())
    assert (
        "bot-1</a></strong> has the highest rating, 2700, but needs 1 more block for a rank."
        in text
    )
    equal = Standing.objects.filter(bot__name="bot-2")
    equal.update(rating=2_700_000, **few)
    assert "has the highest rating" not in page(client, "/ladders/quick/")
    equal.update(rating=1_500_000)
    for path in ("/ladders/quick/", "/embed/ladders/quick/"):
        text = page(client, path)
        second = text.index("No rank yet (provisional): fewer than 20 rated blocks")
        ranked_at = text.index("Ranked: at least 20 rated blocks")
        assert ranked_at < text.index("/bots/bot-0/", ranked_at) < second
        assert text.index("/bots/bot-1/", ranked_at) > second
        assert '<b>19<span aria-hidden="true">/</span>' in text
        assert "medal m1" not in text
        assert 'class="leader"' not in text
