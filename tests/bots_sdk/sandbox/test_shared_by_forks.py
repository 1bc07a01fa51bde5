"""What the bots of one zygote share, and what they must not."""

from pathlib import Path

import numpy as np
import pytest

from bots_sdk.sandbox import timing, zygotes
from tests.bots_sdk.sandbox.forked import Play, children_of, processes_of, wait_until, zygote_of

FINGERPRINT = "import sys\ndef choose(observation): return repr((id(sys), hash('text')))\n"
LUCK = (
    "import random, {}sys\n"
    "def choose(observation):\n"
    "    found = [random.random()]\n"
    "    if 'numpy' in globals():\n"
    "        found = [numpy.random.random(), numpy.random.default_rng().random()]\n"
    "    return repr(found)\n"
)


def test_the_bots_of_a_worker_share_a_zygote_for_each_need_of_libraries(play: Play) -> None:
    first, second, third = play(), play(), play("import numpy\ndef choose(o): return 'x'")
    assert [bot({}) for bot in (first, second, third)] == ["x"] * 3
    assert zygote_of(first) is zygote_of(second)
    assert zygote_of(third) is not zygote_of(first)


def test_a_zygote_keeps_nothing_of_its_bots(play: Play) -> None:
    """Its memory, which later bots share, changes by counters and old addresses only."""
    secret = "text of one bot"
    zygote = processes_of(zygote_of(play()))[-1]

    def reported() -> None:
        """Wait until the zygote has reported the ends of all bots but the first."""
        wait_until(lambda: len(children_of(zygote)) == 1 and timing._state(zygote) == "S")

    for _ in range(10):  # the interpreter changes a loop that runs often
        with play() as bot:
            bot({})
        reported()
    before = _writable_memory(zygote)
    with play(f"SECRET = '{secret}'\ndef choose(o): return o['text']") as bot:
        assert bot({"text": secret}) == secret
    reported()
    with play("def choose(o): return SECRET") as noisy, pytest.raises(Exception, match="NameErr"):
        noisy({})
    reported()
    after = _writable_memory(zygote)
    assert before.keys() == after.keys()
    changed = sum(_difference(before[place], after[place]) for place in before)
    assert changed < 4000
    assert all(secret.encode() not in data for data in after.values())


def _difference(before: bytes, after: bytes) -> int:
    """Return how many bytes differ."""
    return int(np.count_nonzero(np.frombuffer(before, np.uint8) != np.frombuffer(after, np.uint8)))


def _writable_memory(pid: int) -> dict[str, bytes]:
    """Return the content of the writable memory of a process, by its place."""
    found = {}
    with Path(f"/proc/{pid}/mem").open("rb") as memory:
        for line in Path(f"/proc/{pid}/maps").read_text().splitlines():
            place, access, *_ = line.split()
            start, end = (int(each, 16) for each in place.split("-"))
            if access.startswith("rw"):
                memory.seek(start)
                found[place] = memory.read(end - start)
    return found


@pytest.mark.parametrize("names", ["", "numpy, "], ids=["random", "numpy"])
def test_bots_of_one_zygote_draw_different_random_numbers(play: Play, names: str) -> None:
    drawn = {play(LUCK.format(names))({}) for _ in range(3)}
    assert len(drawn) == 3


def test_a_new_zygote_has_other_addresses_and_hashes(
    play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(zygotes, "MAX_STARTS", 2)
    bots = [play(FINGERPRINT) for _ in range(4)]
    assert len({zygote_of(bot) for bot in bots}) == 2
    found = [bot({}) for bot in bots]
    assert found[0] == found[1] != found[2] == found[3]


def test_the_bots_of_a_worker_see_each_other_in_no_namespace_of_tier_1(play: Play) -> None:
    bots = [play("import os\ndef choose(o): return f'{os.getpid()} {os.getppid()}'") for _ in "12"]
    numbers = [bot({}) for bot in bots]
    spaces = [
        {kind: Path(f"/proc/{bot.process_ids[-1]}/ns/{kind}").readlink() for kind in KINDS}
        for bot in bots
    ]
    zygote = processes_of(zygote_of(bots[0]))[-1]
    spaces.append({kind: Path(f"/proc/{zygote}/ns/{kind}").readlink() for kind in KINDS})
    if bots[0]._jail.tier == 1:
        assert numbers == ["1 0", "1 0"]
        assert all(len({space[kind] for space in spaces}) == 3 for kind in KINDS)
    else:
        assert len(set(numbers)) == 2


KINDS = ("ipc", "mnt", "net", "pid", "uts")
