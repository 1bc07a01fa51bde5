"""The connections of the groups of moves: outages, ended connections, other processes' moves."""

import asyncio
import threading
from typing import Any, NoReturn

import pytest
from django.db import OperationalError, connection
from django.utils import timezone

from api.play.move_queue import GROUPS
from league import play
from league.models import Bot, Turn
from league.play import match_logs, statements
from tests.api.conftest import assert_problem
from tests.api.play.sites import Site, first_moves, move_of, open_match, served
from tests.league.play.live import answer

pytestmark = pytest.mark.django_db(transaction=True)


def test_moves_get_a_problem_with_a_retry_time_while_the_database_is_away(
    site: Site, bots: list[Bot], monkeypatch: pytest.MonkeyPatch
) -> None:
    [(path, body)] = first_moves(bots, 1)

    def away(*_: object) -> NoReturn:
        raise OperationalError("no such socket")

    monkeypatch.setattr(statements, "snapshots", away)
    for sent_path, sent in ((path, body), ("moves", {"moves": [{"match": 1, **body}]})):
        answer = site.post(sent_path, sent, token=bots[0].name)
        assert_problem(answer, 503, "unavailable")
        assert answer.headers["Retry-After"] == "1"
    monkeypatch.undo()
    assert site.post(path, body, token=bots[0].name).status_code == 200
    assert len(site.queue) == 0


def test_a_move_after_the_server_has_ended_all_connections_is_accepted(
    site: Site, bots: list[Bot]
) -> None:
    *sent, last = first_moves(bots, GROUPS + 1)
    for path, body in sent:
        assert site.post(path, body, token=bots[0].name).status_code == 200
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
    assert site.post(*last, token=bots[0].name).status_code == 200


def test_a_group_reads_the_moves_that_another_process_has_made(
    site: Site, bots: list[Bot], monkeypatch: pytest.MonkeyPatch
) -> None:
    open_match(bots)
    for _ in range(2):  # phases
        for bot in bots:
            [turn] = play.open_turns(bot, timezone.now())
            answer(bot, turn, timezone.now())
    monkeypatch.setattr(play, "submit_alone", None)
    [turn] = play.open_turns(bots[0], timezone.now())
    match_logs.cache.clear()
    path = f"matches/{turn['match']}/moves"
    assert site.post(path, move_of(turn), token=bots[0].name).status_code == 200


def test_a_move_under_way_when_the_process_ends_is_made_to_its_end(
    bots: list[Bot], monkeypatch: pytest.MonkeyPatch
) -> None:
    began, may_end, real = threading.Event(), threading.Event(), play.submit_group

    async def held(*args: Any) -> Any:
        began.set()
        assert await asyncio.to_thread(may_end.wait, 20)
        return await real(*args)

    monkeypatch.setattr(play, "submit_group", held)
    [(path, body)] = first_moves(bots, 1)
    with served() as site:
        sent = site.start_post(path, body, bots[0].name)
        assert began.wait(20)
        site.server.should_exit = True
        assert sent.result(20).status_code == 503  # its client will try again
        assert not Turn.objects.exclude(text="").exists()
        may_end.set()
    assert Turn.objects.exclude(text="").count() == 1
