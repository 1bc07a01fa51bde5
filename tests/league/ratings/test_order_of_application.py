"""Rounds of several events on one ladder: applied as they close, and folded in that order."""

import json
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from random import Random

import pytest
from django.contrib.staticfiles import finders
from django.db import DatabaseError, IntegrityError, transaction
from django.test import Client

from engine.pairing import Table
from league import competitions, play, ratings, tasks
from league.models import Block, Ladder, Match, Round, RoundEntry, Tournament
from league.play import leases
from league.ratings.exporting import export_ladder
from league.ratings.ledger import round_entries
from tests.league import small
from tests.league.kept import kept

pytestmark = pytest.mark.django_db(transaction=True)

SCRIPT = finders.find("web/recompute_ladder.py") or ""


def open_own(ladder: Ladder, table: list[int]) -> Round:
    tables = [Table(tuple(sorted(table)), True)]
    with transaction.atomic():
        return competitions.open_round(
            ladder=ladder, tables=tables, seed=bytes([ladder.rounds.count()]) * 32
        )


def matches_of(round_: Round) -> list[int]:
    return list(Match.objects.filter(block__round=round_).values_list("pk", flat=True))


def close(round_: Round) -> None:
    for match_id in matches_of(round_):
        play.play_match(match_id, players=small.players)


def places(ladder: Ladder) -> dict[int, int]:
    """Return the number of each applied round by its applied number."""
    return {round_.applied_number or 0: round_.number for round_ in ladder.rounds.applied()}


@pytest.fixture
@kept
def mixed(db: None) -> Ladder:
    """A ladder whose own rounds and two tournaments closed their rounds in a mixed order."""
    ladder, rng = small.ladder(), Random(5)
    bots = [bot.pk for bot in small.bots(4)]
    for _ in range(2):
        competitions.advance_tournament(small.tournament(ladder).pk)
    for _ in range(40):
        for tournament_id in competitions.tournaments_to_advance():
            competitions.advance_tournament(tournament_id)
        if ladder.rounds.drawn_by_ladder().count() < 4:
            open_own(ladder, rng.sample(bots, 3))
        still_open = list(ladder.rounds.open().order_by("pk"))
        if not still_open:
            break
        close(rng.choice(still_open))
        for round_id in ratings.rounds_to_apply():
            ratings.apply_round(round_id)
    assert not Tournament.objects.exclude(state="finished").exists()
    return ladder


def test_applied_numbers_have_no_gap_and_follow_the_order_of_closing(mixed: Ladder) -> None:
    found = places(mixed)
    assert sorted(found) == list(range(1, mixed.rounds.count() + 1))
    assert [found[place] for place in sorted(found)] != sorted(found.values())
    in_time = mixed.rounds.order_by("applied_at").values_list("applied_number", flat=True)
    assert list(in_time) == sorted(found)
    for entry in RoundEntry.objects.select_related("round"):
        assert entry.applied_number == entry.round.applied_number


def test_recompute_and_the_strangers_script_follow_the_order(mixed: Ladder, tmp_path: Path) -> None:
    assert ratings.recompute(mixed) == []
    data = b"".join(export_ladder(mixed))
    lines = [json.loads(line) for line in data.splitlines()]
    rounds = [line for line in lines if line["type"] == "round"]
    assert [line["applied_number"] for line in rounds] == list(range(1, len(rounds) + 1))
    assert {line["applied_number"]: line["round"] for line in rounds} == places(mixed)
    (tmp_path / "ladder.jsonl").write_bytes(data)
    run = [sys.executable, SCRIPT, str(tmp_path / "ladder.jsonl")]
    assert subprocess.run(run, capture_output=True, text=True, check=True).stdout.startswith(
        f"Right: {mixed.standings.count()} bots, {len(rounds)} rounds"
    )
    swapped = data.replace(b'"applied_number": 2,', b'"applied_number": 3,')
    (tmp_path / "ladder.jsonl").write_bytes(swapped)
    result = subprocess.run(run, capture_output=True, text=True, check=False)
    assert "not in the order in which the ladder applied them" in result.stderr


@pytest.mark.parametrize("luck", range(2))
def test_a_void_mark_refolds_in_the_same_order(mixed: Ladder, luck: int) -> None:
    before = places(mixed)
    block = Random(luck).choice(list(Block.objects.counting().filter(rated=True)))
    ratings.mark_void(block_id=block.pk, reason="a power cut")
    revision = ratings.correct(mixed.pk)
    assert revision is not None
    mixed.refresh_from_db()
    assert places(mixed) == before
    assert revision.from_applied_number == block.round.applied_number
    assert ratings.recompute(mixed) == []
    changed = round_entries(mixed).filter(revision=2)
    assert {row.applied_number for row in changed} <= set(
        range(revision.from_applied_number, len(before) + 1)
    )
    chains: dict[int, int] = {}
    for row in round_entries(mixed).order_by("applied_number"):
        assert chains.get(row.bot_id, 1_500_000) == row.rating_before
        chains[row.bot_id] = row.rating_after


def test_histories_list_rounds_in_the_order_of_application(mixed: Ladder, client: Client) -> None:
    bot = mixed.standings.order_by("pk")[0].bot
    url = f"/api/v1/ladders/{mixed.slug}/ledger?bot={bot.name}&limit=2"
    rows = []
    while url:
        page = client.get(url).json()
        rows += page["results"]
        url = page["next"]
    at = [row["applied_number"] for row in rows]
    assert at == sorted(at, reverse=True)
    assert len(rows) == round_entries(mixed).filter(bot=bot).count()
    for later, earlier in pairwise(rows):
        assert later["rating_before"] == earlier["rating_after"]


def test_one_stuck_match_stops_only_its_own_event(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks.fit_performance, "delay", lambda round_id: None)
    ladder, bots = small.ladder(), small.bots(4)
    stuck, free = small.tournament(ladder), small.tournament(ladder)
    for tournament in (stuck, free):
        competitions.advance_tournament(tournament.pk)
    match_id = matches_of(stuck.rounds.get())[0]
    assert leases.take(match_id) is not None
    own = open_own(ladder, [bot.pk for bot in bots[:3]])
    for _ in range(20):
        small.run_once()
    stuck.refresh_from_db()
    free.refresh_from_db()
    own.refresh_from_db()
    assert (stuck.state, free.state) == ("running", "finished")
    assert own.applied_at is not None
    assert stuck.rounds.get().applied_at is None
    assert ratings.recompute(ladder) == []


def test_the_database_refuses_another_order(mixed: Ladder) -> None:
    first = mixed.rounds.get(applied_number=1)
    for value in (None, 999, 2):
        with pytest.raises(DatabaseError), transaction.atomic():
            Round.objects.filter(pk=first.pk).update(applied_number=value)
    opened = open_own(mixed, list(mixed.standings.values_list("bot", flat=True)[:3]))
    with pytest.raises(IntegrityError), transaction.atomic():
        Round.objects.filter(pk=opened.pk).update(applied_number=50)
    with pytest.raises(IntegrityError), transaction.atomic():
        Round.objects.filter(pk=opened.pk).update(applied_at=first.applied_at, applied_number=1)


def test_a_gap_in_the_order_raises_the_alarm(mixed: Ladder) -> None:
    opened = open_own(mixed, list(mixed.standings.values_list("bot", flat=True)[:3]))
    last = mixed.rounds.last_applied()
    play.void_unfinished_block(opened.blocks.get().pk)
    applied_at = mixed.rounds.applied()[0].applied_at
    Round.objects.filter(pk=opened.pk).update(applied_at=applied_at, applied_number=last + 2)
    found = ratings.check_ladder(mixed.pk)
    assert found is not None
    assert found.damage == f"no round has the applied number {last + 1}"
    mixed.refresh_from_db()
    assert mixed.alarm
