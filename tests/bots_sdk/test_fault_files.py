"""The files of faults: each fault of a run has its own file."""

import json
from pathlib import Path

from bots_sdk.fault_files import FaultFiles


def test_two_faults_at_one_place_of_a_run_have_two_files(tmp_path: Path) -> None:
    files = FaultFiles(tmp_path, Path("mybot.py"))
    saved = [files.save({"reason": each}, "calliope-4-ply20") for each in ("first", "second")]
    paths = [each.path for each in saved if each.path]
    assert [path.name for path in paths] == [
        "mybot-calliope-4-ply20.json",
        "mybot-calliope-4-ply20-2.json",
    ]
    assert [json.loads(path.read_text())["reason"] for path in paths] == ["first", "second"]
