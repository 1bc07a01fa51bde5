"""Skips the browser tests if there is no Chromium, and prints one line about it."""

import shutil
from pathlib import Path

import pytest

CHROMIUM = shutil.which("chromium-headless-shell") or shutil.which("chromium")
"""Path of the browser; None if it is not installed. The shell has no window to draw around pages,
and takes a quarter less time.
"""

REASON = "no chromium on the PATH; install Debian's package chromium-headless-shell or chromium"
_FOLDER = Path(__file__).with_name("browser")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the browser tests so that none of them starts a browser that is missing."""
    if CHROMIUM is None:
        for item in items:
            if item.path.is_relative_to(_FOLDER):
                item.add_marker(pytest.mark.skip(reason=REASON))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the reason once if browser tests were skipped, above pytest's own summary line."""
    skipped = terminalreporter.stats.get("skipped", [])
    if any(REASON in str(report.longrepr) for report in skipped):
        terminalreporter.write_line(f"browser tests skipped: {REASON}")
