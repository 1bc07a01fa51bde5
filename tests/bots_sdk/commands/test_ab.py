"""``twelfth-night ab`` and its swap blocks: one deal, two seats exchanged, one verdict."""

import json
import re
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bots_sdk.arena.contestants import PlayerFactory, contestant, field_of
from bots_sdk.arena.matches import MatchType, PlayedMatch, play_fixture
from bots_sdk.arena.swaps import NEW, OLD, SwapTest, blocks_in_order
from bots_sdk.commands import comparing
from engine.rating import sprt
from tests.bots_sdk.conftest import Home

SOME = ("--against", "thumb", "--seed", "x", "--jobs", 2)


QUICK = ("random", "thumb", "random-2", "thumb-2")
"""Opponents of matches that are played; `house` would add the search, which takes long."""


def swap_test(
    new: str, old: str, seats: int = 4, blocks: int = 3, field: tuple[str, ...] = ("house",)
) -> SwapTest:
    return SwapTest(
        table=MatchType("partridge", "eagle-short", seats),
        new=contestant(new),
        old=contestant(old),
        field=field_of(field),
        plan=sprt.Plan(seats, max_blocks=blocks),
        seed=bytes(32),
    )


@given(seats=st.integers(2, 8))
def test_in_a_block_the_versions_exchange_seats_and_all_else_stays(seats: int) -> None:
    fixtures = list(swap_test("thumb", "random", seats, blocks=6).fixtures())
    assert [each.number for each in fixtures] == list(range(1, 13))
    for first, second in zip(fixtures[::2], fixtures[1::2], strict=True):
        assert first.deal_seed == second.deal_seed
        assert first.bots == second.bots
        assert first.seating.index(NEW) == second.seating.index(OLD)
        assert first.seating.index(OLD) == second.seating.index(NEW)
        assert [bot for bot in first.seating if bot > OLD] == [
            bot for bot in second.seating if bot > OLD
        ]
    assert len({each.deal_seed for each in fixtures}) == 6
    assert len({each.seating for each in fixtures}) > (2 if seats > 2 else 1)


def played(test: SwapTest) -> list[PlayedMatch]:
    factory = PlayerFactory(test.contestants)
    names = [each.name for each in test.contestants]
    return [play_fixture(factory, test.table, each, names) for each in test.fixtures()]


@given(seed=st.integers(0, 1000))
def test_blocks_come_in_order_however_their_matches_end(seed: int) -> None:
    shuffled = list(PLAYED)
    Random(seed).shuffle(shuffled)
    assert list(blocks_in_order(shuffled)) == list(blocks_in_order(PLAYED))


PLAYED = played(swap_test("thumb", "random", field=QUICK))


def test_exchanging_the_versions_negates_the_difference() -> None:
    ahead = [block.result.difference for block in blocks_in_order(PLAYED)]
    exchanged = played(swap_test("random", "thumb", field=QUICK))
    behind = [block.result.difference for block in blocks_in_order(exchanged)]
    assert any(ahead)
    assert ahead == [-difference for difference in behind]


def test_a_better_version_is_called_better(home: Home) -> None:
    result = home("ab", "first.py", "house-counting", *SOME, "--json")
    assert result.exit_code == 0
    found = json.loads(result.stdout)
    assert found["verdict"] == "better"
    assert found["llr"][-1] > found["bounds"][1] > found["llr"][-2]
    assert len(found["llr"]) == found["blocks"] >= 16
    assert 0 < found["elo_low"] < found["elo"] < found["elo_high"]
    assert 0.97 < found["superiority"] <= 1
    assert 16 <= found["blocks_with_different_results"] <= found["blocks_with_different_moves"]


def test_a_better_file_leads_to_its_upload(home: Home) -> None:
    Path("better.py").write_text(
        "from bots_sdk.reference import make_player\nchoose = make_player('house-counting')\n"
    )
    shown = home("ab", "first.py", "better.py", *SOME).stdout
    assert "twelfth-night upload better.py --bot NAME` uploads it" in shown


def test_a_worse_version_is_not_better(home: Home) -> None:
    result = home("ab", "house-counting", "first.py", *SOME)
    assert result.exit_code == 1
    assert "\nverdict      not better\n" in result.stdout
    assert "first.py is very probably less than 20 Elo stronger than house" in result.stdout
    assert re.search(
        r"The results of the versions differed in \d+ swap blocks, and their moves in \d+\.\n"
        r"- Likelihood of superiority 0\.\d %: how probable it is that the new version is "
        r"stronger\.\n- Evidence -",
        result.stdout,
    )


def test_plain_words_come_before_the_numbers_of_the_statistics(home: Home) -> None:
    result = home("ab", "first.py", "last.py", *SOME, "--max-blocks", 2)
    words, numbers = result.stdout.split("The test in numbers:")
    assert "2 swap blocks are too few to decide whether last.py is stronger" in words
    assert re.search(
        r"A verdict needs 16 swap blocks in which the results differ, or 300 in all\. So far the "
        r"results differ in [012] of 2 swap blocks\.",
        words,
    )
    assert "play swap blocks (pairs of matches) until" in words
    for term in ("evidence", "likelihood", "llr"):
        assert term not in words.casefold()
        assert term in numbers.casefold()


def test_each_pair_of_matches_is_a_swap_block_and_the_rule_has_one_wording(home: Home) -> None:
    rule = "needs 16 swap blocks in which the results differ, or 300 in all"
    result = home("ab", "first.py", "last.py", *SOME, "--max-blocks", 2)
    assert result.stdout.count(rule) == 2
    explained = " ".join(home("ab", "--help").stdout.split())
    assert rule in explained
    for text in (result.stdout, result.stderr, explained):
        assert not re.search(r"(?<!swap )(?<!-)\bblocks?\b", text)
    assert result.stdout.count("pairs of matches") == 1


def test_an_undecided_test_says_which_version_looks_weaker(home: Home) -> None:
    result = home("ab", "house-counting", "house-random", *SOME, "--max-blocks", 17)
    assert "\nverdict      undecided\n" in result.stdout
    assert (
        "house-random looks weaker so far, but the evidence is too small for a verdict"
        in result.stdout
    )


def test_equal_versions_with_random_moves_show_no_difference(home: Home, tmp_path: Path) -> None:
    for name in ("old.py", "new.py"):
        source = "import random\ndef choose(o): return random.choice(o['legal_moves'])\n"
        (tmp_path / name).write_text(source)
    result = home("ab", "old.py", "new.py", *SOME)
    assert result.exit_code == 1
    assert "no difference in behaviour" in result.stdout
    assert "In 300 swap blocks, both versions made the same moves." in result.stdout
    assert "- Evidence -11." in result.stdout
    assert "- 300 swap blocks." in result.stdout
    assert (
        "The results of the versions differed in 0 swap blocks, and their moves in 0."
        in result.stdout
    )


RARE_RULE = """from bots_sdk.reference import thumb_bot

def choose(observation):
    if observation["phase"] == "play" and sum(observation["pot"]) >= 14:
        return observation["legal_moves"][-1]
    return thumb_bot.choose(observation)
"""


def thumb_against(source: str, directory: Path, blocks: int) -> list[sprt.SwapResult]:
    """Play a version of the rule-of-thumb bot against the unchanged one, at a table of four."""
    (directory / "new.py").write_text(source)
    test = SwapTest(
        table=MatchType("twelve-days", "calliope", 4),
        new=contestant(str(directory / "new.py")),
        old=contestant("thumb"),
        field=field_of(("thumb", "thumb-2")),
        plan=sprt.Plan(4, max_blocks=blocks),
        seed=bytes(32),
    )
    return [block.result for block in blocks_in_order(played(test))]


def test_a_version_with_one_rarely_used_rule_is_not_judged_before_the_guard(
    tmp_path: Path,
) -> None:
    blocks = thumb_against(RARE_RULE, tmp_path, 100)
    differing = sum(block.difference != 0 for block in blocks)
    assert 1 <= differing <= 12
    assert differing < sum(not block.same_moves for block in blocks) <= 20
    unguarded = sprt.Plan(4, elo1=60, min_differing=1, guard_blocks=16)
    early = sprt.latest_point(unguarded, blocks)
    assert early is not None
    assert early.decision is not None
    assert early.blocks < 60
    guarded = sprt.Plan(4, elo1=60, min_differing=16, guard_blocks=90)
    steps = list(sprt.llr_path(guarded, blocks))
    assert [step.decision for step in steps[:89]] == [None] * 89
    assert steps[-1].decision not in {None, sprt.Decision.NO_DIFFERENCE}
    at_home = sprt.latest_point(sprt.Plan(4), blocks)
    assert at_home is not None
    assert (at_home.blocks, at_home.decision) == (100, None)


def test_a_version_that_is_only_written_otherwise_shows_no_difference_at_the_guard(
    tmp_path: Path,
) -> None:
    blocks = thumb_against("from bots_sdk.reference.thumb_bot import choose\n", tmp_path, 25)
    steps = list(sprt.llr_path(sprt.Plan(4, guard_blocks=20), blocks))
    decisions = [step.decision for step in steps]
    assert decisions == [None] * 19 + [sprt.Decision.NO_DIFFERENCE]


def test_the_verdict_is_the_same_for_any_number_of_processes(home: Home) -> None:
    found = []
    for jobs in (1, 3):
        result = home("ab", "first.py", "last.py", *SOME[:-1], jobs, "--json")
        found.append(json.loads(result.stdout))
        for version in found[-1]["versions"].values():
            version.pop("seconds_a_move")
    assert found[0] == found[1]


def test_too_few_blocks_are_undecided_and_each_versions_faults_are_printed(
    home: Home,
) -> None:
    result = home("ab", "crash.py", "first.py", *SOME, "--max-blocks", 2)
    assert result.exit_code == 1
    assert "verdict      undecided\n" in result.stdout
    assert 'crash.py", line 2, in choose' in result.stderr
    assert "faults       12 crashes\nforfeits     4 matches: after three faults" in result.stdout


def test_one_block_is_too_few_and_the_tests_of_faults_stand_apart(
    home: Home, tmp_path: Path
) -> None:
    (tmp_path / "also.py").write_text((tmp_path / "crash.py").read_text())
    shown = home("ab", "crash.py", "also.py", *SOME, "--max-blocks", 1).stdout
    assert "1 swap block is too few to decide" in shown
    figures, *tests = shown.split("\n\nThis test repeats the first saved fault of ")
    assert "new version" in figures
    assert "old version" in figures
    assert [test.partition(":")[0] for test in tests] == ["also.py", "crash.py"]
    assert all('["legal_moves"]\n\n' in f"{test}\n\n" for test in tests)


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["first.py", "first.py"], "are the same file"),
        (["first.py", "no.py"], "There is no file no.py"),
        (["first.py"], "Missing argument"),
        (["first.py", "last.py", "--max-blocks", -1], "Invalid value for '--max-blocks'"),
        (["first.py", "last.py", "--seats", 1], "takes 3 to 5 seats, not 1"),
    ],
)
def test_wrong_arguments_name_a_remedy(home: Home, words: list[str], found: str) -> None:
    result = home("ab", *words, "--json")
    assert result.exit_code == 2
    assert found in json.loads(result.stderr)["detail"]


def test_while_it_runs_plain_words_show_how_it_stands_and_how_long_it_takes(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(comparing, "_FIRST_WORDS_SECONDS", 0.0)
    result = home("ab", "random", "thumb", *SOME, "--max-blocks", 40)
    words = r"^(\S+ looks stronger|No clear difference) so far, after \d+ swap blocks?\. "
    words += r"The test takes about \d+ \S+ more\.$"
    assert re.search(words, result.stderr, re.M)
    assert result.stderr.count("so far, after") < 40
