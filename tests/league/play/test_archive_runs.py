"""Runs of the archive: how many rounds one takes, and rounds that it can't archive."""

from pathlib import Path

import pytest
from django.utils import timezone

from league import play
from league.models import Ladder, Match
from league.play import archiving
from tests.api.exports import ladder as ladder
from tests.league.archive import directory as directory
from tests.league.play.test_archiving import LATER, archive_all, archived, files

pytestmark = pytest.mark.django_db


def test_many_damaged_rounds_do_not_keep_later_rounds_from_the_archive(
    ladder: Ladder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archiving, "_MAX_FAULTS", 1)
    rounds = list(archiving.due_rounds(timezone.now() + LATER))
    assert len(rounds) > 2
    for round_ in rounds[:2]:
        Match.objects.filter(block__round=round_).update(packed_record=b"damaged")
    run = archive_all()
    assert (run.rounds, len(run.faults)) == (len(rounds) - 2, 1)


def test_a_run_archives_a_bounded_number_of_rounds(ladder: Ladder, directory: Path) -> None:
    run = play.archive_due(timezone.now() + LATER, max_rounds=2)
    assert (run.rounds, run.due) == (2, ladder.rounds.count() - 2)
    state = play.archive_state()
    assert (state.rounds, state.matches, state.run) == (2, archived(), run)
    assert state.size == sum(path.stat().st_size for path in files(directory))
