"""The arena: blocks as at the league, repeatable in any number of processes, with error bars."""

import re
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from random import Random
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bots_sdk.arena import matches
from bots_sdk.arena.contestants import Contestant, PlayerFactory, contestant, field_of
from bots_sdk.arena.errors import ArenaError
from bots_sdk.arena.figures import elo, share, times
from bots_sdk.arena.matches import MatchType, PlayedMatch, limit_time, play_fixture
from bots_sdk.arena.pool import Pool
from bots_sdk.arena.replay import frames, outcomes
from bots_sdk.arena.trials import Trial, TrialResults
from bots_sdk.arena.worker import WorkerSetup
from bots_sdk.bot_errors import BotFileError
from engine.playback import play_back
from engine.record import replay, verify
from engine.sentences import begin_a_match, sentence

TABLE = MatchType("twelve-days", "calliope", 4)
SHORT = MatchType("partridge", "eagle-short", 3)
FIRST = "def choose(observation): return observation['legal_moves'][0]\n"


def written(tmp_path: Path, source: str, name: str = "mybot.py") -> Contestant:
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(source)
    return contestant(str(path))


def trial(bot: Contestant, *field: str, table: MatchType = TABLE, blocks: int = 2) -> Trial:
    return Trial(table, bot, field_of(field or ["thumb"]), blocks, bytes(32))


def played_here(trial: Trial) -> list[PlayedMatch]:
    """Play a trial in this process."""
    names = [each.name for each in trial.contestants]
    factory = PlayerFactory(trial.contestants)
    return [play_fixture(factory, trial.table, each, names) for each in trial.fixtures()]


# -- What is played ----------------------------------------------------------------------------


@given(seats=st.integers(3, 5), field=st.integers(1, 4), blocks=st.integers(1, 8))
def test_in_each_block_the_bot_sits_in_each_seat_once_on_one_deal(
    seats: int, field: int, blocks: int
) -> None:
    opponents = field_of(["house"])[:field]
    planned = Trial(
        MatchType("twelve-days", "calliope", seats), contestant("thumb"), opponents, 99, b"s" * 32
    )
    deals = set()
    fixtures = [each for each in planned.fixtures() if each.block < blocks]
    for block in range(blocks):
        own = [each for each in fixtures if each.block == block]
        assert sorted(each.seating.index(0) for each in own) == list(range(seats))
        [deal] = {each.deal_seed for each in own}
        deals.add(deal)
    assert len(deals) == blocks
    assert [each.number for each in fixtures] == list(range(1, blocks * seats + 1))


def test_all_opponents_play_equally_often() -> None:
    planned = trial(contestant("thumb"), "house", blocks=4)
    seated = Counter(index for each in planned.fixtures() for index in each.bots[1:])
    assert seated == dict.fromkeys([1, 2, 3, 4], 12)


def test_house_is_the_reference_bots_without_twins_and_no_bot_twice() -> None:
    names = [each.name for each in field_of(["house", "thumb", "house-random-2"])]
    assert names == [
        *("house-random", "house-thumb", "house-counting", "house-search", "house-random-2")
    ]


# -- One match ---------------------------------------------------------------------------------


def test_matches_share_neither_classes_nor_modules_beside_the_file(
    tmp_path: Path,
) -> None:
    (tmp_path / "beside_me.py").write_text("seen = []\n")
    source = """
import beside_me
seen = []
class Bot:
    seen = []
    def choose(self, observation):
        for kept in (seen, Bot.seen, beside_me.seen):
            if not observation["history"] and observation["phase"] == "give":
                assert not kept, kept
            kept.append(1)
        return observation["legal_moves"][0]
"""
    assert not any(each.faults for each in played_here(trial(written(tmp_path, source))))


def test_two_versions_each_find_the_module_beside_themselves(tmp_path: Path) -> None:
    source = "import helper_of_version\n" + FIRST.replace("[0]", "[helper_of_version.WHICH]")
    bots = []
    for name, which in (("old", 0), ("new", -1)):
        bots.append(written(tmp_path, source, f"{name}/bot.py"))
        (tmp_path / name / "helper_of_version.py").write_text(f"WHICH = {which}\n")
    factory = PlayerFactory(bots)
    info = matches.info_for(TABLE, 0)
    seen = {"legal_moves": ["give 1", "give 2"]}
    assert [factory.player(index, info)(seen) for index in (0, 1, 0)] == [
        "give 1",
        "give 2",
        "give 1",
    ]


def test_a_crash_has_its_traceback_observation_and_output(tmp_path: Path) -> None:
    source = """
def choose(observation):
    print("day", observation.get("day"))
    observation.clear()
    return worse()
def worse():
    raise KeyError("oh")
"""
    [first, *_] = played_here(trial(written(tmp_path, source), blocks=1))
    fault = first.faults[0]
    assert (fault.bot, fault.kind) == (0, "crash")
    assert fault.traceback.startswith("Traceback")
    assert 'mybot.py", line 5, in choose' in fault.traceback
    assert "arena" not in fault.traceback
    assert fault.printed == "day 1\n"
    assert fault.observation["seat"] == first.fixture.seating.index(0)
    assert fault.observation["legal_moves"]


def test_who_forfeits_is_placed_last(tmp_path: Path) -> None:
    for played in played_here(trial(written(tmp_path, "def choose(o): return 'pass'"), "random")):
        seat = played.fixture.seating.index(0)
        assert played.forfeited == (seat,)
        assert played.result.places[seat] == 4
        assert [fault.kind for fault in played.faults] == ["illegal"] * 3


def test_each_move_of_a_bot_that_does_not_start_is_a_fault(tmp_path: Path) -> None:
    source = FIRST + "def start(info): raise ValueError(info['seat'])\n"
    [first, *_] = played_here(trial(written(tmp_path, source), blocks=1))
    assert [fault.kind for fault in first.faults] == ["crash"] * 3
    assert "in start" in first.faults[2].traceback


@pytest.mark.parametrize("worse", ["KeyboardInterrupt", "SystemExit(3)", "GeneratorExit"])
def test_no_exception_of_a_bot_ends_a_match(tmp_path: Path, worse: str) -> None:
    bot = written(tmp_path, f"def choose(o): raise {worse}")
    [first, *_] = played_here(trial(bot, blocks=1))
    assert {fault.kind for fault in first.faults} == {"crash"}


@pytest.mark.skipif(not hasattr(__import__("signal"), "setitimer"), reason="needs an alarm")
def test_a_bot_that_never_returns_is_out_of_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(matches, "_MAX_SECONDS", 0.05)
    limit_time()
    source = """
def choose(observation):
    while True:
        try:
            while True: pass
        except Exception: pass
"""
    began = time.monotonic()
    [first, *_] = played_here(trial(written(tmp_path, source), blocks=1))
    assert {fault.kind for fault in first.faults} == {"timeout"}
    assert time.monotonic() - began < 10


# -- In processes ------------------------------------------------------------------------------


def in_processes(planned: Trial, jobs: int) -> TrialResults:
    results = TrialResults(planned)
    with Pool(WorkerSetup(planned.table, planned.contestants), jobs) as pool:
        for played in pool.play(planned.fixtures()):
            results.add(played)
    return results


@pytest.mark.parametrize("table", [TABLE, SHORT])
def test_the_same_seed_gives_the_same_matches_however_many_processes_play(
    tmp_path: Path, table: MatchType
) -> None:
    # Python's own luck, and the order of a set of texts, which a process draws by itself.
    source = """
import random
def choose(observation):
    return random.choice(list(set(observation["legal_moves"])))
"""
    planned = trial(written(tmp_path, source), "random", "counting", table=table)
    runs = [in_processes(planned, jobs) for jobs in (1, 3)]
    records = [{number: each.record for number, each in run.played.items()} for run in runs]
    assert len(records[0]) == planned.matches
    assert records[0] == records[1]
    shares = [run.summary().share for run in runs]
    assert shares[0] == shares[1]
    for record in records[0].values():
        verify(record)


def test_a_bot_that_ends_its_process_is_named_with_the_match(tmp_path: Path) -> None:
    bot = written(tmp_path, "import os\ndef choose(o): os._exit(3)")
    with pytest.raises(ArenaError, match=r"exit status 3 in match \d+\. .*mybot\.py"):
        in_processes(trial(bot), 2)


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("x = 1", "no function choose"),
        ("raise KeyboardInterrupt", "mybot.py can't be loaded: the bot raised KeyboardInterrupt"),
    ],
)
def test_a_file_that_is_not_a_bot_is_an_error(tmp_path: Path, source: str, text: str) -> None:
    with pytest.raises(BotFileError, match=text):
        in_processes(trial(written(tmp_path, source)), 2)


def test_what_a_bot_reads_and_writes_past_python_does_not_reach_the_arena(tmp_path: Path) -> None:
    source = """
import os, sys
def choose(observation):
    os.write(1, b"x" * 100)
    assert os.read(0, 1) == b"" and sys.stdin.read() == ""
    return observation["legal_moves"][0]
"""
    results = in_processes(trial(written(tmp_path, source)), 1)
    assert len(results.played) == 8
    assert results.summary().faults == {}


# -- Figures -----------------------------------------------------------------------------------


def test_only_complete_blocks_count_and_faults_of_all_matches(tmp_path: Path) -> None:
    planned = trial(written(tmp_path, "def choose(o): return 7"), blocks=2)
    results = TrialResults(planned)
    for played in played_here(planned)[:6]:
        results.add(played)
    summary = results.summary()
    assert (summary.matches, summary.blocks, sum(summary.places)) == (6, 1, 4)
    assert summary.share is not None
    assert summary.share.mean == 0
    assert summary.faults == {"illegal": 18}
    assert summary.forfeits == 6
    assert summary.contestants[1].matches == 12


def test_a_share_has_the_error_bar_of_its_blocks() -> None:
    found = share([0.5, 0.6, 0.7, 0.6, 0.6])
    # By hand: sd 0.0707, over sqrt(5), times t(4) = 2.776.
    assert found.mean == pytest.approx(0.6)
    assert found.low == pytest.approx(0.6 - 0.0878, abs=1e-3)
    assert found.high == pytest.approx(0.6 + 0.0878, abs=1e-3)
    assert found.elo[0] == pytest.approx(70.4, abs=0.1)


def test_all_won_is_no_certainty() -> None:
    found = share([1.0] * 10)
    assert found.elo[0] is None
    assert found.low == pytest.approx(0.741, abs=1e-3)
    assert share([0.0] * 10).high == pytest.approx(1 - 0.741, abs=1e-3)
    assert share([1.0]).low is None
    assert share([0.5] * 4).low is None
    assert share([0.5, 0.6, 0.5, 0.4, 0.5]).low is not None


def test_error_bars_cover_the_true_share_in_95_percent() -> None:
    rng = Random(5)
    held = 0
    for _ in range(400):
        found = share([min(1, max(0, rng.gauss(0.55, 0.15))) for _ in range(12)])
        assert found.low is not None
        assert found.high is not None
        held += found.low <= 0.55 <= found.high
    assert 0.92 <= held / 400 <= 0.98


def test_elo_of_ten_to_one_is_400() -> None:
    assert elo(10 / 11) == pytest.approx(400)
    assert elo(0.5) == 0
    assert elo(1.0) is None


def test_times_show_the_tail_and_the_matches_out_of_time() -> None:
    found = times([[0.01] * 198 + [2.0, 1.5], [40.0], []])
    assert found.moves == 201
    assert (found.p99, found.longest, found.slow, found.out_of_time) == (1.5, 40.0, 3, 1)
    assert found.mean == pytest.approx(fmean([0.01] * 198 + [2.0, 1.5, 40.0]))
    assert times([]).moves == 0


# -- A match, step by step ---------------------------------------------------------------------


@pytest.mark.parametrize("table", [TABLE, SHORT])
def test_each_step_has_a_line_for_each_event_and_the_last_one_the_places(table: MatchType) -> None:
    record = played_here(trial(contestant("thumb"), "random", table=table, blocks=1))[0].record
    record = replace(record, players=tuple("abcdefgh"[: record.seats]))
    steps = list(frames(record, "match 1", 0))
    phases = [phase.events for phase in play_back(record)]
    assert len(steps) == len(phases) + 1
    for step, events in zip(steps, phases, strict=False):
        begins = begin_a_match(events)
        expected = [sentence(event, record.players, at_start=begins) for event in events]
        assert step.endswith("\n".join(["", *expected]))
    assert "place 1" in steps[-1]
    assert "place 1" not in "".join(steps[:-1])


def test_a_step_shows_the_hands_before_its_moves() -> None:
    record = played_here(trial(contestant("thumb"), "random", table=SHORT, blocks=1))[0].record
    _, *steps = frames(record, "match 1", 0)
    for ply, step in enumerate(steps[:-1]):
        before = replay(record, ply)
        hands = [before.observe(seat)["hand"] for seat in range(record.seats)]
        rows = step.splitlines()[4 : 4 + record.seats]
        for row, hand in zip(rows, hands, strict=True):
            assert row.endswith(" ".join(map(str, hand)))


def test_bots_of_one_name_appear_with_their_seats() -> None:
    record = played_here(trial(contestant("thumb"), "random", table=SHORT, blocks=1))[0].record
    record = replace(record, players=("ada", *["bo"] * (record.seats - 1)))
    deal = next(frames(record, "match 1", 0))
    assert "ada is dealt" in deal
    assert "bo (seat 1) is dealt" in deal


@pytest.mark.parametrize(
    ("table", "reason"), [(TABLE, "so .* wins"), (SHORT, "wins the trick|holds the most cards")]
)
def test_outcomes_have_a_reason_for_each_day_trick_and_gift(table: MatchType, reason: str) -> None:
    record = played_here(trial(contestant("thumb"), "random", table=table, blocks=1))[0].record
    found = list(outcomes(record))
    results = {"day_won", "trick_won", "gift_moved"}
    expected = [
        sentence(event, record.players, at_start=begin_a_match(phase.events))
        for phase in play_back(record)
        for event in phase.events
        if event.kind in results
    ]
    lines = [line.strip().split(": ")[-1] for line in found]
    assert [line for line in lines if line in expected] == expected
    assert re.search(reason, "\n".join(found))
    assert "the final score is" in found[-1]
    assert not any("is dealt 1" in line or " draws " in line for line in found)


def test_the_outcome_of_a_day_shows_all_cards_of_the_day_before_the_reason() -> None:
    record = played_here(trial(contestant("thumb"), "random", table=TABLE, blocks=1))[0].record
    record = replace(record, players=tuple("abcdefgh"[: record.seats]))
    found = list(outcomes(record))
    day = found.index(next(line for line in found if line.startswith("day 1 starts")))
    for seat in record.players or ():
        assert f"{seat} gives " in found[day + 1]
        assert f"{seat} plays " in found[day + 2]
    assert " is the lowest" in found[day + 3] or " a Claus counts" in found[day + 3]


def test_the_points_of_hand_and_days_add_up_to_the_score() -> None:
    record = played_here(trial(contestant("thumb"), "random", table=TABLE, blocks=1))[0].record
    found = "\n".join(outcomes(record))
    totals = re.findall(r"; (\d+) for days, (\d+) in all$", found, re.M)
    assert tuple(int(total) for _, total in totals) == record.scores
    assert any(int(days) for days, _ in totals)


def test_the_outcome_of_a_trick_has_its_number_in_the_round() -> None:
    record = played_here(trial(contestant("thumb"), "random", table=SHORT, blocks=1))[0].record
    found = "\n".join(outcomes(record))
    rounds = found.split(" is dealt; ")[1:]
    assert len(rounds) > 1
    for each in rounds:
        tricks = r"^  trick (\d+): .* leads .*\n    .* wins the trick$"
        numbers = re.findall(tricks, each, re.M)
        assert numbers == [str(number) for number in range(1, len(numbers) + 1)]
        assert numbers
