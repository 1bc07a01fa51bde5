"""The files of bots, and what a killed process leaves behind."""

import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from bots_sdk.sandbox import folders
from bots_sdk.sandbox.jail import Jail
from bots_sdk.sandbox.session import BotProcess
from bots_sdk.sandbox.sources import read_source
from tests.bots_sdk.sandbox.mutated import packed

ANOTHER_PROCESS = """
import sys
from bots_sdk.sandbox.jail import jails
from bots_sdk.sandbox.session import BotProcess
from bots_sdk.sandbox.sources import read_source

wanted = int(sys.argv[1]), sys.argv[2] == "True"
jail = next(jail for jail in jails() if (jail.tier, jail.forks) == wanted)
source = read_source(sys.stdin.buffer.read())
bots = [BotProcess(jail, source, {}, allowance=lambda: 60.0) for _ in range(2)]
for bot in bots:
    bot.ready()
pids = [bot._process._start.find_processes()[-1] for bot in bots]
print(bots[0]._directory, *pids, flush=True)
bots[0]({})
"""
SLEEPER = packed(
    {"bot.py": b"import time\ndef choose(o):\n    time.sleep(100)\n", "a/own.txt": b"own"}
)


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """Memory and disk in which no other process has folders."""
    memory, disk = tmp_path / "memory", tmp_path / "disk"
    memory.mkdir()
    disk.mkdir()
    monkeypatch.setattr(folders, "_MEMORY", memory)
    monkeypatch.setattr(tempfile, "gettempdir", lambda: str(disk))
    return memory, disk


def test_a_folder_holds_files_that_another_user_can_read_and_nobody_can_change() -> None:
    folder = folders.new_folder({"bot.py": b"x = 1\n", "a/b/own.txt": b"own"})
    assert (folder / "a/b/own.txt").read_bytes() == b"own"
    assert {path.stat().st_mode & 0o777 for path in (folder, *folder.rglob("*"))} == {0o755, 0o644}
    folders.remove(folder)
    folders.remove(folder)
    assert not folder.exists()


def test_folders_are_in_memory_as_long_as_it_has_room(
    places: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    memory, disk = places
    assert folders.new_folder().is_relative_to(memory)
    free = os.statvfs(memory)

    def little_memory(path: Path) -> os.statvfs_result:
        return os.statvfs_result((*free[:4], 1, *free[5:])) if memory in path.parents else free

    monkeypatch.setattr(os, "statvfs", little_memory)
    assert folders.new_folder().is_relative_to(disk)
    monkeypatch.setattr(folders, "_SPARE_BYTES", 1 << 60)
    with pytest.raises(OSError, match="MiB left"):
        folders.new_folder()


def test_a_sweep_spares_the_folders_of_processes_that_run(places: tuple[Path, Path]) -> None:
    mine = folders.new_folder({"bot.py": b""})
    folders.sweep()
    assert mine.exists()
    child = os.fork()
    if not child:
        os._exit(0 if folders.sweep() == 0 and folders.new_folder() != mine else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert folders.sweep() == 1  # that of the child
    assert mine.exists()
    folders.remove(mine)


def test_a_killed_process_takes_its_bots_along_and_its_folders_are_swept(jail: Jail) -> None:
    worker = subprocess.Popen(
        [sys.executable, "-c", ANOTHER_PROCESS, str(jail.tier), str(jail.forks)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert worker.stdin is not None
    assert worker.stdout is not None
    worker.stdin.write(SLEEPER)
    worker.stdin.close()
    place, *pids = worker.stdout.readline().split()
    handles = [os.pidfd_open(int(pid)) for pid in pids]
    folder = Path(place.decode())
    assert (folder / "a/own.txt").read_bytes() == b"own"
    folders.sweep()
    assert folder.exists()

    worker.send_signal(signal.SIGKILL)
    worker.wait()
    worker.stdout.close()
    for handle in handles:
        ended, _, _ = select.select([handle], [], [], 20)
        assert ended
        os.close(handle)
    # Another process of this user, such as that of another test, may have swept it by now.
    with BotProcess(jail, read_source(SLEEPER), {}, allowance=lambda: 1.0):
        folders.sweep()
    assert not folder.exists()


def test_many_deep_files_are_laid_out_and_removed_quickly() -> None:
    deep = "/".join("abcdefgh")
    files = {f"{number}/{deep[2:]}/x.txt": b"" for number in range(199)}
    began = time.process_time()
    folders.remove(folders.new_folder(files))
    assert time.process_time() - began < 2
