"""The page of a tournament."""

import re
from dataclasses import replace
from datetime import timedelta
from fractions import Fraction
from itertools import pairwise
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from engine.pairing import TieBreak, rank_entrants, rank_event
from league import competitions
from league.competitions.tournament_standings import tournament_standings
from league.models import Bot, Match, Tournament
from tests.league import small
from tests.web.pages import page, words_of
from web.event_story import in_short
from web.pictures.events import tournament_svg
from web.tournament_page import tie_break

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_finished_tournament_shows_its_standings_and_its_seed(
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


def let_one_bot_win() -> None:
    """Let one bot win all its matches; with luck alone it may have lost each to the second."""
    first = Bot.objects.earliest("pk").pk
    small.set_places(Match.objects.all(), lambda bot: 1 if bot == first else 2)


def test_a_tournament_shows_a_match_to_watch_and_shares_in_percent(
    client: Client, played: Tournament
) -> None:
    let_one_bot_win()
    winner, second = (placed.bot for placed in tournament_standings(played)[:2])
    text = page(client, f"/tournaments/{played.pk}/")
    shown = text.partition('id="to-watch"')[2].partition("</section>")[0]
    [match] = re.findall(r"/matches/(\d+)/\?step=\d+", shown)
    won = Match.objects.get(pk=match)
    assert f"Closest win against {second.name}" in shown
    assert [seat.bot for seat in won.seating.filter(place=1)] == [winner]
    assert won.seating.filter(bot=second).exists()
    assert 'role="img"' in shown  # the picture of the step
    cells = re.findall(r'<td data-head="\w+" class="number (?:up|down|)"[^>]*>([^<]*)<', text)
    assert len(cells) == 12
    assert all(re.fullmatch(r"\d+\xa0%", cell) for cell in cells)


def test_the_match_to_watch_of_a_tournament_is_no_forfeit(
    client: Client, played: Tournament
) -> None:
    let_one_bot_win()
    address = f"/tournaments/{played.pk}/"
    shown = page(client, address).partition('id="to-watch"')[2].partition("</section>")[0]
    [match] = re.findall(r"/matches/(\d+)/\?step=\d+", shown)
    places = Match.objects.get(pk=match).places or []
    Match.objects.filter(pk=match).update(forfeited=[place == max(places) for place in places])
    assert f"/matches/{match}/?step" not in page(client, address)
    for other in Match.objects.all():
        Match.objects.filter(pk=other.pk).update(forfeited=[True] * other.seats)
    assert "/?step=" not in page(client, address)


@pytest.mark.parametrize(("second", "label"), [(70, "Closest of"), (52, "From")])
def test_only_a_close_match_of_a_running_tournament_is_called_close(
    client: Client, played: Tournament, second: int, label: str
) -> None:
    Tournament.objects.update(state="running")
    let_one_bot_win()
    for match in Match.objects.all():
        scores = [83 if place == 1 else second for place in match.places or []]
        Match.objects.filter(pk=match.pk).update(scores=scores)
    shown = page(client, f"/tournaments/{played.pk}/").partition('id="to-watch"')[2]
    assert f"{label} the last matches" in shown.partition("</section>")[0]


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


def test_a_tie_break_stands_below_the_name_with_its_numbers(client: Client) -> None:
    small.bots(8)
    cup = small.tournament(small.ladder(seats=2), format="knockout")
    small.run_all()
    cup.refresh_from_db()
    text = page(client, f"/tournaments/{cup.pk}/")
    cup.refresh_from_db()
    rows = [placed.row for placed in tournament_standings(cup)]
    breaks = [tie_break(row, above) for above, row in pairwise(rows)]
    assert [text.count(f"by {of}<") >= 1 for of in breaks if of] == [True] * len(
        [*filter(None, breaks)]
    )
    assert any(breaks)
    assert [bool(of) for of in breaks] == [
        row.decided_by not in ("round-reached", "table-place", "score") or above.score < row.score
        for above, row in pairwise(rows)
    ]


def test_a_row_below_a_lower_score_names_the_stage_or_the_place_that_decides() -> None:
    first, second, *_ = rank_entrants(range(4), [], bytes(32))
    above = replace(first, round_reached=1, table_place=3, score=Fraction(0))
    low = replace(second, round_reached=1, table_place=4, score=Fraction(1, 2))
    by_place = replace(low, decided_by=TieBreak.TABLE_PLACE)
    assert tie_break(by_place, above) == "place at the table, 4th against 3rd"
    by_stage = replace(low, decided_by=TieBreak.ROUND_REACHED)
    assert tie_break(by_stage, replace(above, round_reached=2)) == "stage reached, 1 against 2"
    assert tie_break(by_place, replace(above, score=Fraction(1, 2))) == ""


def test_a_lot_is_shown_with_enough_digits_to_differ() -> None:
    first, second, *_ = rank_entrants(range(4), [], bytes(32))
    assert tie_break(second, first) == f"lot, {second.lot_text[:4]} against {first.lot_text[:4]}"
    assert second.lot_text < first.lot_text
    near = replace(second, lot=first.lot - 1)
    assert tie_break(near, first) == f"lot, {near.lot_text} against {first.lot_text}"


def test_a_round_robin_states_how_many_tables_are_played(client: Client) -> None:
    small.bots(8)
    ladder = small.ladder(seats=4)
    texts = {}
    for most in (500, 10):
        robin = small.tournament(ladder, max_tables=most)
        texts[most] = [page(client, f"/tournaments/{robin.pk}/")]
        competitions.advance_tournament(robin.pk)
        texts[most].append(page(client, f"/tournaments/{robin.pk}/"))
    assert "If there are 500 such tables or fewer, all of them play." in texts[500][0]
    every = "8 bots can form 70 different tables of 4. All of them are used, so all pairs meet"
    assert every in texts[500][1]
    assert "If there are 10 such tables or fewer" in texts[10][0]
    some = (
        "8 bots can form 70 different tables of 4. 10 of them are used. Each bot plays at 5 "
        "tables. All pairs of bots meet about equally often, 2.14 times on average."
    )
    assert some in texts[10][1]


def test_a_swiss_shows_a_cross_table_late_entries_and_withdrawals(client: Client) -> None:
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
    for shown in ("withdrew in stage 1", "It asked for &lt;hidden&gt; cards.", "from stage 2"):
        assert shown in text
    assert text.count('class="number self">') == 8
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
    assert "The bot plays from the next stage on." in page(client, path)
    client.post(f"{path}enter/", {"bot": "guest-0"})
    assert swiss.entries.get(bot__name="guest-0").first_round == 2
    assert "Withdraw a bot" in page(client, path)
    client.post(f"{path}withdraw/", {"bot": "guest-0"})
    assert swiss.entries.get(bot__name="guest-0").state == "withdrawn"
    assert "Withdraw a bot" not in page(client, path)
    assert client.post(f"{path}withdraw/", {"bot": "bot-0"}).status_code == 404


def test_a_running_tournament_hides_its_seed_and_refreshes(client: Client) -> None:
    tournament = small.tournament(small.ladder())
    small.bots(4)
    competitions.advance_tournament(tournament.pk)
    text = page(client, f"/tournaments/{tournament.pk}/")
    assert bytes(tournament.seed).hex() not in text
    assert tournament.commitment in text
    assert 'http-equiv="refresh"' in text


def test_before_the_first_block_is_over_nobody_has_a_rank_or_a_lot(client: Client) -> None:
    tournament = small.tournament(small.ladder())
    small.bots(4)
    competitions.advance_tournament(tournament.pk)
    text = page(client, f"/tournaments/{tournament.pk}/")
    assert "behind the bot above" not in text
    assert text.count('class="number">–</td>') >= 4
    assert "blocks here wait" in text
    assert 'class="panel block"' not in text
    assert "<progress" not in text
    assert "Cross table</h2>" not in text
    assert ">being played<" not in text
    assert "no block is finished yet;" in text
    assert "still to be played." in text
    assert "No result yet" in page(client, "/events/")
    Match.objects.filter(pk=Match.objects.earliest("pk").pk).update(status="playing")
    text = page(client, f"/tournaments/{tournament.pk}/")
    assert "1 match is in play" in text
    assert ">being played<" in text


def test_a_finished_tournament_names_its_winner_first(client: Client, played: Tournament) -> None:
    winner, second, third, _ = [placed.bot.name for placed in tournament_standings(played)]
    text = page(client, f"/tournaments/{played.pk}/")
    head = re.sub(r"<[^>]+>|\s+", " ", text[text.index('id="now"') : text.index("big screen")])
    words = " ".join(head.split())
    assert f"{winner} wins." in words
    assert f"Then came {second} and {third}" in words


def test_the_big_screen_keeps_only_what_spectators_watch(
    client: Client, played: Tournament
) -> None:
    path = f"/tournaments/{played.pk}/"
    assert 'href="?view=screen"' in page(client, path)
    text = page(client, f"{path}?view=screen")
    assert '<body class="screen">' in text
    assert "Leave the big screen" in text


def test_a_cancelled_tournament_shows_when_it_was_cancelled_and_not_its_start(
    client: Client, played: Tournament
) -> None:
    start = timezone.now() + timedelta(days=400)
    cup = small.tournament(played.ladder)
    Tournament.objects.filter(pk=cup.pk).update(
        state="cancelled", starts_at=start, finished_at=timezone.now() - timedelta(days=1)
    )
    text = page(client, "/events/")
    assert start.strftime("%Y") not in text
    assert text.index(f"/tournaments/{played.pk}/") < text.index(f"/tournaments/{cup.pk}/")


def test_a_block_whose_matches_all_wait_is_not_shown_as_played(client: Client) -> None:
    tournament = small.tournament(small.ladder())
    small.bots(3)
    competitions.advance_tournament(tournament.pk)
    text = page(client, f"/tournaments/{tournament.pk}/")
    assert "The block here waits" in text
    assert "being played" not in text


def test_two_sentences_explain_each_format(played: Tournament) -> None:
    for format_ in Tournament.Format:
        assert len(in_short(Tournament(format=format_))) == 2


def test_tie_breaks_are_folded_away(client: Client, played: Tournament) -> None:
    text = page(client, f"/tournaments/{played.pk}/")
    first, folded = text.split('<details class="numbers">', 1)
    assert "Buchholz" not in first
    assert "Buchholz" in folded
    assert first.count('class="medal') == 3


def test_a_tournament_that_is_over_leads_to_the_next_on_its_ladder(
    client: Client, played: Tournament
) -> None:
    path = f"/tournaments/{played.pk}/"
    assert "Next on this ladder" not in page(client, path)
    coming = competitions.announce_tournament(
        title="The next one", ladder=played.ladder, starts_at=timezone.now() + timedelta(hours=3)
    )
    text = page(client, path)
    assert f'Next on this ladder: <a href="/tournaments/{coming.pk}/">The next one</a>' in text
    assert f'data-countdown="{coming.starts_at:%Y-%m-%dT%H:%M:%SZ}"' in text


def test_a_tournament_to_come_says_when_it_starts_and_how_to_enter(
    client: Client, played: Tournament
) -> None:
    coming = competitions.announce_tournament(
        title="The next one", ladder=played.ladder, starts_at=timezone.now() + timedelta(hours=3)
    )
    path = f"/tournaments/{coming.pk}/"
    text = page(client, path)
    assert "Play starts in" in text
    assert "You need an account and a bot. A hosted bot needs a version" in text
    client.force_login(User.objects.create(username="new-here"))
    assert "You have no bot that can enter." in page(client, path)


def test_a_cancelled_tournament_says_why(client: Client, played: Tournament) -> None:
    Tournament.objects.filter(pk=played.pk).update(
        state=Tournament.State.CANCELLED, cancel_reason="Too few bots entered."
    )
    text = page(client, f"/tournaments/{played.pk}/")
    assert '<strong class="winner">Cancelled: Too few bots entered.</strong>' in text
    assert "You need an account" not in text


def test_the_matches_in_play_come_first(client: Client) -> None:
    tournament = small.tournament(small.ladder())
    small.bots(4)
    competitions.advance_tournament(tournament.pk)
    match = Match.objects.earliest("pk")
    path = f"/tournaments/{tournament.pk}/"
    assert 'id="playing" data-live="4" hidden' in page(client, path)
    Match.objects.filter(pk=match.pk).update(status="playing")
    text = page(client, path)
    in_play = text.split('id="playing"')[1].split("</section>")[0]
    assert f'href="/matches/{match.pk}/"' in in_play
    assert text.index('id="playing"') < text.index('id="standings"')


def lead_of(client: Client, tournament: Tournament) -> str:
    text = page(client, f"/tournaments/{tournament.pk}/")
    return words_of(text.partition('<p class="lead"')[2].partition("</p>")[0])


def test_the_first_sentence_of_a_tournament_names_no_disqualified_bot(
    client: Client, played: Tournament
) -> None:
    first, *others = [placed.bot for placed in tournament_standings(played)]
    for bot in others[1:]:
        competitions.disqualify(tournament=played, bot=bot, reason="It printed its cards.")
    assert f"{first} wins. Then came {others[0]} ." in lead_of(client, played)
    for bot in (first, others[0]):
        competitions.disqualify(tournament=played, bot=bot, reason="It printed its cards.")
    assert "No bot has a rank." in lead_of(client, played)
    assert "wins" not in words_of(page(client, f"/embed/tournaments/{played.pk}/"))
    assert "wins" not in tournament_svg(Tournament.objects.get(pk=played.pk))


def test_no_disqualified_bot_leads_a_tournament(client: Client) -> None:
    small.bots(7)
    swiss = small.tournament(small.ladder(seats=3), format="swiss")
    small.run_once()
    assert "leads with" in lead_of(client, swiss)
    for placed in tournament_standings(swiss):
        competitions.disqualify(tournament=swiss, bot=placed.bot, reason="It printed its cards.")
    assert "leads with" not in lead_of(client, swiss)


def test_the_list_names_who_leads_a_running_tournament(client: Client) -> None:
    tournament = small.tournament(small.ladder(), format="round-robin")
    small.bots(5)
    small.run_once()
    tournament.refresh_from_db()
    assert tournament.state == "running"
    first = tournament_standings(tournament)[0]
    text = words_of(page(client, "/events/"))
    assert f"{first.bot.name} leads with {float(first.row.score):.2f} points" in text


def test_the_list_counts_the_bots_left_in_a_knockout(client: Client) -> None:
    tournament = small.tournament(small.ladder(), format="knockout", extra_blocks=0)
    small.bots(6)
    seen = ""
    while competitions.tournaments_to_advance() or tournament.state == "running":
        small.run_once()
        seen += words_of(page(client, "/events/"))
        tournament.refresh_from_db()
    assert re.search(r" [2-5] of 6 bots are left", seen)
