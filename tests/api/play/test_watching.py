"""Watching a match over real HTTP: the public view, phase by phase."""

import json
import threading
from collections.abc import Generator, Iterable
from datetime import datetime
from pathlib import Path
from typing import Any
from unittest.mock import AsyncMock, Mock

import httpx
import pytest
from django.utils import timezone

from api.play import wakeup_listener
from api.schema import openapi_schema
from engine.deals import seeded_shuffle
from engine.games import catalogue
from engine.games.events import KINDS, Event
from engine.sentences import in_sentences
from league import competitions, play
from league.models import Block, Bot, Match
from league.play.spectating import MatchFeed
from tests.api.play.sites import GatewayProcess, Site, await_true, gateway_process, open_match
from tests.league import small
from tests.league.play.live import answer, match_of, play_on

pytestmark = pytest.mark.django_db(transaction=True)


PRESETS = [
    ("twelve-days", "eight-nights"),
    ("twelve-days", "calliope"),
    ("partridge", "eagle-short"),
]
"""One for each way that a match can go: without and with Claus cards, and the other game."""


def watch(
    site: Site | GatewayProcess, match: Match, last: str | None = None
) -> Generator[tuple[str, str, Any], None, None]:
    """Yield the id, kind and data of each event of a match but its clock, until the end."""
    for event_id, kind, data in events_of(site, f"/matches/{match.pk}/events", last):
        if kind != "clock":
            yield event_id, kind, data


def events_of(
    site: Site | GatewayProcess, path: str, last: str | None = None
) -> Generator[tuple[str, str, Any], None, None]:
    """Yield the id, kind and data of each event of a stream until it ends; a clock has no id."""
    headers = {"Last-Event-ID": last} if last else {}
    with site.client.stream("GET", path, headers=headers) as response:
        assert response.status_code == 200
        assert response.headers["content-type"] == "text/event-stream"
        event = {}
        for line in response.iter_lines():
            name, _, value = line.partition(": ")
            if name:
                event[name] = value
            elif "data" in event:
                yield event.get("id", ""), event["event"], json.loads(event["data"])
                event = {}


def spectated(match: Match) -> Any:
    """Return the public view after each phase, replayed from the record alone."""
    record = match.record
    ply = 0
    names = list(match.seating.order_by("seat").values_list("bot__name", flat=True))
    deal: list[Event] = []
    shuffle = seeded_shuffle(record.deal_seed)
    state = catalogue.start(record.game, record.rules, record.seats, shuffle, deal)

    def shown(events: Iterable[Event]) -> dict[str, Any]:
        seen = [event.seen_by(None) for event in events]
        return {
            "match": match.pk,
            "ply": ply,
            **state.spectate(),
            "events": [event.as_json() for event in seen],
            "sentences": in_sentences(seen, names),
            "to_act": list(state.actors),
        }

    expected, moves = [("0", "phase", shown(deal))], list(record.moves)
    while moves:
        phase = [moves.pop(0) for _ in state.actors]
        events = state.step({seat: state.moves.ids[text] for seat, text in phase})
        ply = len(record.moves) - len(moves)
        expected.append((str(ply), "phase", shown(events)))
    end = {"status": "finished", "scores": list(record.scores), "places": list(record.places)}
    return json.loads(json.dumps([*expected, ("end", "end", {"match": match.pk, **end})]))


@pytest.mark.parametrize("game", PRESETS)
def test_a_live_stream_equals_the_public_part_of_the_record(
    site: Site, bots: list[Bot], game: tuple[str, str]
) -> None:
    match = match_of(bots, *game)
    seen, first = [], threading.Event()

    def read() -> None:
        for event in watch(site, match):
            seen.append(list(event))
            first.set()

    reader = threading.Thread(target=read)
    reader.start()
    assert first.wait(10)
    play_on(bots)
    reader.join(20)
    assert not reader.is_alive()
    match.refresh_from_db()
    assert seen == spectated(match)
    assert [list(event) for event in watch(site, match)] == seen


def test_a_spectator_who_reconnects_continues_after_the_last_event(
    site: Site, bots: list[Bot]
) -> None:
    match = match_of(bots)
    play_on(bots)
    match.refresh_from_db()
    expected = spectated(match)
    for at in (0, 5, len(expected) - 2):
        rest = [list(event) for event in watch(site, match, last=expected[at][0])]
        assert rest == expected[at + 1 :]
    over = site.client.get(f"/matches/{match.pk}/events", headers={"Last-Event-ID": "end"})
    assert over.status_code == 204


def test_a_spectator_whose_gateway_is_killed_continues_at_another_gateway(
    site: Site, bots: list[Bot], tmp_path: Path
) -> None:
    match = match_of(bots)
    seen = []
    with gateway_process(tmp_path) as killed:
        events = watch(killed, match)
        seen.append(list(next(events)))
        play_on(bots, until=iter([False, True]).__next__)
        seen.append(list(next(events)))
        killed.process.kill()
        with pytest.raises(httpx.RemoteProtocolError):
            seen += map(list, events)
    play_on(bots)
    match.refresh_from_db()
    assert [*seen, *map(list, watch(site, match, last=seen[-1][0]))] == spectated(match)


def test_a_second_spectator_of_a_match_sees_it_from_the_start(site: Site, bots: list[Bot]) -> None:
    match = match_of(bots)
    first, second = watch(site, match), watch(site, match)
    assert next(first) == next(second)
    first.close()
    second.close()


def test_no_event_shows_what_a_seat_holds_before_the_end(site: Site, bots: list[Bot]) -> None:
    match = match_of(bots)
    events_seen = watch(site, match)
    _, _, view = next(events_seen)
    events_seen.close()
    assert not {"hand", "legal_moves", "given", "received"} & set(view)
    assert [event["cards"] for event in view["events"] if event["kind"] == "hand_dealt"] == [
        None
    ] * 3


def test_the_stream_of_a_finished_match_keeps_gifts_and_draws_secret(
    site: Site, bots: list[Bot]
) -> None:
    match = match_of(bots)
    play_on(bots)
    *phases, _ = watch(site, match)
    happened = [event for _, _, data in phases for event in data["events"]]
    secret = [event for event in happened if event["kind"] in ("card_given", "card_drawn")]
    assert secret
    assert all(event["rank"] is None for event in secret)
    assert happened[-1]["kind"] == "match_over"


def test_the_reference_names_every_kind_of_event() -> None:
    text = openapi_schema()["paths"]["/api/v1/matches/{match_id}/events"]["get"]["description"]
    assert all(f"`{kind}`" in text for kind in KINDS)


def test_a_stream_of_a_duplicate_deal_stays_empty_until_the_block_is_finished(site: Site) -> None:
    tournament = small.tournament(small.ladder())
    small.bots(4)
    competitions.advance_tournament(tournament.pk)
    block = Block.objects.filter(round__tournament=tournament).first()
    first, *rest = Match.objects.filter(block=block)
    play.play_match(first.pk, players=small.players)
    seen: list[tuple[str, str, Any]] = []
    begun = threading.Event()

    def read() -> None:
        begun.set()
        seen.extend(watch(site, first))

    reader = threading.Thread(target=read)
    reader.start()
    assert begun.wait(10)
    site.client.get("/turns")  # by its answer, the stream has sent its first events
    assert seen == []
    for match in rest:
        play.play_match(match.pk, players=small.players)
    reader.join(20)
    assert not reader.is_alive()
    assert seen[-1][0] == "end"


def test_a_void_match_ends_without_a_card(site: Site, bots: list[Bot]) -> None:
    match = match_of(bots)
    Match.objects.filter(pk=match.pk).update(status=Match.Status.VOID)
    assert list(watch(site, match)) == [("end", "end", {"match": match.pk, "status": "void"})]


@pytest.mark.parametrize("match_id", ["999999", "-1", "x", "9" * 5000])
def test_an_unknown_match_is_a_problem(site: Site, match_id: str) -> None:
    response = site.client.get(f"/matches/{match_id}/events")
    assert (response.status_code, response.json()["code"]) == (404, "not-found")
    assert site.client.post("/matches/1/events").status_code == 405


def several(matches: Iterable[Match], after: str = "") -> str:
    query = "&".join(f"match={match.pk}" for match in matches)
    return f"/matches/events?{query}" + (f"&after={after}" if after else "")


def test_one_stream_has_the_events_of_several_matches_each_in_order(
    site: Site, bots: list[Bot]
) -> None:
    matches = [match_of(bots), match_of(bots, "partridge", "eagle-short")]
    seen: list[tuple[str, str, Any]] = []
    first = threading.Event()

    def read() -> None:
        for event in events_of(site, several(matches)):
            seen.append(event)
            first.set()

    reader = threading.Thread(target=read)
    reader.start()
    assert first.wait(10)
    play_on(bots)
    reader.join(20)
    assert not reader.is_alive()
    for match in matches:
        match.refresh_from_db()
        own = [data for _, kind, data in seen if kind != "clock" and data["match"] == match.pk]
        assert own == [data for _, _, data in spectated(match)]
    assert seen[-1][0] == ",".join(f"{match.pk}:end" for match in matches)


@pytest.mark.parametrize("by", ["header", "parameter"])
def test_the_stream_of_several_matches_continues_each_match_at_its_place(
    site: Site, bots: list[Bot], by: str
) -> None:
    first, second, third = (match_of(bots) for _ in range(3))
    play_on(bots)
    for match in (first, second, third):
        match.refresh_from_db()
    at = f"{first.pk}:{spectated(first)[4][0]},{second.pk}:end"
    path = several([first, second, third], "" if by == "header" else at)
    rest = list(events_of(site, path, at if by == "header" else None))
    # The order of events of different matches is free.
    for match, expected in ((first, spectated(first)[5:]), (second, []), (third, spectated(third))):
        own = [data for _, _, data in rest if data["match"] == match.pk]
        assert own == [data for _, _, data in expected]
    over = site.client.get(several([first, second]), headers={"Last-Event-ID": rest[-1][0]})
    assert over.status_code == 204


def test_the_stream_of_several_matches_shows_nothing_of_a_duplicate_deal_in_play(
    site: Site, bots: list[Bot]
) -> None:
    tournament = small.tournament(small.ladder())
    small.bots(4)
    competitions.advance_tournament(tournament.pk)
    secret = Match.objects.filter(block__round__tournament=tournament).earliest("pk")
    play.play_match(secret.pk, players=small.players)
    match = match_of(bots)
    play_on(bots)
    stream = events_of(site, several([secret, match]))
    seen = [next(stream) for _ in range(10)]
    stream.close()
    assert {data["match"] for _, _, data in seen} == {match.pk}


@pytest.mark.parametrize(
    "query",
    ["", "match=", "match=x", "match=1&other=2", "match=1&after=x", "match=1" + "&match=1" * 12],
)
def test_a_wrong_request_for_several_matches_is_a_problem(site: Site, query: str) -> None:
    response = site.client.get(f"/matches/events?{query}")
    assert (response.status_code, response.json()["code"]) == (400, "invalid")


def test_an_unknown_match_is_left_out_of_a_stream_of_several(site: Site, bots: list[Bot]) -> None:
    match = match_of(bots)
    play_on(bots)
    match.refresh_from_db()
    stream = list(events_of(site, f"/matches/events?match=999999&match={match.pk}"))
    assert [data for _, kind, data in stream if kind != "clock"] == [
        data for _, _, data in spectated(match)
    ]
    assert stream[-1][0] == f"{match.pk}:end"


def test_several_matches_that_are_all_unknown_are_a_problem(site: Site) -> None:
    response = site.client.get("/matches/events?match=999998&match=999999")
    assert (response.status_code, response.json()["code"]) == (404, "not-found")
    assert "999998 or 999999" in response.json()["detail"]


def clocks(site: Site, match: Match) -> Generator[Any, None, None]:
    for _, kind, data in events_of(site, f"/matches/{match.pk}/events"):
        if kind == "clock":
            yield data


def test_the_clock_shows_who_is_to_act_and_until_when(site: Site, bots: list[Bot]) -> None:
    match = open_match(bots)
    seen = clocks(site, match)
    first = next(seen)
    deadlines = list(match.turns.values_list("deadline", flat=True))
    assert first["match"] == match.pk
    assert first["to_act"] == [0, 1, 2]
    assert datetime.fromisoformat(first["deadline"]) == max(deadlines)
    assert 590_000 < first["remaining_ms"] < 700_000
    now = timezone.now()
    for bot in bots:  # the clocks of all turns start, so the deadline is earlier
        play.open_turns(bot, now)
    second = next(seen)
    seen.close()
    assert datetime.fromisoformat(second["deadline"]) < datetime.fromisoformat(first["deadline"])


def test_the_clock_does_not_show_who_has_decided(site: Site, bots: list[Bot]) -> None:
    match = open_match(bots)
    now = timezone.now()
    turns = {bot: play.open_turns(bot, now)[0] for bot in bots}
    seen = clocks(site, match)
    before = next(seen)
    slowest = max(bots, key=lambda bot: turns[bot]["deadline"])
    answer(slowest, turns[slowest], now)
    seen.close()
    again = clocks(site, match)
    after = next(again)
    again.close()
    for each in (before, after):
        each.pop("remaining_ms")
    assert before == after


def test_a_finished_match_and_a_void_one_have_no_clock(site: Site, bots: list[Bot]) -> None:
    match = match_of(bots)
    play_on(bots)
    assert list(clocks(site, match)) == []
    void = open_match(bots)
    feed = MatchFeed(void.pk)
    feed.new_events()
    assert feed.clock is not None
    Match.objects.filter(pk=void.pk).update(status=Match.Status.VOID)
    feed.new_events()
    assert feed.clock is None


def test_a_match_is_not_read_again_until_it_has_new_events(
    site: Site, bots: list[Bot], monkeypatch: pytest.MonkeyPatch, deaf: None
) -> None:
    """Anybody may watch thousands of matches, and bots must not wait for that."""
    monkeypatch.setattr(wakeup_listener, "REFRESH_SECONDS", 0.05)
    versions = small.versions(small.bots(3))
    waiting = play.open_unrated_match(game="twelve-days", rules="eight-nights", versions=versions)
    match = open_match(bots)
    read = Mock(wraps=MatchFeed.new_events)
    monkeypatch.setattr(MatchFeed, "new_events", lambda feed: read(feed))
    refresh = AsyncMock(wraps=site.app._spectators.refresh)
    monkeypatch.setattr(site.app._spectators, "refresh", refresh)
    stream = events_of(site, several([waiting, match]))
    assert [next(stream)[1] for _ in range(2)] == ["phase", "clock"]
    await_true(lambda: refresh.await_count > 10)
    assert read.call_count <= 6
    play.open_turns_of(bots, timezone.now())  # their clocks start
    assert next(stream)[1] == "clock"
    play.void_match(waiting)
    assert any(data == {"match": waiting.pk, "status": "void"} for _, _, data in stream)
    stream.close()
