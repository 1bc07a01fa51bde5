"""Archived matches on pages and in the API, and what operators see of the archive."""

import re
from datetime import timedelta
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from league import analyses, play
from league.models import Ladder, Match, RoundArchive
from league.tasks import archive_rounds
from tests.api.exports import ladder as ladder
from tests.league.archive import directory as directory

pytestmark = pytest.mark.django_db
LATER = timedelta(days=100)


def archive_all() -> None:
    assert not play.archive_due(timezone.now() + LATER).faults


def answers(client: Client, match: Match) -> list[bytes]:
    """Return what each address answers that needs the record of a match."""
    found = []
    for path in (
        f"/matches/{match.pk}/",
        f"/matches/{match.pk}/?step=3",
        f"/matches/{match.pk}/record.json",
        f"/matches/{match.pk}/phases.json",
        f"/api/v1/matches/{match.pk}",
        f"/api/v1/matches/{match.pk}/record",
        f"/api/v1/bots/{match.seating.first().bot.name}/matches.ndjson",
    ):
        response = client.get(path)
        assert response.status_code == 200, path
        body = b"".join(response) if response.streaming else response.content
        response.close()
        found.append(re.sub(rb'(csrfmiddlewaretoken" value=)"\w+"', rb"\1", body))
    return found


@pytest.mark.django_db(transaction=True)
def test_pages_and_calls_of_an_archived_match_answer_as_before(
    client: Client, ladder: Ladder
) -> None:
    match = Match.objects.finished().filter(block__state="finished")[0]
    before = answers(client, match)
    archive_all()
    assert answers(client, match) == before


def test_lists_of_archived_matches_need_no_file(
    client: Client, ladder: Ladder, directory: Path
) -> None:
    paths = ["/matches/", f"/ladders/{ladder.slug}/", "/bots/bot-1/", "/api/v1/matches"]
    paths += [f"/ladders/{ladder.slug}/rounds/1/", f"/api/v1/ladders/{ladder.slug}/rounds"]
    archive_all()
    files = list(directory.rglob("*.gz"))
    assert files
    for file in files:
        file.unlink()
    for path in paths:
        assert client.get(path).status_code == 200, path


def test_a_missing_file_is_a_503_with_its_name_and_the_remedy(
    client: Client, ladder: Ladder, directory: Path
) -> None:
    archive_all()
    match = Match.objects.finished().filter(block__state="finished")[0]
    name = RoundArchive.objects.get(round=match.block.round).file
    (directory / name).unlink()
    page = client.get(f"/matches/{match.pk}/")
    assert page.status_code == 503
    assert name in page.content.decode()
    assert "manage.py archive --restore" in page.content.decode()
    problem = client.get(f"/api/v1/matches/{match.pk}/record")
    assert (problem.status_code, problem.json()["code"]) == (503, "unavailable")
    assert name in problem.json()["detail"]


def test_an_analysis_reads_the_file(ladder: Ladder) -> None:
    archive_all()
    match = Match.objects.finished().filter(block__state="finished").with_deals()[0]
    analyses.ask(match=match)
    while analyses.compute(match.pk, seconds=60, playouts=8):
        pass
    assert analyses.find(match).result is not None


def test_operators_see_how_far_the_archive_is(client: Client, ladder: Ladder) -> None:
    client.force_login(User.objects.create(username="olga", is_staff=True))
    assert "league_archive_rounds 0.0" in client.get("/metrics").content.decode()
    archive_all()
    page = client.get("/organise/operations/").content.decode()
    state = play.archive_state()
    assert f"{state.rounds} rounds with {state.matches} matches" in page
    figures = client.get("/metrics").content.decode()
    for name, value in (
        ("rounds", state.rounds),
        ("matches", state.matches),
        ("bytes", state.size),
        ("rounds_due", 0),
        ("faults", 0),
    ):
        assert f"league_archive_{name} {float(value)}" in figures
    broken = Match.objects.filter(pk=Match.objects.first().pk)
    play.unarchive_round(broken.get().block.round_id)
    broken.update(packed_record=b"damaged")
    play.archive_due(timezone.now() + LATER)
    assert "league_archive_faults 1.0" in client.get("/metrics").content.decode()
    assert f"the record of match {broken.get().pk} can" in (
        client.get("/organise/operations/").content.decode()
    )


def test_the_task_does_nothing_unless_it_is_switched_on(ladder: Ladder, settings: Settings) -> None:
    ladder.rounds.update(applied_at=timezone.now() - LATER)
    settings.ARCHIVE_DAYS = 0
    archive_rounds()
    assert not RoundArchive.objects.exists()
    settings.ARCHIVE_DAYS = 30
    archive_rounds()
    assert RoundArchive.objects.count() == ladder.rounds.count()


def test_commands_archive_check_and_put_back(
    ladder: Ladder, directory: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rounds = ladder.rounds.count()
    ladder.rounds.update(applied_at=timezone.now() - LATER)
    call_command("archive")
    assert f"{rounds} rounds were archived, 0 still wait." in capsys.readouterr().out
    call_command("archive", "--check")
    missing = RoundArchive.objects.first()
    (directory / missing.file).unlink()
    damage = f"Damaged or missing records: 1.\n.*{missing.file} is missing"
    with pytest.raises(CommandError, match=damage):
        call_command("archive", "--check")
    with pytest.raises(CommandError, match="is missing"):
        call_command("unarchive", ladder.slug, missing.round.number)
    other = RoundArchive.objects.exclude(pk=missing.pk).first()
    call_command("unarchive", ladder.slug, other.round.number)
    assert "records are in the database again" in capsys.readouterr().out
    assert not Match.objects.filter(block__round=other.round, archived=True).exists()
    with pytest.raises(CommandError, match=f"No archived rounds .*: {other.round.number}"):
        call_command("unarchive", ladder.slug, other.round.number)


def test_the_commands_name_a_ladder_or_directory_that_does_not_exist(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="no archived rounds of a ladder nonsense"):
        call_command("unarchive", "nonsense")
    with pytest.raises(CommandError, match=r"There is no directory .*nowhere"):
        call_command("archive", restore=tmp_path / "nowhere")
