"""NAME makes no fault: run it with `pytest`, or with `python` alone."""

from pathlib import Path

from bots_sdk.bot import MatchInfo, load
from engine.games.catalogue import GAMES
from engine.record import write
from engine.referee import play

GAME = "twelve-days"
BOT = load(Path(__file__).with_name("NAME.py"))


def test_it_plays_every_preset_without_a_fault() -> None:
    for rules, preset in GAMES[GAME].presets.items():
        for seats in range(preset.min_seats, preset.max_seats + 1):
            players = [BOT(info(rules, seats, seat)) for seat in range(seats)]
            outcome = play(GAME, rules, bytes(32), players)
            assert not outcome.incidents, outcome.incidents[0]


def test_the_same_deal_gets_the_same_moves() -> None:
    # Not a must; but a bot that is a function of what it sees can be asked again.
    rules = next(iter(GAMES[GAME].presets))
    first, second = (
        play(GAME, rules, bytes(32), [BOT(info(rules, 4, seat)) for seat in range(4)])
        for _ in range(2)
    )
    assert write(first.record) == write(second.record)


# A fault of a running bot saves what it was asked in faults/. Made into a test:
#
# def test_it_knows_an_answer_now() -> None:
#     observation = json.loads(Path("faults/....json").read_text())["observation"]
#     assert BOT(info(...))(observation) in observation["legal_moves"]


def info(rules: str, seats: int, seat: int) -> MatchInfo:
    """Return what a bot's start is told."""
    return {
        "game": GAME,
        "rules": rules,
        "seats": seats,
        "seat": seat,
        "move_seconds": 10.0,
        "bank_seconds": 60.0,
    }


if __name__ == "__main__":
    test_it_plays_every_preset_without_a_fault()
    test_the_same_deal_gets_the_same_moves()
    print("no fault")
