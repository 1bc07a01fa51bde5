"""The page of a knockout: its bracket, and the stages that its bots have reached."""

import re

import pytest
from django.test import Client

from league import competitions
from league.competitions.history import history_of
from league.competitions.tournament_standings import bracket_of, tournament_standings
from league.models import Bot
from tests.league import small
from tests.league.competitions.events import entered_by
from tests.web.pages import page
from web.event_story import UndrawnStage, undrawn_stages

pytestmark = pytest.mark.django_db(transaction=True)


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
    assert re.search(rf'{winner}</a><span\s+class="unseen">, has won', text)


def test_the_standings_of_a_knockout_show_the_stage_that_each_bot_has_reached(
    client: Client,
) -> None:
    *others, paused = small.bots(9)
    cup = entered_by([*others, paused], seats=4, format="knockout")
    Bot.objects.filter(pk=paused.pk).update(paused=True)
    small.run_all()
    table = page(client, f"/tournaments/{cup.pk}/").partition('<table class="places">')[2]
    reached = re.findall(r'<td class="number">(.*?)</td>', table.partition("</table>")[0])
    assert reached == ["Final"] * 4 + ["Stage 1"] * 4 + ["–"]


def test_a_running_knockout_shows_the_stages_that_are_not_drawn_yet(client: Client) -> None:
    small.bots(9)
    cup = small.tournament(small.ladder(seats=2), format="knockout")
    competitions.advance_tournament(cup.pk)
    [first] = bracket_of(history_of(cup))
    undrawn = undrawn_stages([first], seats=2)
    going_on = len(first.byes) + len(first.tables)
    assert undrawn[0] == UndrawnStage(2, False, going_on, -(-going_on // 2))
    assert [stage.final for stage in undrawn] == [False] * (len(undrawn) - 1) + [True]
    assert undrawn[-1].bots == 2
    text = page(client, f"/tournaments/{cup.pk}/")
    assert text.count("Not drawn yet") == len(undrawn)
    small.run_all()
    cup.refresh_from_db()
    drawn = bracket_of(history_of(cup))
    assert len(drawn) == 1 + len(undrawn)
    assert "Not drawn yet" not in page(client, f"/tournaments/{cup.pk}/")


def test_if_the_winner_of_a_final_is_disqualified_the_next_bot_has_won_in_the_bracket(
    client: Client,
) -> None:
    small.bots(8)
    cup = small.tournament(small.ladder(seats=4), format="knockout")
    small.run_all()
    cup.refresh_from_db()
    first, second, *_ = [placed.bot.name for placed in tournament_standings(cup)]
    competitions.disqualify(tournament=cup, bot=Bot.objects.get(name=first), reason="Cheats.")
    text = page(client, f"/tournaments/{cup.pk}/")
    winners = re.findall(r'/bots/([\w-]+)/">[^<]*</a><span\s+class="unseen">, has won', text)
    assert winners == [second]
