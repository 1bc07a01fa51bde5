"""What the learn pages show: each game's first steps, as the engine plays and explains them."""

from dataclasses import dataclass
from functools import cache

from django.conf import settings

from engine import record
from engine.games.titles import GAME_TITLES
from web.table.replays import replay_steps
from web.table.steps import Step


@dataclass(frozen=True, slots=True)
class Example:
    """A step of an example match, and what it shows.

    Attributes:
        title: what to learn from it.
        step: as the engine played it.
        at: number of the step in its match, from 1.
    """

    title: str
    step: Step
    at: int

    @property
    def cancelled(self) -> frozenset[int]:
        """The ranks that several seats of 12 Days played; none in the other game."""
        if not self.step.pot:
            return frozenset()
        ranks = [rank for seat in self.step.table for rank in seat.played or ()]
        return frozenset(rank for rank in ranks if ranks.count(rank) > 1)


@dataclass(frozen=True, slots=True)
class Lesson:
    """A game on the learn pages.

    Attributes:
        game: slug.
        title: the game's name.
        goal: what wins, in a sentence.
        rules: the rules, in as many sentences as one reads in a minute.
        first_match: the game and preset of the first match, as the form of tables takes them.
    """

    game: str
    goal: str
    rules: tuple[str, ...]
    first_match: str

    @property
    def title(self) -> str:
        """The game's name."""
        return GAME_TITLES[self.game]


LESSONS = {
    "twelve-days": Lesson(
        "twelve-days",
        "Win points with the lowest card that nobody else plays, and with the cards that you keep.",
        (
            "The deck has one 1, two 2s, and so on up to twelve 12s, and two Claus cards, which "
            "count as 0. You hold twelve cards.",
            "Each day, you first give a card to your left neighbour. You do not know yet what you "
            "receive.",
            "Then all play a card at the same time. Equal cards cancel each other. The lowest card "
            "that is left wins the day’s points: 1 on day 1, 2 on day 2, and so on.",
            "If no card is left, the points stay in the pot for the next day.",
            "If you win with a Claus, you must award the points to another seat.",
            "After the day you draw a card. After the last day, the seat with the most 12s scores "
            "12 points, the seat with the most 11s scores 11, and so on.",
        ),
        "twelve-days calliope",
    ),
    "partridge": Lesson(
        "partridge",
        "Be the first to get rid of all your cards. The lowest card wins each trick and starts the "
        "next one.",
        (
            "There is one 1 in the deck, there are two 2s, and so on up to twelve 12s. You hold "
            "twelve of these cards at a table of four.",
            "One seat leads a trick: a single card, a set such as 9 9, or a straight such as "
            "6 5 4.",
            "Each other seat passes or plays once. It plays the same kind of cards, and its lowest "
            "card must be as low as the leader’s lowest card, or lower.",
            "The lowest card wins the trick and leads the next one. If two seats tie, the later "
            "one wins.",
            "If you win a trick with your last cards, you win the round. Last cards that do not "
            "win come back to your hand.",
            "The points of this game are gifts. The winner of a round gets one from the pool, and "
            "one from each seat that holds the most cards. After the last round, the most gifts "
            "win.",
        ),
        "partridge eagle-short",
    ),
}
"""The lesson of each game, by slug."""

_SHOWN = {
    "twelve-days": (
        ("Equal cards cancel", 1),
        ("Nobody wins, so the points stay", 2),
        ("A Claus awards the points", 3),
    ),
    "partridge": (
        ("A straight answers a straight", 1),
        ("The later of two equal cards wins", 4),
        ("Last cards that lose come back", 5),
        ("The round ends", 6),
    ),
}
"""The steps of the example matches that the pages show."""


_FIRST = {"twelve-days": 1, "partridge": 2}
"""The step of each example match on the front page: one card or a pair from each seat."""


@cache
def examples(game: str) -> tuple[Example, ...]:
    """Return some steps of the game's example match, replayed by the engine."""
    steps = _steps(game)
    return tuple(Example(title, steps[at - 1], at) for title, at in _SHOWN[game])


@cache
def front_example(game: str) -> Example:
    """Return a step of the game's example match that is read at a glance."""
    at = _FIRST[game]
    return Example(LESSONS[game].title, _steps(game)[at - 1], at)


def _steps(game: str) -> list[Step]:
    path = settings.BASE_DIR / "docs" / "rules" / f"{game}-example.jsonl"
    found = record.read(path.read_bytes().splitlines()[0])
    return replay_steps(found, found.players or [])
