"""The client of `contract.py`: calls, counted checks, and tables of wrong input."""

import re
import secrets
from typing import Any

import httpx

SALT = secrets.token_hex(3)
PASSWORD = "a long enough secret"
SOURCE = b'def choose(observation):\n    return observation["legal_moves"][0]\n'
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
NAME = f"contract-{SALT}"
HOSTED = f"hosted-{SALT}"

PUBLIC = [
    "games", "bots", "bots/house-thumb", "bots/house-thumb/versions",
    "bots/house-thumb/versions/1", "bots/house-thumb/comparisons", "ladders",
    "ladders/twelve-days", "ladders/twelve-days/standings", "ladders/twelve-days/rounds",
    "ladders/twelve-days/cross-table", "ladders/twelve-days/ledger",
    "ladders/twelve-days/revisions", "tournaments", "matches", "schema/",
]  # fmt: skip
PERIODS = ["bots", "bots/house-thumb/versions", "ladders/twelve-days/rounds",
    "ladders/twelve-days/ledger", "tournaments", "matches"]  # fmt: skip
LISTS = [*PERIODS, "ladders", "ladders/twelve-days/standings"]
OWNERS = {  # method and path: what needs an owner token
    ("POST", "bots"), ("PATCH", f"bots/{NAME}"), ("DELETE", f"bots/{NAME}"),
    ("POST", f"bots/{NAME}/token"), ("POST", f"bots/{NAME}/versions"),
    ("GET", f"bots/{NAME}/versions/1/source"), ("GET", f"bots/{NAME}/versions/1/log"),
    ("POST", "matches"), ("GET", "tokens"), ("DELETE", "tokens/1"),
}  # fmt: skip
METHODS = {
    "games": "GET", "bots": "GET POST", f"bots/{NAME}": "GET PATCH DELETE",
    f"bots/{NAME}/token": "POST", f"bots/{NAME}/versions": "GET POST",
    f"bots/{NAME}/versions/1": "GET PATCH", f"bots/{NAME}/versions/1/source": "GET",
    f"bots/{NAME}/matches.ndjson": "GET", "accounts": "POST", "tokens": "GET POST",
    "tokens/1": "GET DELETE", "ladders": "GET", "ladders/twelve-days": "GET",
    "ladders/twelve-days/standings": "GET", "ladders/twelve-days/rounds": "GET",
    "ladders/twelve-days/export": "GET", f"ladders/twelve-days/entries/{NAME}": "GET PUT DELETE",
    "tournaments": "GET POST", "matches": "GET POST", "matches/1": "GET",
    "matches/1/record": "GET", "matches/1/moves": "POST", "moves": "POST", "turns": "GET",
    "turns/stream": "GET", "matches/1/events": "GET", "matches/events": "GET",
}  # fmt: skip
NO_TEXT = [8785178, 1.5, True, None, ["a"], {"a": "b"}]
NO_NUMBER = ["3", 3.0, 1e3, True, None, [3], -1, 10**30]
NO_TRUTH = ["true", 1, 0, None, [], "yes"]
NO_TIME = [1_800_000_000, "tomorrow", "2030-01-01", "2030-01-01T00:00:00", True, []]
NO_JSON = [
    b"{", b"nonsense", b"{'a': 1}", b'{"a": 1,}', b'{"a": NaN}', b'{"a": Infinity}',
    b'{"a": 1e400}', b'{"a": 1, "a": 2}', b'{"a": "\\ud800"}', b"\xff", b"[" * 5000,
    b'{"a": ' + b"9" * 5000 + b"}",
]  # fmt: skip
BAD_NAMES = ["ab", "x" * 33, "Upper", "under_score", "a b", "ä-bot", "bot\n", " bot", "bot ",
    "", "bot\0", "bot/x", "bot.x"]  # fmt: skip


class Contract:
    """Makes calls and counts checks."""

    def __init__(self, url: str) -> None:
        self.url = url.rstrip("/")
        self.http = httpx.Client(base_url=f"{self.url}/api/v1/", timeout=60)
        self.checks = 0
        self.failures: list[str] = []

    def check(self, name: str, holds: object) -> None:
        """Count a check, and print it if it fails."""
        self.checks += 1
        if not holds:
            self.failures.append(name)
            print("FAILED", name)

    def call(
        self, method: str, path: str, body: Any = None, token: str = "", **headers: str
    ) -> httpx.Response:
        """Return the answer to a call; a body of bytes is sent as it is."""
        if token:
            headers["Authorization"] = f"Bearer {token}"
        if isinstance(body, bytes):
            headers["Content-Type"] = "application/json"
            return self.http.request(method, path, content=body, headers=headers)
        return self.http.request(method, path, json=body, headers=headers)

    def problem(
        self, name: str, answer: httpx.Response, status: int, code: str, field: str = ""
    ) -> None:
        """Check that an answer is a problem with its code, and that it names a field."""
        found = f"{name}: {answer.status_code} {answer.text[:150]}"
        if answer.headers.get("content-type") != "application/problem+json":
            self.check(f"{found} is no problem document", False)
            return
        data = answer.json()
        same = (answer.status_code, data["code"], data["status"]) == (status, code, status)
        self.check(f"{found}, expected {status} {code}", same)
        self.check(f"{found}: request id", data["request_id"] == answer.headers["x-request-id"])
        if field:
            named = [each["field"] for each in data.get("errors", []) if each["message"]]
            self.check(f"{found}: names {field}", any(n.startswith(field) for n in named))
