"""``twelve-days`` as a parallel environment: all agents decide at once."""

from collections.abc import Mapping
from typing import Any

from pettingzoo import ParallelEnv  # type: ignore[import-untyped]

from bots_sdk.environments.table import AgentObservation, Illegal, Rewards, TableOfAgents
from engine.games.game import Observation
from engine.games.twelve_days import TwelveDays

WAIT = len(TwelveDays.moves)
"""The action of an agent without a decision, while another agent awards the pot."""


class TogetherEnv(ParallelEnv):  # type: ignore[misc]
    """A match as a parallel environment of PettingZoo.

    Observations are a dictionary of

    - ``observation``: the numbers of `encoding.features`, from 0 to 1;
    - ``action_mask``: 1 for each legal action. It is never all 0: an agent without a decision has
      `WAIT`.
    """

    def __init__(
        self,
        rules: str,
        seats: int,
        *,
        rewards: Rewards = "places",
        illegal: Illegal = "fallback",
        render_mode: str | None = None,
    ) -> None:
        """Create the environment; `TableOfAgents` describes the arguments."""
        self.metadata = {"name": "twelve_days_v0", "render_modes": ["ansi", "human"]}
        self.render_mode = render_mode
        self._table = TableOfAgents(TwelveDays.game, rules, seats, rewards, illegal, extra=1)
        self.possible_agents = list(self._table.agents)
        self.observation_spaces = self._table.observation_spaces
        self.action_spaces = self._table.action_spaces
        self.agents: list[str] = []

    def observation_space(self, agent: str) -> Any:
        """Return the space of an agent's observations."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Any:
        """Return the space of an agent's actions."""
        return self.action_spaces[agent]

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, AgentObservation], dict[str, dict[str, Any]]]:
        """Start a new match; a seed determines this match and all later ones."""
        self._table.deal(seed)
        self.agents = list(self.possible_agents)
        return self._observations(), {agent: {} for agent in self.agents}

    def step(
        self, actions: Mapping[str, int]
    ) -> tuple[
        dict[str, AgentObservation],
        dict[str, float],
        dict[str, bool],
        dict[str, bool],
        dict[str, dict[str, Any]],
    ]:
        """Make the moves of all agents.

        Raises:
            IllegalMoveError: an action is illegal, and ``illegal`` is ``raise``.
        """
        agents, infos = self.agents, {agent: dict[str, Any]() for agent in self.agents}
        state = self._table.state
        chosen = {}
        for seat in state.actors:
            agent = self.possible_agents[seat]
            action = actions.get(agent, WAIT)
            chosen[seat], own = self._table.action(agent, action)
            if not own:
                infos[agent]["illegal_action"] = int(action)
        state.step_unchecked(chosen)
        observations = self._observations()
        if state.is_over:
            self.agents = []
        if self.render_mode == "human":
            self.render()
        return (
            observations,
            dict(self._table.rewards()),
            dict.fromkeys(agents, state.is_over),
            dict.fromkeys(agents, False),
            infos,
        )

    def seen(self, agent: str) -> Observation:
        """Return an agent's observation as JSON data, as bots get it."""
        return self._table.seen(agent)

    def render(self) -> str | None:
        """Return the match as text, or print it."""
        return self._table.render(self.render_mode)

    def close(self) -> None:
        """Do nothing."""

    def _observations(self) -> dict[str, AgentObservation]:
        found = {agent: self._table.observe(agent) for agent in self.possible_agents}
        for seat, agent in enumerate(self.possible_agents):
            if seat not in self._table.state.actors:
                found[agent]["action_mask"][WAIT] = 1
        return found
