"""`play` and `evaluate` by hand-made examples, and the luck and policies below them."""

import subprocess
import sys
import threading
from pathlib import Path
from random import Random
from typing import Any

import pytest

from engine.games import catalogue
from engine.games.partridge import Partridge
from engine.playouts import (
    UNIFORM,
    NewMatch,
    PartridgeTable,
    TwelveDaysTable,
    evaluate,
    is_fast,
    play,
    rule_of_thumb,
)
from engine.playouts.luck import Luck
from tests.engine.tables import move, partridge, play_day, played, start, twelve_days

ROOT = Path(__file__).parents[3]
IN_KERNEL = [False, True] if is_fast() else [False]
GAMES = [("twelve-days", "calliope"), ("partridge", "eagle-short")]


@pytest.fixture(params=IN_KERNEL, ids=lambda value: "kernel" if value else "plain")
def in_kernel(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


def test_luck_is_splitmix64() -> None:
    """The first words of seed 1234567, as published with the generator."""
    luck = Luck(1234567)
    assert [luck.word() for _ in range(3)] == [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
    ]


def test_a_random_number_is_a_word_of_32_bits() -> None:
    assert int(Luck(5).random() * 13) == Luck(5).below(13)
    assert Luck(5).random() * 2**32 == Luck(5).word() >> 32


def test_a_seat_that_sheds_its_last_cards_first_wins_the_round(in_kernel: bool) -> None:
    state = partridge([[1], [12, 12], [12, 12]], rules="eagle-short")
    done = play(state, 10, this_round=True, in_kernel=in_kernel)
    # One gift from the pool, and one from each of the two seats with the most cards.
    assert done.scores == (40, 0, 0)
    assert done.half_points == (40, 10, 10)


def test_the_best_move_of_a_decided_trick_is_found(in_kernel: bool) -> None:
    """With 2 1 the seat ends the round at once; a 2 alone can lose the trick to another 1."""
    seen = partridge([[1, 2], [12] * 5, [11] * 5], rules="eagle-short").observe(0)
    found = {each.move: each for each in evaluate(seen, 50, this_round=True, in_kernel=in_kernel)}
    assert found["play 2 1"].pair_result == 1
    assert found["play 2 1"].pair_error == 0
    assert found["play 2 1"].points == 4
    assert found["play 2 1"].lead > found["play 2"].lead


def test_the_means_are_those_of_the_scores(in_kernel: bool) -> None:
    state = start("twelve-days", "calliope", 3, seed=4)
    *_, last = (each.copy() for each in played(state, Random(4)) if len(each.actors) == 3)
    seen = last.observe(1)
    [found] = evaluate(seen, 40, seed=9, moves=seen["legal_moves"][:1], in_kernel=in_kernel)
    again = [
        evaluate(seen, 1, seed=seed, moves=[found.move], in_kernel=in_kernel)[0]
        for seed in range(40)
    ]
    assert found.playouts == 40
    mean = sum(each.points for each in again) / 40
    assert found.points == pytest.approx(mean, abs=8)
    assert 0 <= found.pair_result <= 1
    assert found.lead_error is not None
    assert again[0].lead_error is None


@pytest.mark.parametrize(("game", "rules"), GAMES)
def test_standard_errors_shrink_with_more_playouts(game: str, rules: str, in_kernel: bool) -> None:
    seen = start(game, rules, 4).observe(0)
    few, many = (
        evaluate(seen, n, moves=seen["legal_moves"][:1], in_kernel=in_kernel)[0] for n in (20, 320)
    )
    assert few.lead_error is not None
    assert many.lead_error is not None
    assert few.lead_error / many.lead_error == pytest.approx(4, rel=0.5)


@pytest.mark.parametrize(("game", "rules"), GAMES)
def test_a_finished_match_has_its_scores(game: str, rules: str, in_kernel: bool) -> None:
    *_, end = played(start(game, rules, 3), Random(1))
    assert end.scores is not None
    done = play(end, 2, in_kernel=in_kernel)
    assert done.moves == 0
    assert done.scores == tuple(2 * score for score in end.scores)


def test_a_table_awards_the_pot_to_the_seat_with_the_fewest_points(in_kernel: bool) -> None:
    state = twelve_days([[0], [], []])
    state.points = [0, 30, 20]
    state.deck = state.deck[:40]
    state.day = state.first_in_pot = 12
    play_day(state, [0, 12, 12])
    assert state.phase == "award"
    done = play(state, 1, rule_of_thumb("twelve-days", "calliope"), in_kernel=in_kernel)
    move(state, ["award 2"])
    assert done.scores == state.scores


@pytest.mark.parametrize("arguments", [{"moves": ["give 99"]}, {"playouts": 0}])
def test_wrong_arguments_are_refused(arguments: dict[str, Any], in_kernel: bool) -> None:
    seen = start("twelve-days", "calliope", 4).observe(0)
    with pytest.raises(ValueError, match=r"legal move|playouts are"):
        evaluate(seen, **{"playouts": 1, **arguments}, in_kernel=in_kernel)


def test_a_seat_without_a_decision_is_refused(in_kernel: bool) -> None:
    with pytest.raises(ValueError, match="no move to decide"):
        evaluate(start("partridge", "eagle", 4).observe(3), 1, in_kernel=in_kernel)


def test_a_table_of_the_other_game_is_refused(in_kernel: bool) -> None:
    table = rule_of_thumb("partridge", "eagle")
    with pytest.raises(ValueError, match="TwelveDaysTable"):
        play(NewMatch("twelve-days", "calliope", 4), 1, table, in_kernel=in_kernel)


def test_tables_of_a_wrong_shape_or_with_wrong_values_are_refused() -> None:
    moves = len(Partridge.moves)
    with pytest.raises(ValueError, match="16 rows of 145"):
        PartridgeTable([[0] * moves])
    with pytest.raises(ValueError, match="integers"):
        PartridgeTable([[10**7] * moves] * 16)
    row = [0] * 26
    with pytest.raises(ValueError, match="rows of 26"):
        TwelveDaysTable(row[:25], [row] * 12, [row] * 4, [row] * 16)
    with pytest.raises(ValueError, match="4 rows here, not 5"):
        TwelveDaysTable(row, [row] * 12, [row] * 5, [row] * 16)


@pytest.mark.parametrize(("game", "rules"), GAMES)
def test_the_best_evaluated_move_beats_random_moves(game: str, rules: str) -> None:
    table, wins, matches = rule_of_thumb(game, rules), 0.0, 20 if is_fast() else 6
    for seed in range(matches):
        state = start(game, rules, 3, seed)
        rng = Random(seed)
        while state.actors:
            actions = {seat: rng.choice(state.legal(seat)) for seat in state.actors}
            if 0 in actions:
                best = max(evaluate(state.observe(0), 4, table, seed), key=lambda each: each.lead)
                actions[0] = catalogue.find(game).moves.ids[best.move]
            state.step_unchecked(actions)
        assert state.places is not None
        wins += sum(state.places[0] < other for other in state.places[1:]) / 2
    assert wins / matches > 0.6


def test_a_forked_process_plays_on() -> None:
    """Workers and the sandbox fork processes that have loaded the kernel."""
    program = (
        "import os\n"
        "from engine.playouts import NewMatch, play\n"
        "match = NewMatch('partridge', 'eagle', 4)\n"
        "expected = play(match, 5)\n"
        "child = os.fork()\n"
        "if not child: os._exit(play(match, 5) != expected)\n"
        "raise SystemExit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, check=False, capture_output=True
    )
    assert (done.returncode, done.stderr) == (0, b"")


def test_each_thread_has_a_kernel_of_its_own() -> None:
    match = NewMatch("partridge", "eagle", 4)
    expected = [play(match, 20, UNIFORM, seed) for seed in range(4)]
    found: dict[int, object] = {}

    def run(seed: int) -> None:
        found[seed] = play(match, 20, UNIFORM, seed)

    threads = [threading.Thread(target=run, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [found[seed] for seed in range(4)] == expected
