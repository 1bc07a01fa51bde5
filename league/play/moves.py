"""Moves that remote bots send: each gets a verdict, and the match advances.

``docs/moves.md`` has a diagram of a move's path.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import NamedTuple

from engine.errors import IllegalMoveError
from league.models import Bot, MatchSeat, Turn
from league.play import verdicts
from league.play.live_match import TIMEOUT, Decision, LiveMatch
from league.play.rows import TurnRow
from league.play.statements import TURN, Run
from league.play.turn_clocks import Stopwatch, whole_ms
from league.play.verdicts import Answer, MoveRefusedError, Verdict
from league.play.writing import Wake, change_in_one_go, change_matches


class Move(NamedTuple):
    """A move that a bot sends.

    Attributes:
        match_id: id of the match.
        turn: the number of the turn, as it was handed out.
        text: the move.
    """

    match_id: int
    turn: int
    text: str


class SentMove(NamedTuple):
    """A move with the bot whose token was sent with it."""

    bot: Bot
    move: Move


class ReceivedMove(NamedTuple):
    """A sent move with the time at which it came in."""

    sent: SentMove
    received_at: datetime


def submit(bot: Bot, move: Move, now: datetime) -> Verdict:
    """Make a bot's move in a match; if it is the last of its phase, the match advances.

    Args:
        bot: the bot whose token was sent.
        move: as it was sent.
        now: time at which the move came in.

    Raises:
        MoveRefusedError: with a code and the members of the problem document.
    """
    [answer] = submit_all(bot, [move], now)
    if isinstance(answer, MoveRefusedError):
        raise answer
    return answer


def submit_all(bot: Bot, moves: Sequence[Move], now: datetime) -> list[Answer]:
    """Make a bot's moves, each as `submit` does; return an answer to each."""
    return submit_together([SentMove(bot, move) for move in moves], now)


def submit_together(sent: Sequence[SentMove], now: datetime) -> list[Answer]:
    """Make moves of any bots; return an answer to each, in the same order.

    Moves in different matches are read and written together. If several moves are for one match,
    each is decided on the match as the move before left it.
    """
    watch = Stopwatch(now)
    answers: dict[int, Answer] = {}
    left = dict(enumerate(sent))
    while left:
        first_of: dict[int, int] = {}
        for number, (_, move) in left.items():
            first_of.setdefault(move.match_id, number)
        wave = {number: left.pop(number) for number in first_of.values()}
        answers |= _submit_wave(wave, watch, watch.start)
    return [answers[number] for number in range(len(sent))]


async def submit_group(
    received: Sequence[ReceivedMove], now: datetime, run: Run, wake: Wake
) -> list[Answer | None]:
    """Make moves in different matches with one read and one write; return their answers in order.

    A move that would delay the others has no answer and has changed nothing. `submit_alone` makes
    it. Such are: illegal and late moves, moves that end their match, moves for earlier turns or in
    matches that are over, and moves whose match changed meanwhile.

    Args:
        received: the moves.
        now: the time.
        run: runs a statement without a thread.
        wake: wakes the waiting requests of this process.
    """
    decided = await change_in_one_go(
        {
            sent.move.match_id: partial(decide, sent.bot, sent.move, whole_ms(received_at))
            for sent, received_at in received
        },
        Stopwatch(now),
        run,
        wake,
    )
    return [decided.get(sent.move.match_id) for sent, _ in received]


def submit_alone(received: ReceivedMove, now: datetime) -> Answer:
    """Make a move without a group, however long that takes."""
    sent, received_at = received
    [answer] = _submit_wave({0: sent}, Stopwatch(now), whole_ms(received_at)).values()
    return answer


def decide(
    bot: Bot, move: Move, received_at: datetime, match: LiveMatch
) -> Decision[Answer | None]:
    """Decide on a bot's move, by the match as it was read.

    The answer is None if the move is for an earlier turn than the last, which was not read.
    """
    seat = match.seat_of(bot.pk)
    if seat is None:
        return match.decision(verdicts.not_found(bot, move.match_id))
    turn = match.turns.get(seat)
    if turn is None or move.turn > turn.number:
        return match.decision(verdicts.not_open(move.match_id, move.turn))
    if move.turn < turn.number:
        return match.decision(None)
    if turn.decided_at is not None:
        return match.decision(verdicts.decided_before(match.match.game, turn, move.text))
    if not match.is_playing or not match.waits_for(seat):
        return match.decision(verdicts.not_open(move.match_id, move.turn))
    if received_at > turn.deadline:
        turn = match.play_fallback(turn, TIMEOUT, received_at)
        return match.decision(verdicts.expired(turn))
    try:
        action = match.log.state.parse(seat, move.text)
    except IllegalMoveError as error:
        turn = match.count_illegal(turn)
        if turn.illegal_answers >= verdicts.MAX_ILLEGAL:
            turn = match.play_fallback(turn, verdicts.ILLEGAL, received_at)
        return match.decision(verdicts.illegal(turn, error, received_at))
    turn = match.play(turn, action, received_at)
    return match.decision(verdicts.accepted(turn, received_at))


def _submit_wave(
    wave: Mapping[int, SentMove], watch: Stopwatch, received_at: datetime
) -> dict[int, Answer]:
    """Make moves in different matches; return the answers by the moves' numbers."""
    decided = change_matches(
        {move.match_id: partial(decide, bot, move, received_at) for bot, move in wave.values()},
        watch,
        overdue_at=received_at,
    )
    answers: dict[int, Answer] = {}
    for number, (bot, move) in wave.items():
        if move.match_id not in decided:
            answers[number] = _without_live_match(bot, move)
        else:
            answers[number] = decided[move.match_id] or _in_earlier_turn(bot, move)
    return answers


def _without_live_match(bot: Bot, move: Move) -> MoveRefusedError:
    """Answer a move in a match that is not live or does not exist."""
    if MatchSeat.objects.filter(match=move.match_id, bot=bot).exists():
        return verdicts.not_open(move.match_id, move.turn)
    return verdicts.not_found(bot, move.match_id)


def _in_earlier_turn(bot: Bot, move: Move) -> Answer:
    """Answer a move in a turn before the bot's last: it was decided and will not change."""
    rows = Turn.objects.filter(match=move.match_id, bot=bot, number=move.turn)
    found = rows.values_list("match__game", *TURN).first()
    if found is None:
        return verdicts.not_open(move.match_id, move.turn)
    game, *values = found
    return verdicts.decided_before(game, TurnRow(*values), move.text)
