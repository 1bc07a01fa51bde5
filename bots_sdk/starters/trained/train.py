"""Train the bot NAME: play matches, learn the values of moves from their results, and repeat.

    python train.py

The first matches are random. In later ones the network chooses most moves. The value of a move is
the mean result of the seats that made it. A seat's result is its score minus the mean score of the
other seats.

Needs more packages: `python -m pip install gymnasium numpy pettingzoo`.
"""

import argparse
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bots_sdk.environments import partridge_v0, twelve_days_v0

GAME = "twelve-days"
MATCHES = 400
"""Matches in each round of the training."""
ROUNDS = 3
EXPLORE = 0.3
"""The share of random moves after the first round."""
INPUTS = {"twelve-days": 79, "partridge": 127}
"""How many numbers of an observation the network takes: the first ones, which do not depend on the
number of seats."""
HIDDEN = 48

Array = NDArray[np.float32]
Weights = dict[str, Array]


def environment(game: str) -> Any:
    """Return the environment; in partridge a match has 3 rounds, to finish sooner."""
    if game == "partridge":
        return partridge_v0.raw_env("eagle-short", rewards="scores")
    return twelve_days_v0.raw_env(rewards="scores")


def new_weights(inputs: int, actions: int, rng: np.random.Generator) -> Weights:
    """Return a network that gives each move the value 0."""
    return {
        "w1": rng.normal(0, 1.5 / inputs**0.5, (inputs, HIDDEN)).astype(np.float32),
        "b1": np.zeros(HIDDEN, np.float32),
        "w2": np.zeros((HIDDEN, actions), np.float32),
        "b2": np.zeros(actions, np.float32),
    }


def values(weights: Weights, numbers: Array) -> Array:
    """Return the values of all moves for one observation, or for each of many."""
    hidden = np.maximum(numbers @ weights["w1"] + weights["b1"], 0)
    result: Array = hidden @ weights["w2"] + weights["b2"]
    return result


def play(
    env: Any, weights: Weights, matches: int, explore: float, rng: np.random.Generator
) -> tuple[Array, NDArray[np.int64], Array]:
    """Play matches; return for each decision the numbers, the chosen action, and the reward."""
    inputs = len(weights["w1"])
    decisions: list[tuple[Array, int]] = []
    rewards: list[float] = []
    for _ in range(matches):
        env.reset(seed=int(rng.integers(2**31)))
        agents = []
        while not env.terminations[env.agent_selection]:
            agent = env.agent_selection
            seen = env.observe(agent)
            numbers, legal = seen["observation"][:inputs], np.flatnonzero(seen["action_mask"])
            if rng.random() < explore:
                action = int(rng.choice(legal))
            else:
                action = int(legal[values(weights, numbers)[legal].argmax()])
            if len(legal) > 1:
                decisions.append((numbers, action))
                agents.append(agent)
            env.step(action)
        rewards += [env.rewards[agent] for agent in agents]
    numbers_of, actions = zip(*decisions, strict=True)
    return np.array(numbers_of), np.array(actions), np.array(rewards, np.float32)


def fit(
    weights: Weights,
    numbers: Array,
    actions: NDArray[np.int64],
    rewards: Array,
    rng: np.random.Generator,
    *,
    epochs: int = 3,
    rate: float = 1e-3,
) -> None:
    """Change the weights so that the values come nearer to the rewards (Adam, squared error)."""
    means = {name: np.zeros_like(array) for name, array in weights.items()}
    squares = {name: np.zeros_like(array) for name, array in weights.items()}
    order = np.concatenate([rng.permutation(len(actions)) for _ in range(epochs)])
    for step, start in enumerate(range(0, len(order), 256), start=1):
        batch = order[start : start + 256]
        rows = np.arange(len(batch))
        hidden = np.maximum(numbers[batch] @ weights["w1"] + weights["b1"], 0)
        found = hidden @ weights["w2"] + weights["b2"]
        errors = np.zeros_like(found)
        errors[rows, actions[batch]] = found[rows, actions[batch]] - rewards[batch]
        errors /= len(batch)
        below = errors @ weights["w2"].T * (hidden > 0)
        gradients = {
            "w1": numbers[batch].T @ below + 1e-4 * weights["w1"],
            "b1": below.sum(axis=0),
            "w2": hidden.T @ errors + 1e-4 * weights["w2"],
            "b2": errors.sum(axis=0),
        }
        for name, gradient in gradients.items():
            means[name] = 0.9 * means[name] + 0.1 * gradient
            squares[name] = 0.999 * squares[name] + 0.001 * gradient**2
            mean, square = means[name] / (1 - 0.9**step), squares[name] / (1 - 0.999**step)
            weights[name] -= rate * mean / (np.sqrt(square) + 1e-8)


def train(game: str, matches: int, rounds: int, seed: int = 1) -> Weights:
    """Return trained weights; a round learns from its own matches and those of the round before."""
    rng = np.random.default_rng(seed)
    env = environment(game)
    weights = new_weights(INPUTS[game], env.action_space(env.possible_agents[0]).n, rng)
    before, scale = None, 1.0
    for number in range(rounds):
        played = play(env, weights, matches, EXPLORE if number else 1.0, rng)
        numbers, actions, rewards = played
        if before is None:
            scale = float(rewards.std()) or 1.0
        else:
            numbers = np.concatenate((before[0], numbers))
            actions = np.concatenate((before[1], actions))
            rewards = np.concatenate((before[2], rewards))
        fit(weights, numbers, actions, rewards / scale, rng)
        before = played
        print(f"round {number + 1} of {rounds}: learned from {len(actions)} decisions", flush=True)
    return weights


def main() -> None:
    """Train, and save the weights beside this file."""
    parser = argparse.ArgumentParser(description="Train the bot and save its weights.")
    parser.add_argument("--game", default=GAME, choices=sorted(INPUTS))
    parser.add_argument("--matches", type=int, default=MATCHES, help="matches in each round")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--output", type=Path, default=Path(__file__).with_name("weights.npz"))
    options = parser.parse_args()
    weights = train(options.game, options.matches, options.rounds)
    np.savez_compressed(options.output, **weights)  # type: ignore[arg-type] # as named arrays
    print(f"saved {options.output}")


if __name__ == "__main__":
    main()
