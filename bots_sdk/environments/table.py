"""What all environments share: a match, its deals from a seed, what each agent sees and wins."""

from collections.abc import Mapping
from random import Random
from typing import Any, Literal

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from bots_sdk.environments import encoding
from engine.deals import SEED_BYTES, derive, seeded_shuffle
from engine.games import catalogue
from engine.games.game import Observation, State, places

AgentObservation = dict[str, NDArray[Any]]
Rewards = Literal["places", "scores"]
Illegal = Literal["fallback", "raise"]


class TableOfAgents:
    """A match between agents ``player_0``, ``player_1``...: agent i has seat i.

    Attributes:
        agents: their names, by seat.
        state: of the match.
    """

    def __init__(
        self, game: str, rules: str, seats: int, rewards: Rewards, illegal: Illegal, extra: int = 0
    ) -> None:
        """Deal nothing yet.

        Args:
            game: slug of the game.
            rules: name of the preset.
            seats: how many.
            rewards: ``places``, from -1 to 1, as ratings count: the mean over the others of 1 for a
                better place, 0 for the same, -1 for a worse one; or ``scores``, how far the score
                is above the others' mean. Both add up to 0, and come at the end.
            illegal: what an action that isn't legal leads to: ``fallback``, a legal one is drawn
                in its stead, as the league's referee does; or ``raise``.
            extra: how many actions there are beyond the game's.

        Raises:
            UnknownRulesError: there is no such table.
            ValueError: ``rewards`` or ``illegal`` is something else.
        """
        if rewards not in ("places", "scores"):
            raise ValueError(f"rewards are 'places' or 'scores', not {rewards!r}")
        if illegal not in ("fallback", "raise"):
            raise ValueError(f"illegal is 'fallback' or 'raise', not {illegal!r}")
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

    def deal(self, seed: int | None) -> None:
        """Begin a new match; the same seed gives the same ones from here on."""
        if seed is not None:
            self._luck = Random(seed)
        self.deal_seed = self._luck.randbytes(SEED_BYTES)
        self._fallbacks = Random(derive(self.deal_seed, "fallback"))
        self.state = catalogue.start(
            self._game, self._rules, self._seats, seeded_shuffle(self.deal_seed)
        )

    def seen(self, agent: str) -> Observation:
        """Return what an agent sees, as JSON data as bots get it."""
        return self.state.observe(self.seat[agent])

    def observe(self, agent: str) -> AgentObservation:
        """Return what an agent sees, as numbers; its own mask, all 0 where it can't decide."""
        seen = self.seen(agent)
        mask = encoding.mask(seen) + [0] * self._extra
        return {
            "observation": np.array(encoding.features(seen), np.float32),
            "action_mask": np.array(mask, np.int8),
        }

    def action(self, agent: str, action: int) -> tuple[int, bool]:
        """Return what an agent plays, and whether that is what it said.

        Raises:
            IllegalMoveError: it isn't legal, and that was to be raised.
        """
        seat = self.seat[agent]
        legal = self.state.legal(seat)
        if action in legal:
            return int(action), True
        if self._illegal == "raise":
            self.state.step({seat: int(action)})  # raises
        return self._fallbacks.choice(legal), False

    def rewards(self) -> Mapping[str, float]:
        """Return what each agent has won, once the match is over; 0 before."""
        scores = self.state.scores
        if scores is None:
            return dict.fromkeys(self.agents, 0.0)
        values = [-place for place in places(scores)] if self._rewards == "places" else scores
        others = self._seats - 1
        if self._rewards == "scores":
            total = sum(values)
            return {
                agent: value - (total - value) / others
                for agent, value in zip(self.agents, values, strict=True)
            }
        return {
            agent: sum((value > other) - (value < other) for other in values) / others
            for agent, value in zip(self.agents, values, strict=True)
        }

    def text(self) -> str:
        """Return the match as it stands, with all hands, for whoever watches the training."""
        from bots_sdk.arena.replay import lines

        return "\n".join(lines(self.state, tuple(self.agents), -1, {}))
