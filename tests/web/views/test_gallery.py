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
    for path in (PATH, f"{PATH}0.json", f"{PATH}events"):
        assert client.get(path).status_code == 403


def test_samples_come_from_no_table_of_the_database(organiser: Client) -> None:
    assert queries(organiser, PATH) <= queries(organiser, "/docs/")


def test_no_two_parts_have_the_same_id(organiser: Client) -> None:
    ids = re.findall(r'\bid="([^"]+)"', page(organiser, PATH))
    assert len(ids) == len(set(ids))


def test_each_game_has_tables_of_several_sizes_in_each_mode(organiser: Client) -> None:
    text = page(organiser, PATH)
    for title in ("12 Days, 8 seats, replay", "12 Days of Christmas, 2 seats, live, small"):
        assert f"<h3>{title}</h3>" in text
    assert text.count('data-table="replay"') == 8
    assert text.count('data-table="live"') == 8


def test_a_sample_match_can_be_replayed(organiser: Client) -> None:
    phases = json.loads(page(organiser, f"{PATH}5.json"))["phases"]
    assert phases[-1]["events"][-1]["kind"] == "match_over"
    assert any(phase["faults"] for phase in phases)
    assert organiser.get(f"{PATH}6.json").status_code == 404
    assert page(organiser, f"{PATH}events").startswith("retry:")
