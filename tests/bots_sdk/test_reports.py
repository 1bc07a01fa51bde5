"""The runner's output: what happens if it can't be written."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

_REPORT_TWICE = """
import sys
from bots_sdk.reports import reporting
with reporting(as_json=len(sys.argv) > 1) as (report, show):
    report("fault", "one")
    report("fault", "two")
    print("goes on", file=sys.stderr)
"""
_CLI_PRINTS = """
import sys
from bots_sdk import cli
try:
    cli.main(["--version"])
except SystemExit:
    print("3 \\u2192 4")
    print("3 \\u2192 4", file=sys.stderr)
"""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize("more", [(), ("json",)])
def test_a_full_disk_is_told_once_and_ends_nothing(more: tuple[str, ...]) -> None:
    with Path("/dev/full").open("w") as full:
        command = [sys.executable, "-c", _REPORT_TWICE, *more]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert "goes on" in done.stderr
    assert done.stderr.count("The output can't be written: No space left on device.") == 1


def test_a_letter_that_the_terminal_lacks_is_printed_as_an_escape() -> None:
    environment = {**os.environ, "PYTHONIOENCODING": "cp1252:strict", "PYTHONUTF8": "0"}
    command = [sys.executable, "-c", _CLI_PRINTS]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert "3 \\u2192 4" in done.stdout
    assert "3 \\u2192 4" in done.stderr
