"""The examples of the API's calls: requests to a real league, with its answers.

``make api-examples`` writes those that have changed.
"""

import os
from dataclasses import asdict
from difflib import unified_diff
from typing import Any

import pytest

from api.examples.stored import DIRECTORY, Example, as_text, stored_examples
from api.schema import openapi_schema
from league import accounts
from league.play import match_logs
from tests.api.conftest import Api
from tests.api.examples.recorder import Recorder, is_same
from tests.api.examples.scenario import fix_seeds, record_all
from tests.api.play.sites import served

WITHOUT: set[str] = set()
"""Calls without an example; this list only ever gets shorter."""
REWRITE = "WRITE_API_EXAMPLES"


def operations() -> dict[str, dict[str, Any]]:
    """Return the operations of the schema by their ids."""
    return {
        operation["operationId"]: operation
        for methods in openapi_schema()["paths"].values()
        for operation in methods.values()
    }


@pytest.mark.django_db(transaction=True, reset_sequences=True)
@pytest.mark.timeout(180)
def test_the_examples_are_what_a_league_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    fix_seeds(monkeypatch)
    match_logs.cache.clear()  # it knows matches of other tests by the same ids
    with served(accounts.find_tokens) as site:
        recorder = Recorder(Api(), site)
        record_all(recorder)
    stored, now = stored_examples(), recorder.examples
    drifted = [
        name
        for name in sorted(stored.keys() | now.keys())
        if name not in stored
        or name not in now
        or not is_same(asdict(stored[name]), asdict(now[name]))
    ]
    if os.environ.get(REWRITE):
        kept = {name: now[name] if name in drifted else stored[name] for name in now}
        write(kept)
    else:
        assert drifted == [], f"run `make api-examples`\n{difference(drifted, stored, now)}"


def difference(names: list[str], stored: dict[str, Example], now: dict[str, Example]) -> str:
    """Return the lines that differ, times and tokens too."""
    before, after = (
        as_text({name: examples[name] for name in names if name in examples}).splitlines()
        for examples in (stored, now)
    )
    return "\n".join(unified_diff(before, after, "stored", "now", lineterm="", n=1))


def write(examples: dict[str, Example]) -> None:
    """Write the files of all subjects, and remove files of subjects that are gone."""
    subjects: dict[str, dict[str, Example]] = {}
    for name, operation in operations().items():
        if name in examples:
            subjects.setdefault(operation["tags"][0], {})[name] = examples[name]
    for file in DIRECTORY.glob("*.json"):
        if file.stem not in subjects:
            file.unlink()
    for subject, listed in subjects.items():
        (DIRECTORY / f"{subject}.json").write_text(as_text(listed), "utf-8")


def test_each_call_has_an_example_and_each_example_a_call() -> None:
    names = operations().keys()
    assert stored_examples().keys() - names == set()
    assert names - stored_examples().keys() == WITHOUT


def test_each_answer_with_201_or_202_has_the_address_of_what_it_created() -> None:
    creating = {name: each for name, each in stored_examples().items() if each.status in (201, 202)}
    assert "matches_analyse" in creating
    assert [name for name, each in creating.items() if not each.location] == []
