"""Owner reports: what a match shows the owners of its bots: output, faults, clock receipts."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from django.contrib.auth.models import User

from bots_sdk.bot import match_info
from engine.faults import FORFEITED, NOT_IN_TIME, TOO_MANY_ILLEGAL
from engine.games.game import Observation
from engine.playback import play_back
from engine.referee import TimeControl
from league.models import Match, SeatLog, Turn
from league.play.bot_output import kept_until
from league.play.turns import as_text
from league.visibility import own_seats

_REASONS = {
    "timeout": NOT_IN_TIME,
    "illegal": TOO_MANY_ILLEGAL,
    "forfeit": FORFEITED,
}
"""Reasons of faults for which the seat has no log."""


def owner_report(match: Match, owner: User) -> list[dict[str, Any]]:
    """Return a report on each of an owner's seats in a match, ascending.

    A report has ``seat``, ``bot``, ``version``, ``printed`` and ``printed_until`` (hosted bots; the
    time is None without output), ``faults``, each with
    ``ply``, ``kind``, ``reason``, ``move`` (the referee's), ``observation`` and ``test``, and
    ``turns`` (remote bots), the receipts of its clock. Faults appear when the match is finished.
    """
    seats = own_seats(owner, match)
    if not seats:
        return []
    numbers = [seat.seat for seat in seats]
    logs = {log.seat: log for log in match.logs.filter(seat__in=numbers)}
    faults = _faults(match, numbers, logs)
    return [
        {
            "seat": seat.seat,
            "bot": seat.bot.name,
            "version": seat.version.number,
            **_output(logs.get(seat.seat)),
            "faults": faults[seat.seat],
            "turns": [_receipt(match, turn) for turn in match.turns.filter(seat=seat.seat)],
        }
        for seat in seats
    ]


def _output(log: SeatLog | None) -> dict[str, Any]:
    """Return what a seat's bot printed, and until when it is kept at most."""
    if log is None or not log.printed:
        return {"printed": "", "printed_until": None}
    return {"printed": log.printed, "printed_until": kept_until(log.written_at)}


def _faults(
    match: Match, seats: Sequence[int], logs: Mapping[int, SeatLog]
) -> dict[int, list[dict[str, Any]]]:
    """Return the faults of seats, with the bots' observations, from the record of the match."""
    found: dict[int, list[dict[str, Any]]] = {seat: [] for seat in seats}
    if match.status != Match.Status.FINISHED:
        return found
    record = match.record
    wanted = {fault.ply: fault for fault in record.faults if fault.seat in seats}
    for phase in play_back(record):
        if not wanted:
            break
        moves = record.moves[phase.ply : phase.ply + len(phase.state.actors)]
        for at, (seat, text) in enumerate(moves, phase.ply):
            fault = wanted.pop(at, None)
            if fault is None:
                continue
            log = logs.get(seat)
            reason = (log.reasons if log else {}).get(str(at), _REASONS.get(fault.kind, ""))
            observation = None if fault.kind == "forfeit" else phase.state.observe(seat)
            found[seat].append(
                {
                    "ply": at,
                    "kind": fault.kind,
                    "reason": reason,
                    "move": text,
                    "observation": observation,
                    "test": unit_test(match, at, observation) if observation else None,
                }
            )
    return found


def unit_test(match: Match, ply: int, observation: Observation) -> str:
    """Return a test, to be put beside a bot's file: the bot answers an observation legally.

    As the league does, the test starts the bot and takes a function ``choose`` or a class ``Bot``.
    """
    control = TimeControl(match.move_seconds, match.bank_seconds)
    info = match_info(match.game, match.rules, match.seats, observation["seat"], control)
    name = f"test_match_{match.pk}_ply_{ply}"
    return (
        "import json\n\nimport bot  # your bot's file; for mybot.py: import mybot as bot\n\n\n"
        f"def {name}():\n"
        '    player = bot.Bot() if hasattr(bot, "Bot") else bot\n'
        '    if hasattr(player, "start"):\n'
        f"        player.start(json.loads({json.dumps(info)!r}))\n"
        f"    observation = json.loads({json.dumps(observation)!r})\n"
        '    assert player.choose(observation) in observation["legal_moves"]\n\n\n'
        f'if __name__ == "__main__":\n    {name}()\n    print("ok")\n'
    )


def _receipt(match: Match, turn: Turn) -> dict[str, Any]:
    """Return the receipt of a turn; `league.play.turn_clocks` has the sum of its deadline."""
    return {
        "turn": turn.number,
        "ply": turn.ply,
        "opened_at": as_text(turn.opened_at),
        "handed_out_at": turn.handed_out_at and as_text(turn.handed_out_at),
        "deadline": as_text(turn.deadline),
        "decided_at": turn.decided_at and as_text(turn.decided_at),
        "move_seconds": match.move_seconds,
        "bank_ms": turn.bank_ms,
        "given_back_ms": turn.given_back_ms,
        "illegal_answers": turn.illegal_answers,
        "move": turn.text,
        "fault": turn.fault,
    }
