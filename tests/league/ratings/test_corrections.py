"""Void marks and revisions: what was rated stays readable, and what is in force is the fold."""

import random
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.core.exceptions import ValidationError
from django.core.management import call_command
from django.db import ProgrammingError, connection, transaction
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st

from engine.rating import elo
from league import competitions, play, ratings, tasks
from league.models import (
    Block,
    BlockEntry,
    HeadToHead,
    Ladder,
    Performance,
    Revision,
    RoundEntry,
    VoidMark,
)
from league.ratings import corrections
from league.ratings.ledger import counting_rows, revision_at, round_entries, spans
from league.ratings.match_results import round_to_rate
from tests.league import small
from tests.league.kept import kept

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
@kept
def ladder() -> Ladder:
    """A ladder on which five bots have played three tournaments of several rounds."""
    ladder = small.ladder()
    small.bots(5)
    for _ in range(3):
        small.tournament(ladder)
        small.run_all()
    return ladder


def block_of(ladder: Ladder, round_: int) -> Block:
    block = Block.objects.filter(round__ladder=ladder, round__number=round_).first()
    assert block is not None
    return block


def ratings_of(ladder: Ladder) -> dict[int, int]:
    return dict(ladder.standings.values_list("bot", "rating"))


def entries(ladder: Ladder, revision: int | None = None) -> list[Any]:
    rows = round_entries(ladder, revision).order_by("round", "bot")
    return list(rows.values_list("round__number", "bot", "rating_before", "rating_after"))


def deltas(ladder: Ladder, revision: int | None = None) -> list[Any]:
    rows = BlockEntry.objects.filter(counting_rows(ladder, revision, round_="block__round"))
    return list(rows.order_by("block", "bot").values_list("block", "bot", "delta"))


def folded_without(ladder: Ladder, block: Block) -> dict[int, int]:
    rounds = [round_to_rate(r, {block.pk}) for r in ladder.rounds.order_by("number")]
    *_, last = elo.fold(rounds)
    return {bot: standing.rating for bot, standing in last.states.items()}


@given(st.lists(st.integers(1, 30), max_size=6))
def test_a_revision_counts_from_its_first_round_until_a_later_one_takes_over(
    firsts: list[int],
) -> None:
    revisions = list(enumerate(firsts, 2))
    found = spans(revisions)
    for number in range(1, 40):
        due = max([1, *(revision for revision, first in revisions if first <= number)])
        assert revision_at(found, number) == due
        holding = [s for s in found if s.first <= number and (s.last is None or number <= s.last)]
        assert [span.revision for span in holding] == [due]


@pytest.mark.parametrize("round_", [1, 4])
def test_a_void_mark_folds_the_ladder_anew_and_the_old_revision_stays_readable(
    ladder: Ladder, round_: int
) -> None:
    block = block_of(ladder, round_)
    before, old, old_deltas = ratings_of(ladder), entries(ladder), deltas(ladder)
    due = folded_without(ladder, block)
    ratings.mark_void(block_id=block.pk, reason="a power cut in the hall")
    assert ratings_of(ladder) == before
    assert ratings.recompute(ladder) == []
    assert ratings.ladders_to_correct() == [ladder.pk]
    revision = ratings.correct(ladder.pk)
    assert revision is not None
    assert (revision.number, revision.from_applied_number) == (2, round_)
    assert "a power cut in the hall" in revision.reason
    ladder.refresh_from_db()
    assert ratings_of(ladder) == due != before
    assert ratings.recompute(ladder) == []
    assert ratings.ladders_to_correct() == []
    assert (entries(ladder, 1), deltas(ladder, 1)) == (old, old_deltas)
    assert entries(ladder) != old
    assert all(row in old for row in entries(ladder) if row[0] < round_)
    assert block.pk not in {row[0] for row in deltas(ladder)}


def test_corrections_build_on_earlier_corrections_and_new_rounds(ladder: Ladder) -> None:
    by_revision = {1: entries(ladder)}
    rng = random.Random(4)
    for number in range(2, 6):
        block = rng.choice(list(Block.objects.filter(state="finished")))
        ratings.mark_void(block_id=block.pk, reason="test")
        ratings.correct(ladder.pk)
        ladder.refresh_from_db()
        assert ladder.revision == number
        assert ratings.recompute(ladder) == []
        rounds = ladder.rounds.count()
        for revision, rows in by_revision.items():
            assert entries(ladder, revision)[: len(rows)] == rows
        small.play_round(ladder, rng.sample(sorted(ratings_of(ladder)), 3))
        assert ladder.rounds.count() > rounds
        assert ratings.recompute(ladder) == []
        assert sum(ratings_of(ladder).values()) == 5 * elo.START
        by_revision[number] = [row for row in entries(ladder) if row[0] <= rounds]


def test_a_correction_changes_head_to_head_and_performance_too(ladder: Ladder) -> None:
    [round_id] = ratings.take_fits()
    ratings.fit_round(round_id)
    assert set(Performance.objects.values_list("blocks", flat=True)) == {18}
    block = block_of(ladder, 2)
    ratings.mark_void(block_id=block.pk, reason="test")
    ratings.correct(ladder.pk)
    [round_id] = ratings.take_fits()
    assert ratings.fit_round(round_id)
    for standing in ladder.standings.all():
        sat = block.bots.filter(bot=standing.bot).exists()
        assert standing.performance_blocks == 18 - sat
        own = HeadToHead.objects.filter(bot=standing.bot)
        assert sum(row.pairs for row in own) == standing.pairs == 2 * 3 * (18 - sat)


def test_a_round_that_does_not_rate_a_bot_any_more_has_no_performance_of_it(ladder: Ladder) -> None:
    bots = sorted(ratings_of(ladder))
    small.play_round(ladder, bots[:3])
    last = small.play_round(ladder, bots[:3], bots[2:])
    [round_id] = ratings.take_fits()
    ratings.fit_round(round_id)
    assert set(last.performances.values_list("bot", flat=True)) == set(bots)
    block = last.blocks.filter(bots__bot=bots[0]).get()
    ratings.mark_void(block_id=block.pk, reason="test")
    ratings.correct(ladder.pk)
    assert set(last.performances.values_list("bot", flat=True)) == set(bots[2:])
    [round_id] = ratings.take_fits()
    ratings.fit_round(round_id)
    assert set(last.performances.values_list("bot", flat=True)) == set(bots)  # of the round before
    ratings.mark_void(block_id=block_of(ladder, last.number - 1).pk, reason="test")
    ratings.correct(ladder.pk)
    [round_id] = ratings.take_fits()
    ratings.fit_round(round_id)
    assert set(last.performances.values_list("bot", flat=True)) == set(bots)


def test_a_bot_whose_only_block_is_void_leaves_the_ladder() -> None:
    ladder = small.ladder()
    small.bots(3)
    small.tournament(ladder)
    small.run_all()
    assert ladder.standings.count() == 3
    ratings.mark_void(block_id=Block.objects.get().pk, reason="test")
    assert ratings.correct(ladder.pk) is not None
    assert ladder.standings.count() == HeadToHead.objects.count() == 0
    assert ratings.recompute(ladder) == []


def test_a_round_that_is_rated_while_a_correction_folds_is_in_it(
    ladder: Ladder, monkeypatch: pytest.MonkeyPatch
) -> None:
    writing = corrections._write_rounds
    small.tournament(ladder)
    for tournament_id in competitions.tournaments_to_advance():
        competitions.advance_tournament(tournament_id)

    def play_on() -> None:
        small.play_due()
        [round_id] = ratings.rounds_to_apply()
        assert ratings.apply_round(round_id)
        connection.close()

    def and_play(*args: Any) -> None:
        writing(*args)
        monkeypatch.setattr(corrections, "_write_rounds", writing)
        with ThreadPoolExecutor(1) as thread:
            thread.submit(play_on).result()

    monkeypatch.setattr(corrections, "_write_rounds", and_play)
    ratings.mark_void(block_id=block_of(ladder, 1).pk, reason="test")
    assert ratings.correct(ladder.pk) is not None
    ladder.refresh_from_db()
    assert ratings.recompute(ladder) == []
    last = ladder.rounds.order_by("-number").first()
    assert set(last.ledger.values_list("revision", flat=True)) == {1, 2}


def test_of_four_parallel_corrections_one_is_made(ladder: Ladder) -> None:
    ratings.mark_void(block_id=block_of(ladder, 2).pk, reason="test")

    def work(_: int) -> Revision | None:
        try:
            return ratings.correct(ladder.pk)
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as threads:
        assert sum(made is not None for made in threads.map(work, range(4))) == 1
    assert Revision.objects.count() == 1


def test_a_crash_in_a_correction_leaves_everything_as_it_was(
    ladder: Ladder, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = ratings_of(ladder), entries(ladder), ladder.revision
    ratings.mark_void(block_id=block_of(ladder, 2).pk, reason="test")

    def crash(*_args: object, **_kwargs: object) -> None:
        raise RuntimeError("the machine is gone")

    monkeypatch.setattr(corrections, "_replace_standings", crash)
    with pytest.raises(RuntimeError, match="the machine is gone"):
        ratings.correct(ladder.pk)
    ladder.refresh_from_db()
    assert (ratings_of(ladder), entries(ladder), ladder.revision) == before
    assert ratings.ladders_to_correct() == [ladder.pk]


@pytest.mark.parametrize("played", [False, True])
def test_a_block_that_is_not_rated_yet_is_void_at_once(played: bool) -> None:
    ladder = small.ladder()
    small.bots(4)
    tournament = small.tournament(ladder)
    competitions.advance_tournament(tournament.pk)
    block = Block.objects.first()
    assert block is not None
    if played:
        for match in block.matches.all():
            play.play_match(match.pk, players=small.players)
    ratings.mark_void(block_id=block.pk, reason="test")
    block.refresh_from_db()
    assert block.state == "void"
    assert block.matches.filter(status="finished").exists() is played
    small.run_all()
    assert not BlockEntry.objects.filter(block=block).exists()
    assert ratings.recompute(ladder) == []
    ladder.refresh_from_db()
    assert ladder.revision == 1
    assert ratings.ladders_to_correct() == []


def test_a_block_is_voided_once_and_with_a_reason(ladder: Ladder) -> None:
    block = block_of(ladder, 1)
    with pytest.raises(ValidationError, match="Give a reason"):
        ratings.mark_void(block_id=block.pk, reason=" ")
    ratings.mark_void(block_id=block.pk, reason="test")
    with pytest.raises(ValidationError, match="void already"):
        ratings.mark_void(block_id=block.pk, reason="test")
    with pytest.raises(ValidationError, match="no block 0"):
        ratings.mark_void(block_id=0, reason="test")
    assert VoidMark.objects.count() == 1


@pytest.mark.parametrize("model", [RoundEntry, BlockEntry, VoidMark, Revision])
def test_the_database_refuses_changed_or_deleted_ledger_rows(ladder: Ladder, model: Any) -> None:
    ratings.mark_void(block_id=block_of(ladder, 1).pk, reason="test")
    ratings.correct(ladder.pk)
    before = list(model.objects.order_by("pk").values())
    field = {RoundEntry: "rating_after", BlockEntry: "delta", Revision: "number"}.get(model, "id")
    with pytest.raises(ProgrammingError, match="only added to"), transaction.atomic():
        model.objects.update(**{field: 7})
    with pytest.raises(ProgrammingError, match="only added to"), transaction.atomic():
        model.objects.all()._raw_delete("default")
    assert list(model.objects.order_by("pk").values()) == before != []


def test_a_tick_queues_the_correction_for_new_void_marks_unless_it_waits(
    ladder: Ladder, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[int] = []
    waiting: set[int] = set()
    monkeypatch.setattr(tasks.correct_ladder, "delay", sent.append)
    monkeypatch.setattr(tasks, "waiting_ids", {"correct_ladder": waiting}.__getitem__)
    monkeypatch.setattr(tasks.fit_performance, "delay", lambda round_id: None)
    tasks.tick()
    assert sent == []
    ratings.mark_void(block_id=block_of(ladder, 1).pk, reason="test")
    tasks.tick()
    assert sent == [ladder.pk]
    waiting.add(ladder.pk)  # its workers are busy
    tasks.tick()
    assert sent == [ladder.pk]
    tasks.correct_ladder(ladder.pk)
    assert ratings.ladders_to_correct() == []


def test_the_admin_page_leads_to_the_page_that_decides_on_a_block(
    client: Client, ladder: Ladder
) -> None:
    call_command("make_organiser", User.objects.create(username="ann").username)
    client.force_login(User.objects.get(username="ann"))
    block = block_of(ladder, 1)
    sent = {"action": "decide", "_selected_action": [block.pk]}
    page = client.post("/admin/league/block/", sent, follow=True)
    assert (
        f"Make block {block.number} of rating round {block.round.number} void"
        in page.content.decode()
    )
    assert not VoidMark.objects.exists()
    ratings.mark_void(block_id=block.pk, reason="a power cut")
    ratings.correct(ladder.pk)
    for path in ("voidmark", "revision", "block", "ladder"):
        assert client.get(f"/admin/league/{path}/").status_code == 200


def test_view_permission_on_blocks_does_not_allow_voiding(client: Client, ladder: Ladder) -> None:
    bob = User.objects.create(username="bob", is_staff=True)
    bob.user_permissions.add(Permission.objects.get(codename="view_block"))
    client.force_login(bob)
    sent = {"action": "decide", "_selected_action": [block_of(ladder, 1).pk]}
    page = client.post("/admin/league/block/", sent, follow=True)
    assert page.redirect_chain == []
