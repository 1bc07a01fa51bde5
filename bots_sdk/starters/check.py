"""Tests of the bot NAME; run them with `pytest` or `python`."""

from pathlib import Path

from bots_sdk.bot import MatchInfo, match_info
from bots_sdk.bot_files import load
from engine.games.catalogue import GAMES
from engine.record import write
from engine.referee import TimeControl, play

GAME = "twelve-days"
BOT = load(Path(__file__).with_name("NAME.py"))


def test_the_bot_plays_every_preset_without_a_fault() -> None:
    for rules, preset in GAMES[GAME].presets.items():
        for seats in (preset.min_seats, preset.max_seats):
            players = [BOT(info(rules, seats, seat)) for seat in range(seats)]
            outcome = play(GAME, rules, bytes(32), players)
            assert not outcome.fault_reports, outcome.fault_reports[0]


def test_the_same_deal_gets_the_same_moves() -> None:
    # This test is optional. Remove it if your bot chooses at random. A bot that passes it makes the
    # same move for the same observation, so you can repeat each fault.
    rules = next(iter(GAMES[GAME].presets))
    first, second = (
        play(GAME, rules, bytes(32), [BOT(info(rules, 4, seat)) for seat in range(4)])
        for _ in range(2)
    )
    assert write(first.record) == write(second.record)


# `twelfth-night try`, `ab`, `check` and `run` save the bot's input in faults/ at each fault.
# This test repeats a fault:
#
# def test_the_bot_answers_this_observation() -> None:
#     import json
#     seen = json.loads(Path("faults/....json").read_text())["observation"]
#     bot = BOT(info(seen["rules"], seen["seats"], seen["seat"]))
#     assert bot(seen) in seen["legal_moves"]


def info(rules: str, seats: int, seat: int) -> MatchInfo:
    """Return the facts about a match that the bot gets at its start."""
    return match_info(GAME, rules, seats, seat, TimeControl(move_seconds=1.0, bank_seconds=30.0))


if __name__ == "__main__":
    test_the_bot_plays_every_preset_without_a_fault()
    test_the_same_deal_gets_the_same_moves()
    matches = 2 * len(GAMES[GAME].presets)
    print(f"no faults in {matches} matches: each preset with the fewest and with the most seats")
