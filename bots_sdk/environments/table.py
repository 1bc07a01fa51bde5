"""Shared by all environments: a match, its deals, and the observations and rewards of agents."""

from collections.abc import Mapping
from random import Random
from typing import Any, Literal

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from bots_sdk.arena.replay import lines
from bots_sdk.environments import encoding
from engine.deals import SEED_BYTES, derive, seeded_shuffle
from engine.games import catalogue
from engine.games.events import Event
from engine.games.game import Observation, State, places
from engine.rating.results import half_points
from engine.sentences import begin_a_match, sentence

AgentObservation = dict[str, NDArray[Any]]
Rewards = Literal["places", "scores"]
Illegal = Literal["fallback", "raise"]


class TableOfAgents:
    """A match between agents ``player_0``, ``player_1``...: agent i has seat i.

    Attributes:
        agents: the names of the agents, by seat.
        state: the state of the match.
        events: what the latest phase brought; None if the table does not record events.
    """

    def __init__(
        self,
        game: str,
        rules: str,
        seats: int,
        rewards: Rewards,
        illegal: Illegal,
        extra: int = 0,
        *,
        record_events: bool = False,
    ) -> None:
        """Create a table; `deal` starts the first match.

        Args:
            game: the slug of the game.
            rules: the name of the preset.
            seats: the number of seats.
            rewards: ``places``, as ratings count: the mean over the other agents of 1 for a better
                place, 0 for the same place, -1 for a worse one; or ``scores``, the score minus the
                mean score of the others. Both come at the end, and their sum is 0.
            illegal: the result of an illegal action: ``fallback`` draws a legal action, as the
                league's referee does; ``raise`` raises an error.
            extra: the number of actions in addition to the game's.
            record_events: whether `render` shows events. Without them a match runs faster.

        Raises:
            UnknownRulesError: no such preset or number of seats exists.
            ValueError: ``rewards`` or ``illegal`` has another value.
        """
        if rewards not in ("places", "scores"):
            raise ValueError(f"rewards must be 'places' or 'scores', not {rewards!r}")
        if illegal not in ("fallback", "raise"):
            raise ValueError(f"illegal must be 'fallback' or 'raise', not {illegal!r}")
        numbers = encoding.size(game, rules, seats)
        self._game, self._rules, self._seats = game, rules, seats
        self._rewards, self._illegal = rewards, illegal
        self.agents = [f"player_{seat}" for seat in range(seats)]
        self.seat = {agent: seat for seat, agent in enumerate(self.agents)}
        actions = len(catalogue.find(game).moves) + extra
        self.action_spaces = {agent: spaces.Discrete(actions) for agent in self.agents}
        self.observation_spaces = {
            agent: spaces.Dict(
                {
                    "observation": spaces.Box(0.0, 1.0, (numbers,), np.float32),
                    "action_mask": spaces.Box(0, 1, (actions,), np.int8),
                }
            )
            for agent in self.agents
        }
        self._extra = extra
        self._luck = Random()
        self.state: State
        self.events: list[Event] | None = [] if record_events else None

    def deal(self, seed: int | None) -> None:
        """Start a new match; a seed determines this match and all later ones."""
        if seed is not None:
            self._luck = Random(seed)
        self.deal_seed = self._luck.randbytes(SEED_BYTES)
        self._fallbacks = Random(derive(self.deal_seed, "fallback"))
        self._clear_events()
        self.state = catalogue.start(
            self._game, self._rules, self._seats, seeded_shuffle(self.deal_seed), self.events
        )

    def step(self, actions: Mapping[int, int]) -> None:
        """Make legal moves, by seat."""
        self._clear_events()
        self.state.step_unchecked(actions, self.events)

    def _clear_events(self) -> None:
        if self.events is not None:
            self.events = []

    def seen(self, agent: str) -> Observation:
        """Return an agent's observation as JSON data, as bots get it."""
        return self.state.observe(self.seat[agent])

    def observe(self, agent: str) -> AgentObservation:
        """Return an agent's observation as numbers, and its mask, all 0 without a decision."""
        seen = self.seen(agent)
        mask = encoding.mask(seen) + [0] * self._extra
        return {
            "observation": np.array(encoding.features(seen), np.float32),
            "action_mask": np.array(mask, np.int8),
        }

    def action(self, agent: str, action: int) -> tuple[int, bool]:
        """Return the action to play, and whether it is the agent's own action.

        Raises:
            IllegalMoveError: the action is illegal, and ``illegal`` is ``raise``.
        """
        seat = self.seat[agent]
        legal = self.state.legal(seat)
        if action in legal:
            return int(action), True
        if self._illegal == "raise":
            self.state.step({seat: int(action)})  # raises
        return self._fallbacks.choice(legal), False

    def rewards(self) -> Mapping[str, float]:
        """Return the reward of each agent at the end of the match; 0 before."""
        scores = self.state.scores
        if scores is None:
            return dict.fromkeys(self.agents, 0.0)
        others = self._seats - 1
        if self._rewards == "scores":
            total = sum(scores)
            return {
                agent: score - (total - score) / others
                for agent, score in zip(self.agents, scores, strict=True)
            }
        found = places(scores)
        return {
            agent: sum(half_points(place, other) - 1 for other in found) / others
            for agent, place in zip(self.agents, found, strict=True)
        }

    def render(self, mode: str | None) -> str | None:
        """Return the latest events and the match with all hands as text, or print it.

        Args:
            mode: ``ansi`` to return the text, ``human`` to print it.
        """
        events = self.events or ()
        begins = begin_a_match(events)
        shown = [sentence(event, self.agents, at_start=begins) for event in events]
        if shown:
            shown.append("")
        text = "\n".join([*shown, *lines(self.state, self.agents)])
        if mode == "human":
            print(text, end="\n\n")
        return text if mode == "ansi" else None
