"""A match as an AEC environment: one agent after the other decides.

If seats decide at the same time, the agents choose in the order of the seats, and no agent sees
another agent's choice.
"""

from typing import Any

from pettingzoo import AECEnv  # type: ignore[import-untyped]

from bots_sdk.environments.table import AgentObservation, Illegal, Rewards, TableOfAgents
from engine.games.game import Observation


class TurnsEnv(AECEnv):  # type: ignore[misc]
    """A match as an AEC environment of PettingZoo.

    Observations are a dictionary of

    - ``observation``: the numbers of `encoding.features`, from 0 to 1;
    - ``action_mask``: 1 for each legal action. It is never all 0 for the selected agent, and all 0
      for an agent without a decision.
    """

    def __init__(
        self,
        game: str,
        rules: str,
        seats: int,
        *,
        rewards: Rewards = "places",
        illegal: Illegal = "fallback",
        render_mode: str | None = None,
    ) -> None:
        """Create the environment; `TableOfAgents` describes the arguments."""
        super().__init__()
        self.metadata = {
            "name": f"{game.replace('-', '_')}_v0",
            "render_modes": ["ansi", "human"],
            "is_parallelizable": False,
        }
        self.render_mode = render_mode
        self._table = TableOfAgents(game, rules, seats, rewards, illegal)
        self.possible_agents = list(self._table.agents)
        self.observation_spaces = self._table.observation_spaces
        self.action_spaces = self._table.action_spaces

    def observation_space(self, agent: str) -> Any:
        """Return the space of an agent's observations."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Any:
        """Return the space of an agent's actions."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Start a new match; a seed determines this match and all later ones."""
        self._table.deal(seed)
        self.agents = list(self.possible_agents)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self._skip_agent_selection = None
        self._select()

    def observe(self, agent: str) -> AgentObservation:
        """Return an agent's observation as numbers, and its mask."""
        return self._table.observe(agent)

    def seen(self, agent: str) -> Observation:
        """Return an agent's observation as JSON data, as bots get it."""
        return self._table.seen(agent)

    def step(self, action: int | None) -> None:
        """Make the move of the selected agent.

        Raises:
            IllegalMoveError: the action is illegal, and ``illegal`` is ``raise``.
        """
        agent = self.agent_selection
        if self.terminations[agent]:
            self._was_dead_step(action)
            return
        self._cumulative_rewards[agent] = 0.0
        assert action is not None
        played, own = self._table.action(agent, action)
        self.infos[agent] = {} if own else {"illegal_action": int(action)}
        self._table.state.step_unchecked({self._table.seat[agent]: played})
        self.rewards = dict(self._table.rewards())
        if self._table.state.is_over:
            self.terminations = dict.fromkeys(self.agents, True)
        else:
            self._select()
        self._accumulate_rewards()
        if self.render_mode == "human":
            self.render()

    def render(self) -> str | None:
        """Return the match as text, or print it."""
        return self._table.render(self.render_mode)

    def close(self) -> None:
        """Do nothing."""

    def _select(self) -> None:
        self.agent_selection = self.possible_agents[self._table.state.actors[0]]
