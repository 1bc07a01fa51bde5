"""The streams of revisions that the pages of tables and tournaments follow, over real HTTP."""

from collections.abc import Generator
from typing import Any

import pytest

from api.play import wakeup_listener
from league import competitions
from league.competitions.revisions import table_revisions, tournament_revisions
from league.models import PlayerTable
from tests.api.play.sites import Site, await_true
from tests.api.play.test_watching import events_of
from tests.league import small
from tests.league.players import house_bots

pytestmark = pytest.mark.django_db(transaction=True)


def follow(site: Site, path: str) -> Generator[tuple[str, str, Any], None, None]:
    return events_of(site, f"http://testserver{path}")


@pytest.fixture
def table() -> PlayerTable:
    house_bots()
    made, _ = competitions.open_table(game="twelve-days", rules="eight-nights", seats=3, waits=True)
    return made


def test_a_waiting_room_gets_each_new_revision(site: Site, table: PlayerTable) -> None:
    stream = follow(site, f"/play/{table.code}/events")
    seen = [next(stream)]
    competitions.join_table(table, nickname="Bob")
    seen.append(next(stream))
    competitions.start_table(table)
    seen.append(next(stream))
    assert [kind for _, kind, _ in seen] == ["revision"] * 3
    assert len({data["revision"] for _, _, data in seen}) == 3
    stream.close()


def test_a_table_that_is_removed_has_an_empty_revision(site: Site, table: PlayerTable) -> None:
    stream = follow(site, f"/play/{table.code}/events")
    assert next(stream)[2]["revision"]
    competitions.leave_table(table.players.get())
    assert next(stream)[2]["revision"]
    table.delete()
    assert next(stream)[2] == {"revision": ""}
    stream.close()


def test_a_tournament_sends_its_revision_and_each_new_one(site: Site) -> None:
    tournament = small.tournament(small.ladder())
    small.bots(3)
    stream = follow(site, f"/tournaments/{tournament.pk}/events")
    before = tournament_revisions([tournament.pk])[tournament.pk]
    assert next(stream)[2] == {"revision": before}
    small.run_all()
    after = tournament_revisions([tournament.pk])[tournament.pk]
    assert after != before
    while next(stream)[2] != {"revision": after}:
        pass  # of a state in between
    stream.close()


@pytest.mark.parametrize(
    "path",
    [
        "/play/none/events",
        "/play/no%00ne/events",
        "/tournaments/9/events",
        f"/tournaments/{9**99}/events",
    ],
)
def test_what_does_not_exist_has_no_stream(site: Site, path: str) -> None:
    response = site.client.get(f"http://testserver{path}")
    assert response.status_code == 404
    assert response.json()["code"] == "not-found"


def test_many_pages_share_one_reading_and_without_a_page_there_is_none(
    site: Site, table: PlayerTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[list[str]] = []

    def noted(codes: Any, now: Any) -> Any:
        read.append(list(codes))
        return table_revisions(codes, now)

    monkeypatch.setattr("api.play.revisions.table_revisions", noted)
    monkeypatch.setattr(wakeup_listener, "REFRESH_SECONDS", 0.01)
    tournament = small.tournament(small.ladder())
    other = follow(site, f"/tournaments/{tournament.pk}/events")
    next(other)
    assert read == []
    streams = [follow(site, f"/play/{table.code}/events") for _ in range(3)]
    for stream in streams:
        next(stream)
    await_true(lambda: len(read) > 6)
    assert all(codes == [table.code] for codes in read)
    for stream in [other, *streams]:
        stream.close()
