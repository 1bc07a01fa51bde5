"""The game `partridge` in the naive implementation."""

from collections import Counter
from functools import lru_cache
from typing import Any

from tests.engine.naive.deals import shuffle
from tests.engine.naive.match import Match

# preset: (rounds, gifts at the start, cards for a seat at tables of an unusual size, seats)
PARTRIDGE = {
    "eagle": (12, 0, {7: 11, 8: 9}, range(2, 9)),
    "eagle-short": (3, 1, {7: 11, 8: 9}, range(2, 9)),
    "mathpickle": (12, 0, {}, range(2, 7)),
    "mathpickle-short": (6, 0, {}, range(2, 7)),
}


def kind(cards: list[int]) -> str:
    if len(cards) == 1:
        return "single"
    return "set" if len(set(cards)) == 1 else "straight"


# All combinations of twelve ranks.
COMBINATIONS = (
    [[low] for low in range(1, 13)]
    + [[rank] * length for rank in range(1, 13) for length in range(2, 13)]
    + [list(range(low, high + 1)) for low in range(1, 13) for high in range(low + 1, 13)]
)

NEEDS = [(cards, [*Counter(cards).items()]) for cards in COMBINATIONS]


def move_order(cards: list[int]) -> tuple[int, int, int]:
    return ["single", "set", "straight"].index(kind(cards)), min(cards), len(cards)


@lru_cache(maxsize=100_000)  # the same hand comes up many times in a match
def held_in(hand: tuple[int, ...]) -> list[list[int]]:
    has = [hand.count(rank) for rank in range(13)]
    held = [cards for cards, need in NEEDS if all(has[rank] >= count for rank, count in need)]
    return sorted(held, key=move_order)


def play_text(cards: list[int]) -> str:
    return " ".join(["play", *map(str, sorted(cards, reverse=True))])


class Partridge(Match):
    game = "partridge"

    def __init__(self, rules: str, seats: int, deal_seed: bytes) -> None:
        self.rounds, start, unusual, allowed = PARTRIDGE[rules]
        if seats not in allowed:
            raise ValueError(f"{rules} is not for {seats} seats")
        self.rules, self.n, self.seed = rules, seats, deal_seed
        self.dealt = unusual.get(seats, 12)
        self.gifts = [start] * seats
        self.rounds_won: list[int] = []
        self.scores = None
        self.start_round(leader=0)

    def start_round(self, leader: int) -> None:
        deck = [rank for rank in range(1, 13) for _ in range(rank)]
        deck = shuffle(deck, self.seed, len(self.rounds_won))
        self.hands = [deck[s * self.dealt : (s + 1) * self.dealt] for s in range(self.n)]
        self.discards: list[int] = []
        self.history: list[dict[str, Any]] = []
        self.leader = leader
        self.phase = "lead"
        self.trick: list[tuple[int, list[int]]] = []

    def turn(self) -> list[int]:
        return [] if self.over else [(self.leader + len(self.trick)) % self.n]

    def legal(self, seat: int) -> list[str]:
        if seat not in self.turn():
            return []
        held = held_in(tuple(sorted(self.hands[seat])))
        if not self.trick:
            return [play_text(cards) for cards in held]
        led = self.trick[0][1]
        answers = [c for c in held if kind(c) == kind(led) and min(c) <= min(led)]
        return ["pass"] + [play_text(cards) for cards in answers]

    def move(self, seat: int, text: str) -> None:
        if text not in self.legal(seat):
            raise ValueError(f"seat {seat} cannot {text!r}")
        cards = [int(part) for part in text.split()[1:]]
        for card in cards:
            self.hands[seat].remove(card)
        self.trick.append((seat, cards))
        self.phase = "follow"
        if len(self.trick) == self.n:
            self.end_trick()

    def end_trick(self) -> None:
        lowest = min(min(cards) for _, cards in self.trick if cards)
        winner = [seat for seat, cards in self.trick if cards and min(cards) == lowest][-1]
        returned = []
        for seat, cards in self.trick:
            if cards and not self.hands[seat] and seat != winner:
                self.hands[seat] += cards
                returned.append(seat)
            else:
                self.discards += cards
        self.history.append(
            {
                "leader": self.leader,
                "actions": self.actions(),
                "winner": winner,
                "returned": sorted(returned),
            }
        )
        self.trick = []
        self.leader = winner
        self.phase = "lead"
        if not self.hands[winner]:
            self.end_round(winner)

    def end_round(self, winner: int) -> None:
        self.gifts[winner] += 1
        most = max(len(hand) for hand in self.hands)
        for seat in range(self.n):
            if seat != winner and len(self.hands[seat]) == most and self.gifts[seat] > 0:
                self.gifts[seat] -= 1
                self.gifts[winner] += 1
        self.rounds_won.append(winner)
        if len(self.rounds_won) == self.rounds:
            self.phase = "over"
            self.scores = list(self.gifts)
        else:
            self.start_round(leader=winner)

    def actions(self) -> list[dict[str, Any]]:
        return [{"seat": s, "cards": sorted(cards, reverse=True)} for s, cards in self.trick]

    def observation(self, seat: int) -> dict[str, Any]:
        return {
            **super().observation(seat),
            "round": min(len(self.rounds_won) + 1, self.rounds),
            "rounds": self.rounds,
            "gifts": list(self.gifts),
            "hand_sizes": [len(hand) for hand in self.hands],
            "leader": self.leader,
            "trick": self.actions(),
            "lead_low": min(self.trick[0][1]) if self.trick else None,
            "discards": sorted(self.discards),
            "history": list(self.history),
            "rounds_won": list(self.rounds_won),
        }
