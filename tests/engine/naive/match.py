"""The shared part of both games in the naive implementation."""

from typing import Any


def places_of(scores: list[int]) -> list[int]:
    return [1 + sum(other > score for other in scores) for score in scores]


class Match:
    """A match of either game."""

    game: str
    rules: str
    n: int
    seed: bytes
    phase: str
    hands: list[list[int]]
    scores: list[int] | None

    @property
    def over(self) -> bool:
        return self.phase == "over"

    @property
    def places(self) -> list[int] | None:
        return None if self.scores is None else places_of(self.scores)

    def turn(self) -> list[int]:
        """Return the seats that must still decide now, ascending."""
        raise NotImplementedError

    def legal(self, seat: int) -> list[str]:
        raise NotImplementedError

    def move(self, seat: int, text: str) -> None:
        raise NotImplementedError

    def observation(self, seat: int) -> dict[str, Any]:
        return {
            "game": self.game,
            "rules": self.rules,
            "seats": self.n,
            "seat": seat,
            "phase": self.phase,
            "hand": sorted(self.hands[seat]),
            "legal_moves": self.legal(seat),
            "scores": self.scores,
        }
