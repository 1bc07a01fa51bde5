"""The ledger over the API."""

from typing import Any

import pytest
from pytest_django import DjangoAssertNumQueries

from league import competitions, play, ratings
from league.models import BlockEntry, Ladder, Match, RoundEntry
from tests.api.conftest import Api, assert_problem, fields_of
from tests.league import small
from tests.league.kept import kept

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
@kept
def ladder(db: None) -> Ladder:
    ladder = small.ladder()
    small.bots(4)
    for _ in range(2):
        small.tournament(ladder)
        small.run_all()
    return ladder


def rows(api: Api, query: str = "") -> list[dict[str, Any]]:
    path, found = f"ladders/quick/ledger?limit=3{query}", []
    while path:
        answer = api.get(path).json()
        found += answer["results"]
        path = answer["next"]
    return found


def test_every_change_comes_with_its_blocks_matches_and_seeds(api: Api, ladder: Ladder) -> None:
    found = rows(api)
    assert len(found) == RoundEntry.objects.count()
    for row in found:
        assert row["rating_after"] - row["rating_before"] == sum(
            change["delta"] for change in row["changes"]
        )
        for change in row["changes"]:
            assert change["void_reason"] is None
            assert len(change["matches"]) == 3
            for shown in change["matches"]:
                match = Match.objects.get(pk=shown["id"])
                assert (match.block.number, match.block.round.number) == (
                    change["block"],
                    row["round"],
                )
                assert shown["deal_seed"] == bytes(match.deal_seed).hex()
                assert match.seating.filter(bot__name=row["bot"]).exists()
    assert sum(len(row["changes"]) for row in found) == BlockEntry.objects.count()
    assert [row["round"] for row in found] == sorted((r["round"] for r in found), reverse=True)


def test_the_ledger_is_filtered_by_bot_round_and_revision(api: Api, ladder: Ladder) -> None:
    everything = rows(api)
    assert rows(api, "&bot=bot-1") == [row for row in everything if row["bot"] == "bot-1"] != []
    last = everything[0]["round"]
    assert rows(api, f"&round={last}") == [row for row in everything if row["round"] == last]
    block = BlockEntry.objects.filter(block__round__number=last).first().block
    ratings.mark_void(block_id=block.pk, reason="a power cut")
    ratings.correct(ladder.pk)
    assert rows(api) != everything
    for old, before in zip(rows(api, "&revision=1"), everything, strict=True):
        for change in old["changes"]:
            voided = old["round"] == last and change["block"] == block.number
            assert change.pop("void_reason") == ("a power cut" if voided else None)
        for change in before["changes"]:
            del change["void_reason"]
        assert old == before
    [revision] = api.get("ladders/quick/revisions").json()["results"]
    assert (revision["number"], revision["from_round"]) == (2, last)
    assert "a power cut" in revision["reason"]
    assert api.get("ladders/quick").json()["revision"] == 2


@pytest.mark.parametrize("query", ["round=x", "revision=2", "revision=0", "round=-1", "limit=0"])
def test_an_unknown_round_or_revision_is_refused(api: Api, ladder: Ladder, query: str) -> None:
    answer = api.get(f"ladders/quick/ledger?{query}")
    problem = assert_problem(answer, 400, "invalid")
    assert query.split("=")[0] in fields_of(problem)


@pytest.mark.parametrize("limit", [1, 100])
def test_a_page_of_the_ledger_costs_four_queries(
    api: Api, ladder: Ladder, limit: int, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    with django_assert_num_queries(4):
        assert api.get(f"ladders/quick/ledger?limit={limit}").status_code == 200


def test_a_round_in_play_is_not_in_the_ledger(api: Api, ladder: Ladder) -> None:
    before = rows(api)
    tournament = small.tournament(ladder)
    competitions.advance_tournament(tournament.pk)
    for match_id in play.claim_due_hosted()[:1]:
        play.play_match(match_id, players=small.players)
    assert rows(api) == before
