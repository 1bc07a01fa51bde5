"""The pages, with much and with nothing on them."""

import json
import re
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from engine.pairing import rank_entrants, rank_event
from engine.record import read, verify
from league import competitions, play, ratings
from league.competitions.tournament_standings import tournament_standings
from league.models import Bot, HeadToHead, Ladder, Match, Standing, Tournament
from league.ratings.standings import RANKED_FROM
from tests.league import small
from tests.league.kept import kept
from tests.league.play.live import match_of, remote_bots
from web.table.replays import steps
from web.tournament_page import behind

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
@kept
def played() -> Tournament:
    """A tournament played to its end by four bots."""
    tournament = small.tournament(small.ladder())
    small.bots(4)
    small.run_all()
    tournament.refresh_from_db()
    return tournament


def page(client: Client, path: str, status: int = 200) -> str:
    response = client.get(path)
    assert response.status_code == status
    return response.content.decode()


def test_an_empty_league_says_what_to_do(client: Client) -> None:
    assert "set_up_league" in page(client, "/")
    assert "None is planned" in page(client, "/tournaments/")
    small.ladder()
    assert "Nobody is rated yet" in page(client, "/ladders/quick/")


def test_the_ladder_shows_every_bot_with_its_rating(client: Client, played: Tournament) -> None:
    text = page(client, "/ladders/quick/")
    for standing in played.ladder.standings.all():
        assert standing.bot.name in text
        assert f"{standing.rating / 1000:.0f}" in text


def test_the_ladder_shows_performance_bands_and_who_beats_whom(
    client: Client, played: Tournament, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("league.ratings.performance.ERROR_FROM", 1)
    assert "Provisional: fewer than 20 blocks" in page(client, "/ladders/quick/")
    [round_id] = ratings.take_fits()
    ratings.fit_round(round_id)
    Standing.objects.filter(bot__name__in=["bot-0", "bot-1"]).update(
        blocks=RANKED_FROM, performance_blocks=RANKED_FROM, band=1
    )
    text = page(client, "/ladders/quick/")
    for row in played.ladder.standings.all():
        half = 1.96 * (row.performance_error or 0)
        assert f'{row.performance:.0f} <span class="quiet">± {half:.0f}</span>' in text
        assert (row.band is None) == (row.blocks < RANKED_FROM)
    assert text.count('<svg class="bar"') == 4
    assert text.index("Provisional: fewer") > text.index("/bots/bot-1/")
    met = HeadToHead.objects.get(bot__name="bot-0", opponent__name="bot-1")
    share = f"{100 * met.half_wins / met.pairs / 2:.0f} %"
    assert f"bot-0 against bot-1: {share} of {met.pairs}" in text
    assert "against the field’s mean" in text


def test_a_bots_page_shows_its_interval_opponents_and_when_it_is_due(
    client: Client, played: Tournament, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("league.ratings.performance.ERROR_FROM", 1)
    [round_id] = ratings.take_fits()
    ratings.fit_round(round_id)
    competitions.enter_ladder(ladder=played.ladder, bot=Bot.objects.get(name="bot-0"))
    text = page(client, "/bots/bot-0/")
    assert "About 9 more blocks halve its error bar." in text
    assert "It waits for company: 1 of the 3 bots" in text
    assert 'class="area' in text
    for name in ("bot-1", "bot-2", "bot-3"):
        assert f'<a href="/bots/{name}/">{name}</a></th><td class="number">6</td>' in text


def test_a_bots_latest_matches_come_first(client: Client, played: Tournament) -> None:
    small.tournament(played.ladder)
    small.run_all()
    text = page(client, "/bots/bot-0/")
    shown = [int(pk) for pk in re.findall(r">Match (\d+)<", text)]
    played_in = Match.objects.filter(seating__bot__name="bot-0").order_by("-pk")
    assert shown == list(played_in.values_list("pk", flat=True))[:20]


def test_a_name_is_sought_whatever_its_case(client: Client, played: Tournament) -> None:
    text = page(client, "/ladders/quick/?q=BOT-2")
    assert "/bots/bot-2/" in text
    assert "/bots/bot-1/" not in text
    assert "No bot here has" in page(client, "/ladders/quick/?q=nobody")


def test_a_tournament_shows_its_standings_and_in_the_end_its_seed(
    client: Client, played: Tournament
) -> None:
    text = page(client, f"/tournaments/{played.pk}/")
    assert bytes(played.seed).hex() in text
    assert text.count("bot-0") > 1
    placed_bots = tournament_standings(played)
    assert [placed.row.rank for placed in placed_bots] == [1, 2, 3, 4]
    for placed in placed_bots:
        assert f"<strong>{float(placed.row.score):.2f}</strong>" in text
    assert 'http-equiv="refresh"' not in text


def test_the_page_of_a_tournament_ranks_its_entrants_once(
    client: Client, played: Tournament, monkeypatch: pytest.MonkeyPatch
) -> None:
    ranked = []

    def counting(*args: Any, **kwargs: Any) -> Any:
        ranked.append(args)
        return rank_event(*args, **kwargs)

    monkeypatch.setattr("league.competitions.tournament_standings.rank_event", counting)
    page(client, f"/tournaments/{played.pk}/")
    assert len(ranked) == 1


def test_a_tie_is_told_with_its_numbers_below_the_name(client: Client) -> None:
    small.bots(8)
    cup = small.tournament(small.ladder(seats=2), format="knockout")
    small.run_all()
    cup.refresh_from_db()
    text = page(client, f"/tournaments/{cup.pk}/")
    cup.refresh_from_db()
    rows = [placed.row for placed in tournament_standings(cup)]
    told = [behind(row, above) for above, row in pairwise(rows)]
    assert [text.count(f"by {of}<") >= 1 for of in told if of] == [True] * len(
        [*filter(None, told)]
    )
    assert any(told)
    assert [bool(of) for of in told] == [
        row.decided_by not in ("round-reached", "table-place", "score") for row in rows[1:]
    ]


def test_a_lot_is_told_with_both_numbers_in_as_many_digits_as_tell_them_apart() -> None:
    first, second, *_ = rank_entrants(range(4), [], bytes(32))
    assert behind(second, first) == f"lot, {second.lot_text[:4]} against {first.lot_text[:4]}"
    assert second.lot_text < first.lot_text
    near = replace(second, lot=first.lot - 1)
    assert behind(near, first) == f"lot, {near.lot_text} against {first.lot_text}"


def test_a_round_robin_tells_in_numbers_what_is_played(client: Client) -> None:
    small.bots(8)
    ladder = small.ladder(seats=4)
    told = {}
    for most in (500, 10):
        robin = small.tournament(ladder, max_tables=most)
        told[most] = [page(client, f"/tournaments/{robin.pk}/")]
        competitions.advance(robin.pk)
        told[most].append(page(client, f"/tournaments/{robin.pk}/"))
    assert "Every table is played once where there are at most 500;" in told[500][0]
    every = "Each of the 70 tables of 4 that 8 bots make is played once, so all pairs meet equally"
    assert every in told[500][1]
    assert "where there are at most 10;" in told[10][0]
    some = (
        "Of the 70 tables of 4 that 8 bots make 10 are played: everybody sits at 5, and pairs meet "
        "as equally as can be, 2.14 times in the mean."
    )
    assert some in told[10][1]


def test_the_bracket_of_a_knockout_shows_who_goes_on_and_who_has_won(client: Client) -> None:
    small.bots(9)
    cup = small.tournament(small.ladder(seats=4), format="knockout")
    small.run_all()
    cup.refresh_from_db()
    text = page(client, f"/tournaments/{cup.pk}/")
    assert text.count("has won") == 1
    assert text.count(", goes on") == 6 + 4
    assert "Cross table" not in text
    cup.refresh_from_db()
    winner = tournament_standings(cup)[0].bot.name
    assert f'{winner}</a><span class="unseen">, has won' in text


def test_a_swiss_has_a_cross_table_and_tells_who_left_and_who_came_late(client: Client) -> None:
    small.bots(7)
    swiss = small.tournament(small.ladder(seats=3), format="swiss", late_entry=True)
    small.run_once()
    gone, bad = Bot.objects.filter(name__in=["bot-0", "bot-1"]).order_by("name")
    competitions.withdraw(tournament=swiss, bot=gone)
    competitions.disqualify(tournament=swiss, bot=bad, reason="It asked for <hidden> cards.")
    [guest] = small.bots(1, owner=User.objects.create(username="ada"), prefix="guest")
    competitions.enter(tournament=swiss, bot=guest)
    small.run_all()
    text = page(client, f"/tournaments/{swiss.pk}/")
    for said in ("withdrew in round 1", "It asked for &lt;hidden&gt; cards.", "from round 2"):
        assert said in text
    assert text.count('<td class="number self">') == 8
    assert 'style="' not in text
    assert "<script>" not in text


def test_an_owner_enters_late_and_withdraws_on_the_page(client: Client) -> None:
    small.bots(7)
    swiss = small.tournament(small.ladder(seats=3), format="swiss", late_entry=True)
    small.run_once()
    ada = User.objects.create(username="ada")
    small.bots(1, owner=ada, prefix="guest")
    client.force_login(ada)
    path = f"/tournaments/{swiss.pk}/"
    assert "It plays from the next round on." in page(client, path)
    client.post(f"{path}enter/", {"bot": "guest-0"})
    assert swiss.entries.get(bot__name="guest-0").first_round == 2
    assert "Withdraw a bot" in page(client, path)
    client.post(f"{path}withdraw/", {"bot": "guest-0"})
    assert swiss.entries.get(bot__name="guest-0").state == "withdrawn"
    assert "Withdraw a bot" not in page(client, path)
    assert client.post(f"{path}withdraw/", {"bot": "bot-0"}).status_code == 404


def test_a_running_tournament_keeps_its_seed_and_refreshes(client: Client) -> None:
    tournament = small.tournament(small.ladder())
    small.bots(4)
    competitions.advance(tournament.pk)
    text = page(client, f"/tournaments/{tournament.pk}/")
    assert bytes(tournament.seed).hex() not in text
    assert tournament.commitment in text
    assert 'http-equiv="refresh"' in text


def test_a_match_is_shown_step_by_step_from_the_first_day_to_the_end(
    client: Client, played: Tournament
) -> None:
    match = Match.objects.order_by("pk").first()
    assert match is not None
    told = steps(match.record, [seat.bot.name for seat in match.seating.all()])
    assert len(told) == 8 + 1
    for number in (1, 5, 9):
        text = page(client, f"/matches/{match.pk}/?step={number}")
        assert told[number - 1].note in text
        assert told[number - 1].title in text
    assert 'data-number="1" data-last="9"' in page(client, f"/matches/{match.pk}/?step=nonsense")
    assert 'data-number="9" data-last="9"' in page(client, f"/matches/{match.pk}/?step=99999")


def test_the_record_of_a_match_can_be_fetched_and_verifies(
    client: Client, played: Tournament
) -> None:
    match = Match.objects.order_by("pk").first()
    assert match is not None
    text = page(client, f"/matches/{match.pk}/record.json")
    assert verify(read(text.encode())).is_over
    assert json.loads(text)["deal_seed"] == bytes(match.deal_seed).hex()


def test_a_deal_that_is_still_in_play_at_another_table_stays_secret(client: Client) -> None:
    tournament = small.tournament(small.ladder())
    small.bots(4)
    competitions.advance(tournament.pk)
    match = Match.objects.order_by("pk").first()
    assert match is not None
    play.play_match(match.pk, players=small.players)
    text = page(client, f"/matches/{match.pk}/")
    assert "still in play at another table" in text
    assert bytes(match.deal_seed).hex() not in text
    page(client, f"/matches/{match.pk}/record.json", status=404)


def test_what_is_not_there_is_not_found(client: Client) -> None:
    for path in ("/ladders/none/", "/tournaments/1/", "/matches/1/", "/matches/x/", "/nothing"):
        assert "There is nothing here" in page(client, path, status=404)


def queries(client: Client, path: str) -> int:
    with CaptureQueriesContext(connection) as captured:
        page(client, path)
    return len(captured)


def test_pages_take_as_many_queries_however_much_is_on_them(
    client: Client, played: Tournament
) -> None:
    paths = ["/", "/ladders/quick/", "/ladders/quick/?q=bot", "/tournaments/"]
    paths += [f"/tournaments/{played.pk}/", "/bots/bot-0/"]
    Standing.objects.update(blocks=RANKED_FROM)
    competitions.enter_ladder(ladder=played.ladder, bot=Bot.objects.get(name="bot-0"))
    before = {path: queries(client, path) for path in paths}
    for _ in range(2):
        small.tournament(Ladder.objects.get())
        small.run_all()
    small.bots(3, prefix="more")
    small.tournament(Ladder.objects.get(), format="swiss", swiss_rounds=1)
    small.run_all()
    assert {path: queries(client, path) for path in paths} == before
    assert before.pop("/bots/bot-0/") <= 22
    assert max(before.values()) <= 15


def test_twins_of_the_house_show_how_much_of_the_ratings_is_luck(client: Client) -> None:
    ladder = small.ladder()
    bots = small.bots(3)
    for bot, name in zip(bots, ("house-thumb", "house-thumb-2", "house-random-2"), strict=True):
        bot.name = name
        bot.save()
    small.tournament(ladder)
    small.run_all()
    one, other = (ladder.standings.get(bot=bot).rating for bot in bots[:2])
    text = page(client, "/ladders/quick/")
    said = f"<strong>{abs(one - other) / 1000:.0f} Elo</strong> lie between house-thumb and"
    assert said in text
    Standing.objects.update(points=0)
    ratings.check_ladder(ladder.pk)
    Standing.objects.filter(bot=bots[0]).update(rating=9_000_000)
    assert said in page(client, "/ladders/quick/")  # frozen with the standings
    assert text.count("the same program") == 1


def test_the_home_page_shows_what_is_in_play_now(client: Client) -> None:
    assert "No match is in play at this moment" in page(client, "/")
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
    assert page(client, "/").count('<span class="state playing">live</span>') == 6
    Match.objects.update(status=Match.Status.VOID)
    assert "No match is in play at this moment" in page(client, "/")
