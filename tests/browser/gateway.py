"""The gateway's calls for the pages in the browser, answered by the functions that it calls.

The live server answers them itself. If Playwright did, every request of a page would pass through
it, and the browser would keep no file in its cache.
"""

import json
import re
import threading
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

import httpx
from django.utils import timezone

from league import play
from league.accounts import tokens
from league.models import Bot, Match
from tests.api.play.sites import Site

Answer = tuple[str, dict[str, Any]]
Call = Callable[[Bot], Answer | None]

_EVENTS = re.compile(r"(/api/v1/matches/(\d+/)?|/(tv|play/\w+|tournaments/\d+)/)events\Z")
_MOVES = re.compile(r"/api/v1/matches/(\d+)/moves\Z")
_POLL_SECONDS = 0.1
_MOST_POLLS = 200
"""Polls until a call for turns is answered without one: 20 seconds."""


class Gateway:
    """Answers the calls of the pages of one test; nothing happens in streams of events.

    Its calls run one after another, and none after the test's end.

    Attributes:
        site: a real gateway, which sends the streams instead.
    """

    def __init__(self) -> None:
        self.site: Site | None = None
        self._ended = threading.Event()
        self._alone = threading.Lock()

    def end(self) -> None:
        """Wait for the call that runs, and answer all others without the database."""
        self._ended.set()
        with self._alone:
            pass

    def before(self, pages: WSGIApplication) -> WSGIApplication:
        """Return an application that answers the gateway's calls itself."""

        def answer(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
            path = environ["PATH_INFO"]
            if _EVENTS.match(path):
                if self.site is not None:
                    address = f"http://testserver{path}?{environ['QUERY_STRING']}"
                    return _forwarded(self.site, address, start_response)
                start_response("200 OK", [("Content-Type", "text/event-stream")])
                return self._stream()
            call: Call = _turns
            if found := _MOVES.match(path):
                sent = json.loads(environ["wsgi.input"].read(int(environ["CONTENT_LENGTH"])))
                move = play.Move(int(found[1]), sent["turn"], sent["move"])
                call = partial(_move, move=move)
            elif path != "/api/v1/turns":
                return pages(environ, start_response)
            status, answered = self._answer(environ["HTTP_AUTHORIZATION"], call)
            text = json.dumps(answered).encode()
            headers = [("Content-Type", "application/json"), ("Content-Length", str(len(text)))]
            start_response(status, headers)
            return [text]

        return answer

    def _stream(self) -> Iterable[bytes]:
        yield b": connected\n\n"
        self._ended.wait()

    def _answer(self, authorization: str, call: Call) -> Answer:
        for _ in range(_MOST_POLLS):
            with self._alone:
                if self._ended.is_set():
                    break
                bot = tokens.bot_for_token(authorization.removeprefix("Bearer "))
                if bot is None:
                    return "401 Unauthorized", {}
                answer = call(bot)
            if answer is not None:
                return answer
            self._ended.wait(_POLL_SECONDS)
        return "200 OK", {"turns": []}


def _forwarded(site: Site, address: str, start_response: StartResponse) -> Iterable[bytes]:
    """Answer a call as a gateway does, part by part; with an empty stream once the gateway ends."""
    has_begun = False
    try:
        with site.client.stream("GET", address) as response:
            status = f"{response.status_code} {response.reason_phrase}"
            start_response(status, [("Content-Type", response.headers["content-type"])])
            has_begun = True
            yield from response.iter_raw()
    except (httpx.HTTPError, RuntimeError):  # the latter from a client that is closed
        if not has_begun:
            start_response("200 OK", [("Content-Type", "text/event-stream")])
            yield b""


def _turns(bot: Bot) -> Answer | None:
    """Return the open turns of a bot once the house bots have moved; None while there are none."""
    play.play_house_turns(Match.objects.get(seating__bot=bot).pk)
    turns = play.open_turns(bot, timezone.now())
    return ("200 OK", {"turns": turns}) if turns else None


def _move(bot: Bot, move: play.Move) -> Answer:
    try:
        verdict = play.submit(bot, move, timezone.now())
    except play.MoveRefusedError as error:
        return "422 Unprocessable Content", {"code": error.code}
    play.play_house_turns(move.match_id)
    return "200 OK", verdict.as_json()
