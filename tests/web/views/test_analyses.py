"""The page of the analysis of a match."""

import re
from collections.abc import Sequence
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from engine.analysis import analyse
from engine.playback import steps_of
from engine.rating.results import places_of
from engine.sentences import move_in_words
from league import analyses
from league.models import Block, Match, MatchAnalysis, Tournament
from tests.engine.analysis.test_forfeits import with_the_most_points
from tests.web.pages import page, queries
from web.analysis_page import seat_sums
from web.table.replays import replay_steps

pytestmark = pytest.mark.django_db(transaction=True)

MAX_QUERIES = 8


@pytest.fixture
def match(played: Tournament) -> Match:
    return Match.objects.finished().earliest("pk")


def test_a_visitor_asks_for_an_analysis_and_sees_how_far_it_is(
    client: Client, match: Match
) -> None:
    path = f"/matches/{match.pk}/analysis/"
    assert f'action="{path}"' in page(client, f"/matches/{match.pk}/")
    assert "Analyse this match" in page(client, path)
    assert client.post(path).status_code == 302
    assert MatchAnalysis.objects.get().match_id == match.pk
    analyses.compute(match.pk, seconds=0, playouts=8)
    text = page(client, path)
    assert f"{match.seats} of {len(match.record.moves)} moves so far" in text
    assert "Analyse this match" not in text


def test_a_finished_analysis_shows_chances_parts_and_decisions(
    client: Client, match: Match
) -> None:
    path = f"/matches/{match.pk}/analysis/"
    analyses.ask(match=match)
    analyses.compute(match.pk, seconds=600, playouts=8)
    result = MatchAnalysis.objects.get().result
    assert result is not None
    text = page(client, f"{path}?decisions=all")
    assert text.count("<details>") == len(result["decisions"])
    for each in result["decisions"]:
        assert f"seat {each['seat']}, ply {each['ply']}" in text
    assert text.count("<polyline") == match.seats
    for seat in match.seating.all():
        assert f'<th scope="row">{seat.bot.name}</th>' in text
    assert "A mistake loses 0.06 to" in text  # 3 seats
    for row in text.split("<li>"):
        mark = re.search(r'class="mark (mistake|blunder)">', row)
        shown = re.search(r'class="loss">−?([\d.]+)\s+<span class="quiet">± ([\d.]+)', row)
        assert not mark or not shown or float(shown[1]) >= float(shown[2])
    worst = max(result["decisions"], key=lambda each: each["loss"])
    names = [seat.bot.name for seat in match.seating.order_by("seat")]
    best = text.partition("best was ")[2].partition("</b>")[0]
    assert f">{move_in_words(worst['best'], names)}</b></span>" in text
    assert '<span class="tc r' in best  # the card stands beside the words
    marked = [each for each in result["decisions"] if each["mark"] in ("mistake", "blunder")]
    assert page(client, path).count("<details>") == len(marked)
    summaries = re.findall(r"<li><b>[\w-]+</b> (?:took|shared) \w+ place[,.] ?", text)
    assert len(summaries) == match.seats
    assert queries(client, path) <= MAX_QUERIES


def test_after_a_forfeit_the_places_of_the_analysis_are_those_of_the_match() -> None:
    record = with_the_most_points()
    row = MatchAnalysis(finished_at=timezone.now())
    row.packed_result = MatchAnalysis.pack(analyse(record, 8).as_json())
    found = analyses.result_of(row, record)
    assert found is not None
    sums = seat_sums(found, ["ada", "bob", "cyd"])
    assert [each.place for each in sums] == pytest.approx(mean_places(places_of(record)))
    assert sums[0].summary.startswith("took third place")


def mean_places(places: Sequence[int]) -> list[float]:
    """Return places in which tied seats share the mean."""
    return [place + (places.count(place) - 1) / 2 for place in places]


def analysed(match: Match) -> tuple[MatchAnalysis, Any, Any]:
    """Analyse a match; return the row, its result, and the decision that lost most."""
    analyses.ask(match=match)
    analyses.compute(match.pk, seconds=600, playouts=8)
    row = MatchAnalysis.objects.get()
    result = row.result
    assert result is not None
    return row, result, max(result["decisions"], key=lambda each: each["loss"])


def test_the_analysis_begins_with_what_lost_most_and_ends_with_the_explanations(
    client: Client, match: Match
) -> None:
    row, result, worst = analysed(match)
    for each in result["decisions"]:
        each["mark"] = "fine"
    worst |= {"mark": "blunder", "loss": 0.99}
    row.packed_result = MatchAnalysis.pack(result)
    row.save()
    names = [seat.bot.name for seat in match.seating.order_by("seat")]
    loses = f"{names[worst['seat']]} ends 2.0 places lower on average"
    day = steps_of(match.record)[worst["ply"]][1]
    text = page(client, f"/matches/{match.pk}/analysis/")
    result_first = text.partition('<p class="lead">')[2].partition(".")[0]
    assert ", 12 Days" in result_first
    order = (
        "<h1>",
        f"on {day}</h1>",
        loses,
        "<polyline",
        "Luck and play</h2>",
        'class="decisions"',
        "read this page",
    )
    found = [text.index(each) for each in order]
    assert found == sorted(found)
    first = text.partition(loses)[2].partition("</li>")[0]
    for move in (worst["move"], worst["best"]):
        assert move_in_words(move, names) in first
    panel = page(client, f"/matches/{match.pk}/").partition('id="analysis"')[2]
    assert panel.index(loses) < panel.index('class="turns"') < panel.index("A chance is a seat")
    for each in result["decisions"]:
        each["mark"] = "fine"
    row.packed_result = MatchAnalysis.pack(result)
    row.save()
    text = page(client, f"/matches/{match.pk}/analysis/")
    assert "No mistake and no blunder" in text
    assert "No bot makes a mistake</h1>" in text


def test_the_moves_of_a_decision_begin_with_the_best_and_the_one_that_was_made(
    client: Client, match: Match
) -> None:
    row, result, worst = analysed(match)
    rough = next(move for move in worst["results"] if move not in (worst["move"], worst["best"]))
    worst["mark"], worst["results"][rough] = "blunder", 1.0  # luck of few simulated matches
    row.packed_result = MatchAnalysis.pack(result)
    row.save()
    text = page(client, f"/matches/{match.pk}/analysis/")
    names = [seat.bot.name for seat in match.seating.order_by("seat")]
    first = [move_in_words(worst[each], names) for each in ("best", "move")] + [rough]
    lists = [
        re.findall(r"<li>([^<]+) <span", each)
        for each in re.findall(r"<details>(.*?)</details>", text, re.DOTALL)
    ]
    assert any(found[:3] == first for found in lists)


def test_a_failed_analysis_can_be_asked_for_again(client: Client, match: Match) -> None:
    analyses.ask(match=match)
    MatchAnalysis.objects.update(due_at=None)
    text = page(client, f"/matches/{match.pk}/analysis/")
    assert "The analysis failed." in text
    assert "Analyse this match" in text


def test_an_analysis_is_secret_while_the_record_is(client: Client, match: Match) -> None:
    Block.objects.update(state="playing")
    page(client, f"/matches/{match.pk}/analysis/", status=404)


def test_requests_for_analyses_are_limited(
    client: Client, match: Match, settings: Settings
) -> None:
    settings.RATE_LIMITS = {**settings.RATE_LIMITS, "analyses": (1, 3600)}
    path = f"/matches/{match.pk}/analysis/"
    assert [client.post(path, REMOTE_ADDR="192.0.2.9").status_code for _ in range(2)] == [302, 429]


def test_each_ply_belongs_to_a_step_of_the_replay(match: Match) -> None:
    record = match.record
    steps = steps_of(record)
    assert len(steps) == len(record.moves)
    shown = replay_steps(record, ["a", "b", "c"])
    assert max(number for number, _ in steps) == len(shown) - 1  # the last one shows the end


def test_a_visitor_asks_from_the_match_and_stays_at_the_step(client: Client, match: Match) -> None:
    answer = client.post(f"/matches/{match.pk}/analysis/", {"step": "3"})
    assert answer["Location"] == f"/matches/{match.pk}/?step=3#analysis"


def test_the_page_of_a_match_shows_how_far_its_analysis_is(client: Client, match: Match) -> None:
    path = f"/matches/{match.pk}/"
    text = page(client, path)
    assert 'data-state="none"' in text
    assert "Analyse this match" in text
    analyses.ask(match=match)
    analyses.compute(match.pk, seconds=0, playouts=8)
    text = page(client, path)
    assert f"{match.seats} of {len(match.record.moves)} moves are analysed" in text
    assert 'id="analysis" aria-label="Analysis of the match" data-live="4"' in text
    assert "Analyse this match" not in text
    MatchAnalysis.objects.update(due_at=None)
    text = page(client, path)
    assert "The analysis failed." in text
    assert "Analyse this match" in text


def test_the_page_of_a_match_has_its_chances_without_javascript(
    client: Client, match: Match
) -> None:
    analyses.ask(match=match)
    analyses.compute(match.pk, seconds=600, playouts=8)
    text = page(client, f"/matches/{match.pk}/?step=2")
    assert text.count("data-line points=") == match.seats
    rows = re.findall(r'<a href="\?step=(\d+)(?:&amp;ply=\d+)?"[^>]* data-to="', text)
    assert rows == [str(day) for day in range(1, 9)]
    assert 'id="analysis-data"' in text
    assert "hidden>" not in text.split('id="verdict"')[1].split("</p>")[0]
    assert queries(client, f"/matches/{match.pk}/") <= MAX_QUERIES
