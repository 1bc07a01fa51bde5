"""Renaming and deleting bots, and the places where they are then found."""

import json

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from engine.record import read, verify
from league import accounts, bots, competitions
from league.models import Bot, BotSource, Ladder, Match, TournamentEntry
from tests.api.conftest import Api, assert_problem, fields_of
from tests.league import small
from tests.league.play.live import match_of, play_on, remote_bots

pytestmark = pytest.mark.django_db


@pytest.fixture
def ladder(db: None) -> Ladder:
    return small.ladder()


def rename(api: Api, token: str, old: str, new: str) -> None:
    answer = api.call("PATCH", f"bots/{old}", {"name": new}, token=token)
    assert (answer.status_code, answer.json()["name"]) == (200, new)


def test_addresses_with_an_old_name_redirect(
    api: Api, ladder: Ladder, ada: tuple[User, str], bot: tuple[Bot, str]
) -> None:
    rename(api, ada[1], "ada-bot", "swan")
    rename(api, ada[1], "swan", "goose")
    for old in ("ada-bot", "swan"):
        moved = api.get(f"bots/{old}/versions?limit=5")
        assert moved.status_code == 308
        assert moved["Location"] == "/api/v1/bots/goose/versions?limit=5"
        entry = api.call("PUT", f"ladders/quick/entries/{old}", token=ada[1])
        assert entry["Location"] == "/api/v1/ladders/quick/entries/goose"
        page = Client().get(f"/bots/{old}/")
        assert (page.status_code, page["Location"]) == (301, "/bots/goose/")
    assert accounts.bot_for_token(bot[1]).name == "goose"


def test_an_old_name_is_free_for_its_bot_alone(
    api: Api, ada: tuple[User, str], bot: tuple[Bot, str], eve: tuple[User, str]
) -> None:
    rename(api, ada[1], "ada-bot", "swan")
    answer = api.post("bots", {"name": "ada-bot", "kind": "remote"}, token=eve[1])
    assert fields_of(assert_problem(answer, 400, "invalid")) == {"name"}
    rename(api, ada[1], "swan", "ada-bot")
    assert api.get("bots/ada-bot").status_code == 200
    assert api.get("bots/swan")["Location"] == "/api/v1/bots/ada-bot"


@pytest.mark.parametrize("name", ["eves-bot", "Swan", "ab", "swan\n"])
def test_a_taken_or_malformed_new_name_changes_nothing(
    api: Api, ada: tuple[User, str], bot: tuple[Bot, str], eve: tuple[User, str], name: str
) -> None:
    bots.create_bot(owner=eve[0], name="eves-bot", kind="remote")
    changes = {"name": name, "description": "new"}
    answer = api.call("PATCH", "bots/ada-bot", changes, token=ada[1])
    assert fields_of(assert_problem(answer, 400, "invalid")) == {"name"}
    assert api.get("bots/ada-bot").json()["description"] == ""


def test_a_bot_that_never_played_vanishes(
    api: Api, ladder: Ladder, ada: tuple[User, str], bot: tuple[Bot, str]
) -> None:
    api.call("PUT", "ladders/quick/entries/ada-bot", token=ada[1])
    assert api.call("DELETE", "bots/ada-bot", token=ada[1]).status_code == 204
    assert_problem(api.get("bots/ada-bot"), 404, "not-found")
    assert not Bot.objects.exists()
    new = {"name": "ada-bot", "kind": "remote"}
    assert api.post("bots", new, token=ada[1]).status_code == 201


@pytest.fixture
def played(ada: tuple[User, str]) -> list[Bot]:
    """Three remote bots, of which Ada owns the first, after a match."""
    found = remote_bots(3)
    Bot.objects.filter(pk=found[0].pk).update(owner=ada[0])
    match_of(found)
    play_on(found)
    return list(Bot.objects.filter(pk__in=[bot.pk for bot in found]).order_by("pk"))


def test_a_bot_that_has_played_is_retired(
    api: Api, ladder: Ladder, ada: tuple[User, str], played: list[Bot]
) -> None:
    name = played[0].name
    token = accounts.new_bot_token(played[0])
    competitions.enter_ladder(ladder=ladder, bot=played[0])
    BotSource.objects.create(version=played[0].versions.get(), data=b"secret")
    Bot.objects.filter(pk=played[0].pk).update(description="About me")
    assert api.call("DELETE", f"bots/{name}", token=ada[1]).status_code == 204
    assert_problem(api.get("games", token=token), 401, "invalid-token")
    assert name not in [row["name"] for row in api.get("bots").json()["results"]]
    shown = api.get(f"bots/{name}").json()
    assert shown["retired_at"] is not None
    assert shown["description"] == ""
    assert not BotSource.objects.exists()
    assert not ladder.entries.exists()
    [match] = api.get(f"matches?bot={name}").json()["results"]
    assert name in [seat["bot"] for seat in match["seating"]]
    assert Client().get(f"/bots/{name}/").status_code == 200


@pytest.mark.parametrize("when", ["after its tournament", "before its round is rated"])
def test_a_deleted_bot_that_only_played_a_tournament_leaves_the_standings(
    api: Api, ladder: Ladder, ada: tuple[User, str], when: str
) -> None:
    [bot] = small.bots(1, owner=ada[0], prefix="swan")
    small.bots(3)
    tournament = small.tournament(ladder, house_bots=True)
    TournamentEntry.objects.create(tournament=tournament, bot=bot)
    if when == "after its tournament":
        small.run_all()
        assert bot.name in ranked(api)
    else:
        competitions.advance_tournament(tournament.pk)
        assert small.play_due()
    assert not bot.ladder_entries.exists()
    assert api.call("DELETE", f"bots/{bot.name}", token=ada[1]).status_code == 204
    small.run_all()
    assert ladder.standings.filter(bot=bot).exists()
    assert len(ranked(api)) == 3
    assert bot.name not in ranked(api)


def ranked(api: Api) -> list[str]:
    return [row["bot"] for row in api.get("ladders/quick/standings").json()["results"]]


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("PATCH", "bots/{}"),
        ("DELETE", "bots/{}"),
        ("POST", "bots/{}/token"),
        ("PUT", "ladders/quick/entries/{}"),
    ],
)
def test_a_retired_bot_does_not_come_back(
    api: Api, ladder: Ladder, ada: tuple[User, str], played: list[Bot], method: str, path: str
) -> None:
    bots.retire(played[0], timezone.now())
    answer = api.call(method, path.format(played[0].name), token=ada[1])
    assert_problem(answer, 409, "bot-retired")
    assert not Bot.objects.filter(retired_at=None, pk=played[0].pk).exists()


def test_the_source_of_a_retired_bot_stays_until_its_matches_are_over(
    ada: tuple[User, str], played: list[Bot]
) -> None:
    BotSource.objects.create(version=played[0].versions.get(), data=b"secret")
    Match.objects.update(status="playing", packed_record=None, stored_seed=bytes(32))
    bots.retire(played[0], timezone.now())
    assert bots.erase_sources() == 0
    Match.objects.update(status="void")
    assert bots.erase_sources() == 1
    assert not BotSource.objects.exists()


def test_only_the_owner_deletes_a_bot(
    api: Api, bot: tuple[Bot, str], eve: tuple[User, str]
) -> None:
    assert_problem(api.call("DELETE", "bots/ada-bot", token=eve[1]), 403, "not-your-bot")
    assert_problem(api.call("DELETE", "bots/ada-bot", token=bot[1]), 403, "owner-token-needed")
    assert Bot.objects.exists()


def test_the_records_of_a_bot_are_one_file(api: Api, played: list[Bot]) -> None:
    path = f"bots/{played[0].name}/matches.ndjson"
    response = api.get(path)
    assert response["Content-Type"] == "application/x-ndjson"
    [line] = response.getvalue().splitlines()
    assert verify(read(line)).is_over
    match = Match.objects.get()
    assert json.loads(line) == api.get(f"matches/{match.pk}/record").json()
    for query in ("since=2100-01-01T00:00:00Z", "until=2000-01-01T00:00:00Z"):
        empty = api.get(f"{path}?{query}")
        assert empty.getvalue() == b""


def test_an_entry_has_its_blocks_and_when_the_bot_plays(
    api: Api, ladder: Ladder, ada: tuple[User, str], bot: tuple[Bot, str]
) -> None:
    path = "ladders/quick/entries/ada-bot"
    assert_problem(api.get(path), 404, "not-found")
    api.call("PUT", path, token=ada[1])
    place = api.get(path).json()
    assert (place["blocks_queued"], place["blocks_playing"], place["blocks_rated"]) == (0, 0, 0)
    assert place["next_block"].startswith("It is offline")


def test_a_tournament_is_exported_as_lines_and_as_a_table(api: Api, ladder: Ladder) -> None:
    small.bots(3)
    tournament = small.tournament(ladder)
    small.run_all()
    response = api.get(f"tournaments/{tournament.pk}/export")
    lines = [json.loads(line) for line in response.getvalue().splitlines()]
    kinds = [line["type"] for line in lines]
    assert kinds[:2] == ["tournament", "standing"]
    assert {*kinds} == {"tournament", "standing", "round", "match"}
    for line in lines:
        if line["type"] == "match":
            assert verify(read(json.dumps(line["record"]).encode())).is_over
    table = api.get(f"tournaments/{tournament.pk}/export?format=csv")
    rows = table.getvalue().decode().splitlines()
    assert rows[0].startswith("rank,bot,owner,state,score")
    assert len(rows) == 4
