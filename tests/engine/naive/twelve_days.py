"""The game `twelve-days` in the naive implementation."""

from typing import Any

from tests.engine.naive.deals import shuffle
from tests.engine.naive.match import Match

# preset: (rule for a pot that a Claus wins, days, decks, numbers of seats)
TWELVE_DAYS = {
    "calliope": ("award", 12, 1, range(3, 6)),
    "cheapass": ("keep", 12, 1, range(3, 6)),
    "eight-nights": ("none", 8, 1, range(3, 5)),
    "eight-players": ("award", 12, 2, range(3, 9)),
    "cheapass-eight-players": ("keep", 12, 2, range(3, 9)),
    "eight-nights-eight-players": ("none", 8, 2, range(3, 9)),
}


class TwelveDays(Match):
    game = "twelve-days"

    def __init__(self, rules: str, seats: int, deal_seed: bytes) -> None:
        self.claus, self.days, decks, allowed = TWELVE_DAYS[rules]
        if seats not in allowed:
            raise ValueError(f"{rules} is not for {seats} seats")
        self.rules, self.n, self.seed = rules, seats, deal_seed
        cards = [rank for rank in range(1, self.days + 1) for _ in range(rank)]
        if self.days == 12:
            cards += [0, 0]
        self.deck = shuffle(cards * decks, deal_seed, 0)
        self.shuffles = 1
        self.hands = []
        for _ in range(seats):
            self.hands.append(self.deck[: self.days])
            self.deck = self.deck[self.days :]
        self.discards: list[int] = []
        self.day_cards: list[list[int]] = [[] for _ in range(seats)]
        self.history: list[dict[str, Any]] = []
        self.scores = None
        self.day = 1
        self.pot = [1]
        self.start_day()

    def start_day(self) -> None:
        self.phase = "give"
        self.chosen: dict[int, int] = {}
        self.given: list[int] | None = None
        self.received: list[int] | None = None
        self.plays: list[int] | None = None

    def turn(self) -> list[int]:
        if self.phase in ("give", "play"):
            return [s for s in range(self.n) if s not in self.chosen]
        winner = self.winner() if self.phase == "award" else None
        return [] if winner is None else [winner]

    def winner(self) -> int | None:
        assert self.plays is not None
        lonely = [rank for rank in self.plays if self.plays.count(rank) == 1]
        return self.plays.index(min(lonely)) if lonely else None

    def legal(self, seat: int) -> list[str]:
        if seat not in self.turn():
            return []
        if self.phase == "award":
            return [f"award {s}" for s in range(self.n) if s != seat]
        return [f"{self.phase} {rank}" for rank in sorted(set(self.hands[seat]))]

    def move(self, seat: int, text: str) -> None:
        if text not in self.legal(seat):
            raise ValueError(f"seat {seat} cannot {text!r}")
        number = int(text.split()[1])
        if self.phase == "award":
            self.end_day(number)
            return
        self.chosen[seat] = number
        if self.turn():
            return
        cards = [self.chosen[s] for s in range(self.n)]
        self.chosen = {}
        for s in range(self.n):
            self.hands[s].remove(cards[s])
        if self.phase == "give":
            self.given = cards
            self.received = [cards[(s - 1) % self.n] for s in range(self.n)]
            for s in range(self.n):
                self.hands[s].append(self.received[s])
            self.phase = "play"
            return
        self.plays = cards
        winner = self.winner()
        if winner is not None and cards[winner] == 0 and self.claus == "award":
            self.phase = "award"
        else:
            self.end_day(winner)

    def end_day(self, to: int | None) -> None:
        assert self.plays is not None
        entry: dict[str, Any] = {
            "day": self.day,
            "pot": list(self.pot),
            "plays": self.plays,
            "winner": self.winner(),
            "to": to,
            "given": self.given,
            "received": self.received,
            "drawn": [],
        }
        if to is not None:
            self.day_cards[to] += self.pot
            self.pot = []
        self.discards += self.plays
        for s in range(self.n):
            if not self.deck:
                self.deck = shuffle(self.discards, self.seed, self.shuffles)
                self.shuffles += 1
                self.discards = []
            card = self.deck.pop(0)
            self.hands[s].append(card)
            entry["drawn"].append(card)
        self.history.append(entry)
        self.start_day()
        if self.day == self.days:
            self.phase = "over"
            self.scores = self.count()
        else:
            self.day += 1
            self.pot.append(self.day)

    def count(self) -> list[int]:
        scores = [sum(cards) for cards in self.day_cards]
        for rank in range(1, self.days + 1):
            most = max(hand.count(rank) for hand in self.hands)
            for s in range(self.n):
                if most > 0 and self.hands[s].count(rank) == most:
                    scores[s] += rank
        return scores

    def observation(self, seat: int) -> dict[str, Any]:
        hand = list(self.hands[seat])
        own = self.chosen.get(seat)
        if own is not None:
            hand.remove(own)
        given = own if self.phase == "give" else self.given and self.given[seat]
        played = own if self.phase == "play" else self.plays and self.plays[seat]
        private = ("given", "received", "drawn")
        return {
            **super().observation(seat),
            "hand": sorted(hand),
            "day": self.day,
            "pot": sorted(self.pot),
            "given": given,
            "received": self.received[seat] if self.received else None,
            "plays": self.plays,
            "played": played,
            "day_cards": [list(cards) for cards in self.day_cards],
            "deck": len(self.deck),
            "discards": sorted(self.discards),
            "history": [
                {key: value[seat] if key in private else value for key, value in entry.items()}
                for entry in self.history
            ],
        }
