"""The learn pages: the pictures agree with the engine, and the guide knows each decision."""

import re
from typing import Any

import pytest
from django.test import Client

from engine.games import catalogue
from engine.record import replay
from league import play
from league.models import Match
from tests.docs.documents import example
from tests.league.players import house_bots
from web import guide
from web.learn import LESSONS, examples, front_example

GAMES = ["twelve-days", "partridge"]


def text(client: Client, path: str) -> str:
    response = client.get(path)
    assert response.status_code == 200
    return " ".join(response.content.decode().split())


def test_every_game_has_a_lesson() -> None:
    assert set(LESSONS) == set(catalogue.GAMES)


@pytest.mark.parametrize(
    ("game", "said"),
    [
        ("twelve-days", "Two 6s cancel each other; 7 is the lowest left, so Ben wins 1 point."),
        ("twelve-days", "no card is left, so 2 points carry over to day 3"),
        ("twelve-days", "Dora awards 5 points to Ana."),
        ("partridge", "Ana and Chen tie at 9; Chen played last and wins the trick."),
        ("partridge", "Chen played its last cards without winning and takes 6 5 back."),
        ("partridge", "Ben holds the most cards (3) and gives one too. So does Dora."),
    ],
)
def test_a_lesson_shows_what_the_engine_says(
    client: Client, db: None, game: str, said: str
) -> None:
    assert said in text(client, f"/learn/{game}/")


def test_the_pictures_cross_out_exactly_the_cards_that_cancel(client: Client, db: None) -> None:
    [first, second, third] = examples("twelve-days")
    assert (first.cancelled, second.cancelled, third.cancelled) == (
        frozenset({6}),
        frozenset({7, 12}),
        frozenset(),
    )
    assert all(not each.cancelled for each in examples("partridge"))
    assert text(client, "/learn/").count(' cancelled"') == 2


def test_each_step_of_the_way_is_a_link_or_a_button(client: Client, db: None) -> None:
    front = text(client, "/learn/")
    for game in LESSONS:
        assert f'href="/learn/{game}/"' in front
        assert f'action="/learn/{game}/first-match/"' in front
    assert 'href="/learn/write-a-bot/"' in front
    for game in LESSONS:  # read at a glance
        assert all(len(seat.played or ()) <= 2 for seat in front_example(game).step.table)


def test_an_unknown_game_has_no_lesson(client: Client, db: None) -> None:
    assert client.get("/learn/chess/").status_code == 404
    assert client.post("/learn/chess/first-match/").status_code == 404


@pytest.mark.django_db
@pytest.mark.parametrize("game", GAMES)
def test_a_first_match_begins_with_the_guide_until_it_is_switched_off(
    client: Client, game: str
) -> None:
    house_bots()
    begun = client.post(f"/learn/{game}/first-match/")
    assert begun.status_code == 302
    address = begun["Location"]
    match = Match.objects.get()
    assert match.game == game
    play.play_house_turns(match.pk)
    page = text(client, address)
    assert "Switch the guide off" in page
    assert re.search(r'class="guide"><summary[^>]*>You ', page)
    client.post(f"{address}guide/")
    page = text(client, address)
    assert 'class="guide"' not in page
    assert "Switch the guide on" in page
    client.post(f"{address}guide/", {"guide": "on"})
    assert 'class="guide"' in text(client, address)


@pytest.mark.django_db
def test_the_guide_is_for_one_table(client: Client) -> None:
    house_bots()
    begun = client.post("/learn/partridge/first-match/")
    assert begun.cookies["guide"]["path"] == begun["Location"]


def advised(game: str) -> dict[str, list[tuple[dict[str, Any], str]]]:
    """Return each decision of the example match with its advice, by phase."""
    record = example(game)
    found: dict[str, list[tuple[dict[str, Any], str]]] = {}
    for ply, (seat, _) in enumerate(record.moves):
        seen = replay(record, ply).observe(seat)
        found.setdefault(seen["phase"], []).append((seen, guide.advice(seen)))
    return found


def test_the_guide_speaks_at_each_decision_of_12_days() -> None:
    by_phase = advised("twelve-days")
    assert set(by_phase) == {"give", "play", "award"}
    gives = by_phase["give"]
    assert "before you play" in gives[0][1]
    after = {seen["day"]: said for seen, said in gives}
    assert "played a 6, so these cards cancelled" in after[2]
    assert "also gets the 2 points in the pot" in after[3]
    assert "cancelled" not in after[4]  # the guide explains it once
    assert "the last day" in after[12]
    for seen, said in by_phase["play"]:
        if 1 < seen["day"] < 12 and len(seen["pot"]) == 1:
            assert re.search(rf"received an? {seen['received'] or 'Claus'}\.", said)
        assert re.search(rf"\b{sum(seen['pot'])} point", said)


def test_the_guide_speaks_at_each_decision_of_12_days_of_christmas() -> None:
    by_phase = advised("partridge")
    assert set(by_phase) == {"lead", "follow"}
    for seen, said in by_phase["lead"]:
        assert "pass" not in seen["legal_moves"]
        assert "may not pass" in said or len(seen["hand"]) == 1
    for seen, said in by_phase["follow"]:
        assert f" {seen['lead_low']} or less" in said
        assert ("You have no " in said) == (seen["legal_moves"] == ["pass"])
        is_last = any(len(move.split()) - 1 == len(seen["hand"]) for move in seen["legal_moves"])
        assert ("your last cards now" in said) == is_last


def test_each_of_the_three_steps_is_a_link(client: Client) -> None:
    steps = text(client, "/learn/").partition('<ol class="path"')[2].partition("</ol>")[0]
    assert re.findall(r'<li><a href="([^"]+)"', steps)[:2] == ["/learn/twelve-days/", "/play/"]
    assert steps.count("<li><a ") == steps.count("<li>") == 3
