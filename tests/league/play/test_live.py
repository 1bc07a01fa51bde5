"""Live matches from the first turn to the record."""

from random import Random
from typing import NoReturn

import pytest

from engine.games.catalogue import GAMES
from engine.games.game import Observation
from engine.pairing import Table
from engine.record import verify
from engine.referee import Outcome, Player
from engine.referee import play as referee
from league import competitions, play
from league.models import Block, Bot, LiveMove, Match, MatchSeat, Turn
from league.play import match_logs
from league.play.finishing import void_match
from tests.league import small
from tests.league.play.live import (
    START,
    answer,
    choose,
    match_of,
    play_on,
    remote_bots,
    second,
)

pytestmark = pytest.mark.django_db(transaction=True)

LONG = ("eagle", "mathpickle")
"""Twelve rounds of what their short forms play in three or six."""
PRESETS = [
    (game, rules) for game, states in GAMES.items() for rules in states.presets if rules not in LONG
]


def as_the_referee_has_it(match: Match, choosers: list[Player]) -> Outcome:
    """Play a match in memory with the same deal and players."""
    return referee(
        match.game,
        match.rules,
        bytes(match.deal_seed),
        choosers,
        names=[seat.bot.name for seat in match.seating.order_by("seat")],
    )


@pytest.mark.parametrize(("game", "rules"), PRESETS)
def test_a_match_of_remote_bots_gives_the_record_that_the_referee_gives(
    game: str, rules: str
) -> None:
    bots = remote_bots(3)
    match = match_of(bots, game, rules)
    play_on(bots)
    match.refresh_from_db()
    assert match.status == Match.Status.FINISHED
    verify(match.record)
    assert match.record == as_the_referee_has_it(match, [choose] * 3).record
    assert [seat.place for seat in match.seating.order_by("seat")] == list(match.record.places)
    assert match.plies == len(match.record.moves)
    assert not LiveMove.objects.exists()
    assert not Turn.objects.filter(decided_at=None).exists()


def test_the_record_is_the_same_if_each_request_reaches_another_process() -> None:
    bots = remote_bots(3)
    match = match_of(bots)

    def forget() -> bool:
        match_logs.cache.clear()
        return False

    play_on(bots, until=forget)
    match.refresh_from_db()
    assert match.record == as_the_referee_has_it(match, [choose] * 3).record


def test_house_seats_are_moved_by_a_task_and_their_mistakes_are_faults() -> None:
    remote, [house, bad] = remote_bots(1), small.bots(2)
    bots = [*remote, house, bad]

    def broken(observation: Observation) -> NoReturn:
        raise ValueError("broken")

    def player(seat: MatchSeat) -> Player:
        return broken if seat.bot_id == bad.pk else choose

    match = match_of(bots)
    while Match.objects.get(pk=match.pk).status == "playing":
        play.play_house_turns(match.pk, player=player)
        play_on(remote)
    match.refresh_from_db()
    expected = as_the_referee_has_it(match, [choose, choose, broken])
    assert match.record == expected.record
    assert expected.forfeited == (2,)
    assert [seat.forfeited for seat in match.seating.order_by("seat")] == [False, False, True]
    assert match.seating.get(seat=2).place == 3


def test_the_reference_bots_move_the_house_seats() -> None:
    names = ["house-random", "house-thumb"]
    remote, house = remote_bots(1), small.bots(2)
    for bot, name in zip(house, names, strict=True):
        Bot.objects.filter(pk=bot.pk).update(name=name)
    match = match_of([*house, *remote], "partridge", "eagle-short")
    while Match.objects.get(pk=match.pk).status == "playing":
        play.play_house_turns(match.pk)
        play_on(remote)
    verify(Match.objects.get(pk=match.pk).record)


def test_moves_of_a_phase_are_recorded_by_seat_in_any_order_of_arrival() -> None:
    bots = remote_bots(3)
    match = match_of(bots)
    turns = [play.open_turns(bot, START)[0] for bot in bots]
    for seat in (2, 0):
        answer(bots[seat], turns[seat], START)
    assert list(match.live_moves.values_list("ply", "seat")) == [(0, 0), (2, 2)]
    answer(bots[1], turns[1], START)
    assert list(match.live_moves.values_list("ply", "seat")) == [(0, 0), (1, 1), (2, 2)]


def test_secret_choices_change_nothing_that_another_seat_or_a_spectator_receives() -> None:
    bots = remote_bots(3)
    match = match_of(bots)
    [before] = play.open_turns(bots[1], START)
    public = Match.objects.values().get(pk=match.pk)
    for bot in (bots[0], bots[2]):
        answer(bot, play.open_turns(bot, START)[0], START)
    assert play.open_turns(bots[1], START) == [before]
    # Only a number that is not public shows that moves were stored.
    assert Match.objects.values().get(pk=match.pk) == {**public, "stored": 2}
    assert play.open_turns(bots[0], START) == []


def test_a_seat_with_one_legal_move_gets_no_turn() -> None:
    bots = remote_bots(2)
    match = match_of(bots, "partridge", "eagle-short")
    play_on(bots)
    match.refresh_from_db()
    state = match.record.start()
    choices = 0
    for seat, text in match.record.moves:
        choices += len(state.legal(seat)) > 1
        state.step({seat: state.moves.ids[text]})
    assert Turn.objects.count() == choices < len(match.record.moves)


def test_turns_are_numbered_from_0_for_each_seat_and_kept_with_their_receipts() -> None:
    bots = remote_bots(3)
    match = match_of(bots)
    play_on(bots)
    for seat in range(3):
        turns = list(match.turns.filter(seat=seat).order_by("number"))
        assert [turn.number for turn in turns] == list(range(len(turns)))
        assert all(turn.handed_out_at and turn.decided_at and turn.text for turn in turns)


def test_the_last_match_of_a_block_finishes_the_block_if_it_is_live() -> None:
    remote = remote_bots(1)
    bots = [*remote, *small.bots(2)]
    ladder = small.ladder()
    competitions.open_round(
        ladder=ladder, tables=[Table(tuple(bot.pk for bot in bots), rated=True)], seed=bytes(32)
    )
    assert play.claim_due_hosted() == []
    due = play.claim_due_live()
    assert len(due) == 3
    assert play.claim_due_live() == []
    block = Block.objects.get()
    assert not block.duplicate
    for match_id in due:
        assert block.state == Block.State.PLAYING
        assert not play.play_match(match_id)
        play.open_live(match_id, START)
        while Match.objects.get(pk=match_id).status == "playing":
            play.play_house_turns(match_id, player=lambda seat: choose)
            play_on(remote)
        block.refresh_from_db()
    assert block.state == Block.State.FINISHED


def test_a_void_match_has_no_open_turns() -> None:
    bots = remote_bots(3)
    match = match_of(bots)
    turns = play.open_turns(bots[0], START)
    void_match(match)
    assert play.open_turns(bots[0], START) == []
    with pytest.raises(play.MoveRefusedError) as refused:
        answer(bots[0], turns[0], START)
    assert refused.value.code == "turn-not-open"
    assert not play.open_live(match.pk)
    assert play.expire_overdue(second(100)) == 0


def test_every_call_a_second_time_changes_nothing() -> None:
    """Each task and request is repeated, as a queue or a client may do."""
    remote, house = remote_bots(2), small.bots(1)
    match = match_of([*remote, *house])
    rng = Random(3)
    now = START
    while Match.objects.get(pk=match.pk).status == "playing":
        for _ in range(3):
            assert play.open_live(match.pk, now)
        for _ in range(3):
            play.play_house_turns(match.pk, player=lambda seat: choose)
        for bot in remote:
            for turn in play.open_turns(bot, now):
                if rng.random() < 0.1:
                    continue
                first = answer(bot, turn, now)
                assert [answer(bot, turn, second(99)) for _ in range(3)] == [first] * 3
        if rng.random() < 0.2:
            now = now.replace(minute=now.minute + 1)
            play.expire_overdue(now)
            assert play.expire_overdue(now) == 0
    match.refresh_from_db()
    verify(match.record)
    assert play.play_house_turns(match.pk) == 0
    assert not play.open_live(match.pk)
