"""NAME: a bot for twelve-days.

Each day, every seat gives a card to its left neighbour, then plays a card. The lowest rank that
only one seat played wins the pot, the day cards at stake. The two cards of rank 0 are called Claus:
a seat that wins with a Claus must give the pot to another seat. At the end, each rank scores for
the seats that hold the most cards of it.

Rules: `twelfth-night rules twelve-days`. What a bot sees: `twelfth-night rules observations`.
"""

from typing import Any

GAMES = ["twelve-days"]  # the league checks the bot for these games only

# If you define this function, it is called once before the first move:
#
# def start(info):
#     info["seats"], info["seat"]
#     info["move_seconds"]: time for each move; info["bank_seconds"]: more time, once for the match


def choose(observation: dict[str, Any]) -> str:
    """Return one of observation["legal_moves"], which are texts like "give 7".

    Some other fields of an observation:
        phase: "give", "play" or "award"
        hand: your cards, ascending
        pot: the day cards at stake today
        day_cards: the day cards of each seat so far
        history: the past days, each with "plays" (one for each seat) and "winner"
    """
    moves: list[str] = observation["legal_moves"]
    hand: list[int] = observation["hand"]

    def use(move: str) -> tuple[int, int]:
        # A rank scores only if you hold the most cards of it. So the bot gives or plays first the
        # cards that it holds only once, the highest of them first.
        return hand.count(number(move)), -number(move)

    if observation["phase"] == "award":
        # You won with a Claus. The seat with the fewest points gets the pot.
        points = [sum(cards) for cards in observation["day_cards"]]
        return min(moves, key=lambda seat: points[number(seat)])
    if observation["phase"] == "give":
        return min(moves, key=use)
    if sum(observation["pot"]) > 8:
        return min(moves, key=number)  # much is at stake: the lowest card may win it
    return min(moves, key=use)


def number(move: str) -> int:
    """Return the number in a move: the rank of a card, or a seat."""
    return int(move.split()[1])


# Three ideas that make the bot stronger. Each replaces the line with "-" by the line with "+".
# Against three random bots (`try FILE --against random`), the bot has a win share of 74 %; with
# idea 1, 81 %; with ideas 1 and 2, 90 %; with all three, 92 %. Against stronger opponents the
# win share is lower. `twelfth-night ab OLD NEW` compares two files.
#
# 1. Give your highest card, as high cards rarely win a day: change the line below
#    `if observation["phase"] == "give":`.
#    -        return min(moves, key=use)
#    +        return max(moves, key=number)
#
# 2. Try to win more days.
#    -    if sum(observation["pot"]) > 8:
#    +    if sum(observation["pot"]) > 6:
#
# 3. A Claus gives away the pot that it wins, so play the lowest other card.
#    -        return min(moves, key=number)  # much is at stake: the lowest card may win it
#    +        return min(moves, key=lambda card: number(card) or 99)
