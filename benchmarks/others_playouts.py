"""Random playouts and copies of another library's game, measured once; for `engine_compare.py`.

Usage: python others_playouts.py LIBRARY GAME SECONDS

LIBRARY is ``open_spiel``, and GAME a name that it loads, with `COMPILED` behind it for playouts by
OpenSpiel's own C++; or ``rlcard``, and GAME an environment of it, with `BARE` behind the name for
the game object inside, which makes no observations.

Prints one JSON object: seats, moves and matches a second, and the microseconds of a copy in the
middle of a match, null where there is none. It imports nothing of this project.
"""

import json
import sys
from collections.abc import Callable
from random import Random
from time import perf_counter
from timeit import Timer
from typing import Any, NamedTuple

BARE = " (bare game)"
COMPILED = " (C++ rollouts)"
CHANCE, SIMULTANEOUS, TERMINAL = -1, -2, -4
"""OpenSpiel's player numbers that are not seats."""

MIDDLES = 10
COPIES = 2000
ROLLOUTS = 500
"""Playouts of one call of OpenSpiel's search."""

PlayOut = Callable[[Callable[[], float]], int]
"""Play one match with these random numbers and return how many actions the seats applied.

With `COMPILED` it is `ROLLOUTS` matches."""


class Contestant(NamedTuple):
    """A game ready to be measured."""

    seats: int
    play_out: PlayOut
    copies: list[Callable[[], Any]]
    matches: int = 1
    """Matches of one call of `play_out`."""


def main(library: str, game: str, seconds: float) -> None:
    if library == "rlcard":
        contestant = rlcard(game)
    elif game.endswith(COMPILED):
        contestant = open_spiel_compiled(game.removesuffix(COMPILED))
    else:
        contestant = open_spiel(game)
    contestant.play_out(Random(0).random)  # what the first match loads is not measured
    matches_per_second, moves_per_second = playouts(contestant.play_out, seconds)
    copying = [Timer(copy).timeit(COPIES) / COPIES for copy in contestant.copies]
    result = {
        "seats": contestant.seats,
        "moves_per_second": moves_per_second,
        "matches_per_second": matches_per_second * contestant.matches,
        "copy_microseconds": sum(copying) / len(copying) * 1e6 if copying else None,
    }
    print(json.dumps(result))


def playouts(play_out: PlayOut, seconds: float) -> tuple[float, float]:
    """Return matches and moves per second, by the method of ``engine.bench.playouts``."""
    random = Random(0).random
    matches = moves = 0
    began = perf_counter()
    while True:
        moves += play_out(random)
        matches += 1
        if perf_counter() - began >= seconds:
            break
    took = perf_counter() - began
    return matches / took, moves / took


# -- OpenSpiel -------------------------------------------------------------------------------


def open_spiel(name: str) -> Contestant:
    import pyspiel

    game = pyspiel.load_game(name)
    seats = range(game.num_players())

    def play_out(random: Callable[[], float]) -> int:
        state = game.new_initial_state()
        current_player, legal_actions = state.current_player, state.legal_actions
        apply_action, apply_actions = state.apply_action, state.apply_actions
        moves = 0
        while (player := current_player()) != TERMINAL:
            if player == SIMULTANEOUS:
                actions = []
                for seat in seats:
                    ids = legal_actions(seat)
                    actions.append(ids[int(random() * len(ids))])
                apply_actions(actions)
                moves += len(actions)
            else:
                # At a chance node these are its outcomes; `middle` checks that they are even.
                ids = legal_actions()
                apply_action(ids[int(random() * len(ids))])
                moves += player != CHANCE
        return moves

    def middle(number: int) -> Any:
        """Return the state halfway through a random match."""
        rng = Random(number)
        state = game.new_initial_state()
        states = []
        while not state.is_terminal():
            if state.is_simultaneous_node():
                states.append(state.clone())
                state.apply_actions([rng.choice(state.legal_actions(seat)) for seat in seats])
                continue
            if state.is_chance_node():
                outcomes, chances = zip(*state.chance_outcomes(), strict=True)
                if list(outcomes) != state.legal_actions() or max(chances) - min(chances) > 1e-9:
                    raise ValueError(f"{name} has uneven chances, this program draws them evenly")
            else:
                states.append(state.clone())
            state.apply_action(rng.choice(state.legal_actions()))
        return states[len(states) // 2]

    copies = [middle(number).clone for number in range(MIDDLES)]
    return Contestant(game.num_players(), play_out, copies)


def open_spiel_compiled(name: str) -> Contestant:
    """Play out by OpenSpiel's search, whose only simulation evaluates the first decision.

    Its search needs a game in which one seat decides at a time.
    """
    import pyspiel

    game = pyspiel.load_game(name)
    rng = Random(0)
    first = game.new_initial_state()
    while first.is_chance_node():
        first.apply_action(rng.choice(first.legal_actions()))
    moves = {decisions(first, rng) for _ in range(MIDDLES)}
    if len(moves) > 1:
        raise ValueError(f"matches of {name} differ in length, this program counts one's moves")
    evaluator = pyspiel.RandomRolloutEvaluator(n_rollouts=ROLLOUTS, seed=0)
    one_simulation = (2.0, 1, 100, False, 0, False)  # uct_c, simulations, MB, solve, seed, verbose
    bot = pyspiel.MCTSBot(game, evaluator, *one_simulation)

    def play_out(_random: Callable[[], float]) -> int:
        bot.mcts_search(first)
        return ROLLOUTS * sum(moves)

    return Contestant(game.num_players(), play_out, [], ROLLOUTS)


def decisions(state: Any, rng: Random) -> int:
    """Return how many moves a random match has from a state on."""
    state, count = state.clone(), 0
    while not state.is_terminal():
        count += not state.is_chance_node()
        state.apply_action(rng.choice(state.legal_actions()))
    return count


# -- RLCard ----------------------------------------------------------------------------------


def rlcard(name: str) -> Contestant:
    import rlcard

    env = rlcard.make(name.removesuffix(BARE), config={"seed": 0})
    game = env.game
    # In bridge, the judge decides whether the match is over.
    bare_legal = getattr(game, "get_legal_actions", None) or game.judger.get_legal_actions

    def play_out(random: Callable[[], float]) -> int:
        state, _ = env.reset()
        step, is_over = env.step, env.is_over
        moves = 0
        while not is_over():
            ids = list(state["legal_actions"])
            state, _ = step(ids[int(random() * len(ids))])
            moves += 1
        return moves

    def play_out_bare(random: Callable[[], float]) -> int:
        game.init_game()
        step, is_over = game.step, game.is_over
        moves = 0
        while not is_over():
            actions = bare_legal()
            step(actions[int(random() * len(actions))])
            moves += 1
        return moves

    return Contestant(env.num_players, play_out_bare if name.endswith(BARE) else play_out, [])


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], float(sys.argv[3]))
