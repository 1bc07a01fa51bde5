"""The games by name."""

from collections.abc import Mapping

from engine.deals import Shuffle
from engine.errors import UnknownRulesError, listed, quote
from engine.games.events import Event
from engine.games.game import Observation, State, View
from engine.games.partridge import Partridge
from engine.games.twelve_days import TwelveDays

GAMES: Mapping[str, type[State]] = {game.game: game for game in (TwelveDays, Partridge)}


def find(game: str) -> type[State]:
    """Return the game with that name, or raise `UnknownRulesError`."""
    if game not in GAMES:
        games = listed(list(GAMES))
        raise UnknownRulesError(f"there is no game {quote(game)}; the games are {games}")
    return GAMES[game]


def start(
    game: str, rules: str, seats: int, shuffle: Shuffle, report: list[Event] | None = None
) -> State:
    """Deal a new match; ``report``, if given, receives the events of the deal.

    Raises:
        UnknownRulesError: there is no such game or preset, or the preset does not allow that many
            seats.
    """
    return find(game).start(rules, seats, shuffle, report)


def view_from(observation: Observation) -> View:
    """Return the view from which a bot can search, given the observation that it received.

    Raises:
        UnknownRulesError: the observation names an unknown game.
    """
    return View(find(observation["game"]), observation)
