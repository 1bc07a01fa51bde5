"""The people who send wrong values: each with a browser, tokens and bots of their own."""

import random
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import httpx

from benchmarks.fuzzing.values import NASTY
from benchmarks.killing.league import League
from bots_sdk import starters

PASSWORD = "four calling birds"
GAMES = ("twelve-days", "partridge")
_FILES = (
    b"",
    b"\0" * 100,
    b"\xff\xfe",
    b"x = 1",
    b"def choose(observation):\n    raise SystemExit\n",
    b"PK\x03\x04nonsense",
    b"PK\x05\x06" + b"\0" * 18,
    b"#" * 1_500_000,
)


class Person(NamedTuple):
    """Somebody who uses the league.

    Attributes:
        name: of the role.
        browser: with a session, if the person has an account.
        api: a client without a session.
        tokens: of the person and of the person's remote bot.
        starts: paths from which the person follows links.
        others: names and numbers of rows that belong to others.
    """

    name: str
    browser: httpx.Client
    api: httpx.Client
    tokens: Sequence[str]
    starts: Sequence[str]
    others: Sequence[str]

    def file(self, rng: random.Random) -> tuple[str, bytes]:
        """Return the name and the content of a file to upload."""
        if rng.random() < 0.1:
            return "bot.py", starters.files("rules", "twelve-days", "fuzz")["fuzz.py"]
        return rng.choice(["bot.py", "bot.zip", *NASTY[:6]])[:100], rng.choice(_FILES)

    def ids(self) -> Mapping[str, Sequence[str]]:
        """Return names and numbers of rows that exist, by the name of a path's parameter."""

        def numbers(path: str, key: str = "id") -> list[str]:
            found = self.api.get(f"/api/v1/{path}", params={"limit": 20}).json()
            return [str(row[key]) for row in found.get("results", []) if key in row]

        names = [f"{self.name}-remote", f"{self.name}-hosted", "other-hosted", "house-thumb"]
        return {
            "name": names,
            "bot": names,
            "slug": GAMES,
            "ladder": GAMES,
            "game": GAMES,
            "number": ["1", "2"],
            "match_id": numbers("matches") or ["1"],
            "tournament_id": numbers("tournaments") or ["1"],
            "comparison_id": ["1"],
        }


def sign_up(league: League, role: str) -> Person:
    """Return a person; all but the visitor have an account, a remote and a hosted bot."""
    browser = httpx.Client(base_url=league.url, timeout=60)
    api = httpx.Client(base_url=league.url, timeout=60)
    others = ["house-thumb", "other-remote", "owner-remote", "1", "2", "3"]
    starts = ["/", "/account/", "/account/sign-in/", "/account/sign-up/", "/tournaments/", "/docs/"]
    if role == "visitor":
        return Person(role, browser, api, [], starts, others)
    account = {"username": f"{role}-of-forms", "password": PASSWORD}
    token = api.post("/api/v1/accounts", json=account).raise_for_status().json()["token"]
    headers = {"Authorization": f"Bearer {token}"}
    tokens = [token]
    for kind in ("remote", "hosted"):
        made: dict[str, Any] = api.post(
            "/api/v1/bots", json={"name": f"{role}-{kind}", "kind": kind}, headers=headers
        ).json()
        tokens.append(made["token"])
    api.post(
        f"/api/v1/bots/{role}-hosted/versions",
        files={"source": ("bot.py", starters.files("rules", "twelve-days", "fuzz")["fuzz.py"])},
        headers=headers,
    ).raise_for_status()
    if role == "organiser":
        league.manage("", "make_organiser", account["username"])
        starts.append("/admin/")
    page = browser.get("/account/sign-in/").text
    [csrf] = re.findall(r'name="csrfmiddlewaretoken" value="([^"]+)"', page)[:1]
    signed_in = browser.post(
        "/account/sign-in/",
        data={**account, "csrfmiddlewaretoken": csrf},
        headers={"Referer": f"{league.url}/account/sign-in/"},
    )
    if not signed_in.is_redirect:
        raise SystemExit(f"{role} could not sign in: {signed_in.status_code}")
    starts += [
        f"/account/bots/{role}-hosted/upload/",
        f"/bots/{role}-hosted/",
        "/ladders/partridge/",
    ]
    return Person(role, browser, api, tokens, starts, others)
