"""Every script of the site has browser tests."""

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TESTS = {
    "web/static/web/changes.js": "tests/browser/test_changes.py",
    "web/static/web/copy.js": "tests/browser/test_newcomer.py",
    "web/static/web/countdown.js": "tests/browser/test_tournament.py",
    "web/static/web/dragging.js": "tests/browser/test_play.py",
    "web/static/web/editor.js": "tests/browser/test_learn.py",
    "web/static/web/failures.js": "tests/browser/test_failures.py",
    "web/static/web/fetching.js": "tests/browser/test_failures.py",
    "web/static/web/fold.js": "tests/browser/test_tournament.py",
    "web/static/web/live.js": "tests/browser/test_live.py",
    "web/static/web/notices.js": "tests/browser/test_failures.py",
    "web/static/web/once.js": "tests/browser/test_flows.py",
    "web/static/web/play.js": "tests/browser/test_play.py",
    "web/static/web/own_zone.js": "tests/browser/test_watch.py",
    "web/static/web/panel.js": "tests/browser/test_play_panel.py",
    "web/static/web/room.js": "tests/browser/test_changes.py",
    "web/static/web/share.js": "tests/browser/test_tournament.py",
    "web/static/web/stream.js": "tests/browser/test_changes.py",
    "web/static/web/table/beside.js": "tests/browser/test_analysis.py",
    "web/static/web/table/copying.js": "tests/browser/test_replay.py",
    "web/static/web/table/deal_check.js": "tests/browser/test_table_modules.py",
    "web/static/web/table/frames.js": "tests/browser/test_live.py",
    "web/static/web/table/headline.js": "tests/browser/test_table_modules.py",
    "web/static/web/table/in_play.js": "tests/browser/test_live.py",
    "web/static/web/table/loop.js": "tests/browser/test_watch.py",
    "web/static/web/table/past.js": "tests/browser/test_live.py",
    "web/static/web/table/replayed.js": "tests/browser/test_table_modules.py",
    "web/static/web/table/scene.js": "tests/browser/test_table_modules.py",
    "web/static/web/table/seated.js": "tests/browser/test_play.py",
    "web/static/web/table/source.js": "tests/browser/test_live.py",
    "web/static/web/table/spoken.js": "tests/browser/test_live.py",
    "web/static/web/table/summary.js": "tests/browser/test_table_modules.py",
    "web/static/web/table/table.js": "tests/browser/test_replay.py",
    "web/static/web/table/transport.js": "tests/browser/test_replay.py",
    "web/static/web/table/view.js": "tests/browser/test_replay.py",
    "web/static/web/time_left.js": "tests/browser/test_play_panel.py",
    "web/static/web/times.js": "tests/browser/test_watch.py",
    "web/static/web/tournament.js": "tests/browser/test_changes.py",
    "web/static/web/trial.js": "tests/browser/test_learn.py",
    "web/static/web/table/totals.js": "tests/browser/test_replay.py",
    "web/static/web/tv.js": "tests/browser/test_watch.py",
}
"""The scripts of the site, and for each the file with its tests."""


def test_no_script_is_without_browser_tests() -> None:
    packages = [init.parent for init in ROOT.glob("*/__init__.py")]
    scripts = {
        file.relative_to(ROOT).as_posix()
        for package in packages
        for file in package.glob("**/static/**/*.*js")
    }
    assert scripts == set(TESTS)


@pytest.mark.parametrize("script", TESTS)
def test_the_browser_tests_of_a_script_name_it(script: str) -> None:
    text = (ROOT / TESTS[script]).read_text("utf-8")
    assert f"`{Path(script).name}`" in text.partition("\n")[0]
    assert "\ndef test_" in text


def test_no_template_has_a_script_within_it() -> None:
    templates = ROOT.glob("web/templates/**/*.html")
    scripts = [
        (template.name, tag.partition(">")[0])
        for template in templates
        for tag in template.read_text("utf-8").split("<script")[1:]
    ]
    assert scripts
    assert all("src=" in tag for _, tag in scripts), scripts
