"""The table of settings in the docs is the one that the code makes."""

import re

import pytest

from config import environment, settings_table
from tests.docs.documents import ROOT


def test_the_page_has_the_table_that_the_code_makes() -> None:
    stored = settings_table.PAGE.read_text("utf-8")
    assert settings_table.page(stored) == stored, "run `make settings-table`"


def test_a_changed_default_changes_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(environment.defaults, "KEEP_BACKUPS", "15")
    stored = settings_table.PAGE.read_text("utf-8")
    assert "| `KEEP_BACKUPS` | 15 |" in settings_table.page(stored)
    assert settings_table.page(stored) != stored


def test_every_variable_of_the_settings_has_a_meaning(monkeypatch: pytest.MonkeyPatch) -> None:
    source = (ROOT / "config" / "settings.py").read_text("utf-8")
    read = set(re.findall(r'environment\.\w+\(\s*"([A-Z_]+)"', source))
    assert read == settings_table.TEXTS.keys()
    monkeypatch.setitem(environment.defaults, "NEW_SETTING", "")
    assert "NEW_SETTING" in settings_table.undescribed()
