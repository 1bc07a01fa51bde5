"""How much faster the compiled kernel is than the engine: playouts, evaluations, environments.

Usage: python benchmarks/playouts.py [--rounds R] [--seconds S]

All parts take turns in one process, so a busy machine slows all of them. Times are processor time;
ratios are medians over the rounds. The engine's side is what a bot without the kernel does: sample,
copy, and step with `random.Random`.
"""

import argparse
from collections.abc import Callable, Iterator
from itertools import count
from random import Random
from statistics import median
from time import process_time

import numpy as np

from bots_sdk.environments import partridge_v0, twelve_days_v0
from bots_sdk.environments.batched import BatchedEnv
from engine.bench import play_out
from engine.deals import SEED_BYTES, seeded_shuffle
from engine.games import catalogue
from engine.games.catalogue import view_from
from engine.games.game import Observation, State
from engine.playouts import UNIFORM, NewMatch, Policy, evaluate, play, rule_of_thumb

MATCHES = [("twelve-days", "calliope", 4), ("partridge", "eagle", 4)]
PLAYOUTS = 500
"""Playouts of one evaluation, for all moves together: those of the reference search bot."""
BATCHES = (64, 4096)

Part = Callable[[], int]
"""Does some work and returns its amount."""


def main(rounds: int, seconds: float) -> None:
    for match in MATCHES:
        game, rules, seats = match
        print(f"{game} {rules}, {seats} seats")
        table = rule_of_thumb(game, rules)
        kernel = {"kernel": kernel_moves(match, UNIFORM), "by table": kernel_moves(match, table)}
        show("moves", measure({"engine": engine_moves(match), **kernel}, rounds, seconds))
        seen = decisions(match)
        evaluations = {
            "engine": engine_evaluations(seen),
            "kernel": kernel_evaluations(seen, UNIFORM),
            "by table": kernel_evaluations(seen, table),
        }
        show("evaluated playouts", measure(evaluations, rounds, seconds))
        batches = {f"{size} matches": batched_steps(match, size) for size in BATCHES}
        parts = {"pettingzoo": pettingzoo_steps(match), **batches}
        show("decisions of agents", measure(parts, rounds, seconds))


def measure(parts: dict[str, Part], rounds: int, seconds: float) -> dict[str, list[float]]:
    """Return the amounts per second of each part, by round."""
    for part in parts.values():
        part()
    rates: dict[str, list[float]] = {name: [] for name in parts}
    for _ in range(rounds):
        for name, part in parts.items():
            began, done = process_time(), 0
            while process_time() - began < seconds:
                done += part()
            rates[name].append(done / (process_time() - began))
    return rates


def show(unit: str, rates: dict[str, list[float]]) -> None:
    reference, *others = rates
    base = rates[reference]
    print(f"  {unit} per second: {reference} {median(base):,.0f}", end="")
    for name in others:
        ratio = median(rate / other for rate, other in zip(rates[name], base, strict=True))
        print(f"; {name} {median(rates[name]):,.0f} (x{ratio:.1f})", end="")
    print(flush=True)


# -- Playouts ----------------------------------------------------------------------------------


def engine_moves(match: tuple[str, str, int]) -> Part:
    random, numbers = Random(0).random, count()
    return lambda: play_out(
        *match, seeded_shuffle(next(numbers).to_bytes(SEED_BYTES, "big")), random
    )


def kernel_moves(match: tuple[str, str, int], policy: Policy) -> Part:
    numbers = count()
    return lambda: play(NewMatch(*match), 1000, policy, next(numbers), in_kernel=True).moves


# -- Evaluations -------------------------------------------------------------------------------


def decisions(match: tuple[str, str, int]) -> list[Observation]:
    """Return observations with a choice, from all parts of some random matches."""
    found, rng = [], Random(0)
    for number in range(20):
        state = catalogue.start(*match, seeded_shuffle(number.to_bytes(SEED_BYTES, "big")))
        while state.actors:
            seat = rng.choice(state.actors)
            if len(state.legal(seat)) > 1 and rng.random() < 0.1:
                found.append(state.observe(seat))
            state.step_unchecked({each: rng.choice(state.legal(each)) for each in state.actors})
    return found


def engine_evaluations(seen: list[Observation]) -> Part:
    """Evaluate as bots do without the kernel, one observation a call."""
    rng, chosen = Random(0), around(seen)

    def part() -> int:
        observation = next(chosen)
        view, seat, moves = view_from(observation), observation["seat"], observation["legal_moves"]
        each = max(1, PLAYOUTS // 10 // len(moves))
        totals = dict.fromkeys(moves, 0)
        for _ in range(each):
            deal = view.sample(rng)
            for move in moves:
                totals[move] += engine_result(deal.copy(), seat, move, rng.random)
        return each * len(moves)

    return part


def engine_result(state: State, seat: int, move: str, random: Callable[[], float]) -> int:
    action, first = state.parse(seat, move), True
    while state.actors:
        actions = {}
        for each in state.actors:
            ids = state.legal(each)
            actions[each] = ids[int(random() * len(ids))]
        if first:
            actions[seat], first = action, False
        state.step_unchecked(actions)
    assert state.scores is not None
    return state.scores[seat]


def kernel_evaluations(seen: list[Observation], policy: Policy) -> Part:
    chosen = around(seen)

    def part() -> int:
        observation = next(chosen)
        moves = len(observation["legal_moves"])
        each = max(1, PLAYOUTS // moves)
        evaluate(observation, each, policy, in_kernel=True)
        return each * moves

    return part


def around(seen: list[Observation]) -> Iterator[Observation]:
    while True:
        yield from seen


# -- Environments ------------------------------------------------------------------------------


def pettingzoo_steps(match: tuple[str, str, int]) -> Part:
    """Play with random legal actions, chosen by NumPy from the masks; return the decisions."""
    game, rules, seats = match
    rng = np.random.default_rng(0)
    module = twelve_days_v0 if game == "twelve-days" else partridge_v0
    env = module.raw_env(rules, seats)

    def part() -> int:
        env.reset(seed=0)
        done = 0
        while not any(env.terminations.values()) and done < 200:
            legal = np.flatnonzero(env.observe(env.agent_selection)["action_mask"])
            env.step(int(rng.choice(legal)))
            done += 1
        return done

    return part


def batched_steps(match: tuple[str, str, int], size: int) -> Part:
    """Do the same in many matches at once."""
    env = BatchedEnv(*match, size, in_kernel=True)
    rng = np.random.default_rng(0)
    masks = env.reset()[1]
    actions = np.zeros(masks.shape[:2], np.uint8)

    def part() -> int:
        decisions = 0
        for _ in range(max(1, 2000 // size)):
            deciding = masks.any(-1)
            counts = masks[deciding].cumsum(-1, dtype=np.uint8)
            picks = (rng.random(len(counts), np.float32) * counts[:, -1]).astype(np.uint8)
            actions[deciding] = (counts <= picks[:, None]).sum(-1, dtype=np.uint8)
            decisions += len(counts)
            env.step(actions)
        return decisions

    return part


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.3)
    options = parser.parse_args()
    main(options.rounds, options.seconds)
