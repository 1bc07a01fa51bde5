"""The gallery of components."""

import json
import re

import pytest
from django.contrib.auth.models import User
from django.test import Client

from tests.web.pages import page, queries

pytestmark = pytest.mark.django_db(transaction=True)
PATH = "/organise/components/"


@pytest.fixture
def organiser(client: Client) -> Client:
    client.force_login(User.objects.create(username="olga", is_staff=True))
    return client


def test_only_organisers_see_the_gallery(client: Client) -> None:
    assert client.get(PATH).status_code == 302
    client.force_login(User.objects.create(username="ada"))
    for path in (PATH, f"{PATH}0.json"):
        assert client.get(path).status_code == 403


def test_samples_come_from_no_table_of_the_database(organiser: Client) -> None:
    assert queries(organiser, PATH) <= queries(organiser, "/docs/")


def test_no_two_parts_have_the_same_id(organiser: Client) -> None:
    ids = re.findall(r'\bid="([^"]+)"', page(organiser, PATH))
    assert len(ids) == len(set(ids))


def test_each_game_has_tables_with_each_number_of_seats_in_each_mode(organiser: Client) -> None:
    text = page(organiser, PATH)
    tables = [("12 Days", range(3, 9)), ("12 Days of Christmas", range(2, 9))]
    for game, sizes in tables:
        for seats in sizes:
            for mode in ("replay", "live, small"):
                assert f"<h3>{game}, {seats} seats, {mode}</h3>" in text
    assert text.count('data-table="replay"') == 16
    assert text.count('data-table="live"') == 18
    assert text.count('data-table="play"') == 1


def test_the_analysis_of_a_match_is_there_in_each_state(organiser: Client) -> None:
    text = page(organiser, PATH)
    for state in (
        "Mistakes and turning points",
        "No move and no card changed a chance",
        "The league analyses this match",
        "The analysis failed.",
        "Analyse this match",
        '<span class="mark luck">',
        '<span class="mark mistake">',
        '<span class="mark blunder">',
    ):
        assert state in text, state


def test_the_look_back_at_a_live_match_is_there_in_each_state(organiser: Client) -> None:
    text = page(organiser, PATH)
    assert text.count("looks-back") == 2
    assert text.count("data-past hidden") == 2  # of the tables that nobody looks back at
    assert text.count("The match is over.") == 1


def test_a_sample_match_can_be_replayed(organiser: Client) -> None:
    phases = json.loads(page(organiser, f"{PATH}5.json"))["phases"]
    assert phases[-1]["events"][-1]["kind"] == "match_over"
    assert any(phase["faults"] for phase in phases)
    assert organiser.get(f"{PATH}13.json").status_code == 404
