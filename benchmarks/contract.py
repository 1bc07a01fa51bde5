"""Check a running league against its promises for the API, with a client that knows only these.

    python benchmarks/contract.py http://127.0.0.1:8000 [ORGANISER_TOKEN]

Start the league with high limits (`RATE_GENERAL=1000000/minute`, the same for `RATE_ACCOUNTS`,
`RATE_PASSWORDS` and `RATE_EXPORTS`). The client makes accounts, bots and matches. It prints each
failed check and the number of checks; without a token of an organiser it leaves out tournaments.
"""

import re
import socket
import sys
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import httpx

from benchmarks.contract_client import (
    BAD_NAMES,
    HOSTED,
    LISTS,
    METHODS,
    NAME,
    NO_JSON,
    NO_NUMBER,
    NO_TEXT,
    NO_TIME,
    NO_TRUTH,
    OWNERS,
    PASSWORD,
    PERIODS,
    PUBLIC,
    SALT,
    SOURCE,
    TIME,
    Contract,
)


def reads(contract: Contract) -> None:
    """Public reads: caching, CORS, compression, times."""
    for path in PUBLIC:
        answer = contract.call("GET", path, Origin="https://elsewhere.example")
        heads = answer.headers
        contract.check(f"{path}: 200", answer.status_code == 200)
        contract.check(f"{path}: CORS", heads.get("access-control-allow-origin") == "*")
        contract.check(f"{path}: no credentials", "access-control-allow-credentials" not in heads)
        contract.check(f"{path}: public", "public" in heads.get("cache-control", ""))
        contract.check(f"{path}: request id", heads.get("x-request-id"))
        contract.check(f"{path}: limits", "ratelimit" in heads and "ratelimit-policy" in heads)
        again = contract.call("GET", path, **{"If-None-Match": heads.get("etag", "")})
        same = again.status_code == 304 or again.headers.get("etag") != heads.get("etag")
        contract.check(f"{path}: 304", same)
        head = contract.call("HEAD", path)
        contract.check(f"{path}: HEAD", head.status_code == 200 and not head.content)
        if len(answer.content) > 300:
            contract.check(f"{path}: compressed", heads.get("content-encoding") == "gzip")
        times = re.findall(r'"\d{4}-\d\d-\d\dT[^"]*"', answer.text)
        if path != "schema/":
            contract.check(f"{path}: times", all(TIME.fullmatch(each[1:-1]) for each in times))
        unknown = contract.call("GET", f"{path}?bogus=1")
        contract.problem(f"{path}?bogus", unknown, 400, "invalid", "bogus")


def lists(contract: Contract) -> None:
    """Pages, limits and periods."""
    for path in LISTS:
        for limit in ("0", "-1", "201", "ten", "1.0", "", "9" * 30):
            answer = contract.call("GET", f"{path}?limit={limit}")
            contract.problem(f"{path}?limit={limit}", answer, 400, "invalid", "limit")
        twice = contract.call("GET", f"{path}?limit=1&limit=2")
        contract.problem(f"{path}: limit twice", twice, 400, "invalid", "limit")
        for cursor in ("x", "W10"):
            answer = contract.call("GET", f"{path}?cursor={cursor}")
            contract.problem(f"{path}?cursor={cursor}", answer, 400, "invalid-cursor")
        page = contract.call("GET", f"{path}?limit=1").json()
        contract.check(f"{path}: page", {*page} == {"results", "next", "previous"})
        contract.check(f"{path}: one row", len(page["results"]) <= 1)
    for path in PERIODS:
        for name in ("since", "until"):
            for value in ("yesterday", "2026-01-01", "2026-01-01T00:00:00", "1"):
                answer = contract.call("GET", f"{path}?{name}={value}")
                contract.problem(f"{path}?{name}={value}", answer, 400, "invalid", name)
        late = contract.call("GET", f"{path}?since=2100-01-01T00:00:00Z").json()
        contract.check(f"{path}: since", late["results"] == [])
        early = contract.call("GET", f"{path}?until=2000-01-01T00:00:00Z").json()
        contract.check(f"{path}: until", early["results"] == [])


def methods(contract: Contract) -> None:
    """Methods, OPTIONS, unknown addresses."""
    for path, allowed in METHODS.items():
        for method in ("GET", "POST", "PUT", "PATCH", "DELETE"):
            if method not in allowed.split():
                answer = contract.call(method, path)
                contract.problem(f"{method} {path}", answer, 405, "method-not-allowed")
                listed = answer.headers.get("allow", "")
                contract.check(f"{path}: Allow", {*allowed.split()} <= {*listed.split(", ")})
        asked = {"Origin": "https://x.example", "Access-Control-Request-Method": "GET"}
        preflight = contract.call("OPTIONS", path, **asked)
        contract.check(f"OPTIONS {path}", preflight.status_code == 204)
        contract.check(f"{path}: origin", preflight.headers["access-control-allow-origin"] == "*")
    for path in ("nothing", "bots/none-such", "ladders/none", "matches/999999999", "matches/x",
                 "tournaments/0", "turns/other", "matches/-1", "bots/", "../v2/bots"):  # fmt: skip
        contract.problem(f"GET {path}", contract.call("GET", path), 404, "not-found")
    answer = contract.call("GET", "games", Accept="text/html")
    contract.problem("Accept", answer, 406, "not-acceptable")


def strict_bodies(contract: Contract, owner: str, bot: str, organiser: str) -> None:
    """Wrong types and unknown fields, field by field."""
    for path in ("accounts", "tokens"):
        good = {"username": f"other-{SALT}", "password": PASSWORD}
        for field in good:
            for value in NO_TEXT:
                answer = contract.call("POST", path, {**good, field: value})
                contract.problem(f"{path} {field}={value!r}", answer, 400, "invalid", field)
    new = {"name": f"other-{SALT}", "kind": "remote"}
    tables: list[tuple[str, str, str, dict[str, Any], dict[str, list[Any]]]] = [
        ("POST", "bots", owner, new, {"name": [*NO_TEXT, *BAD_NAMES, 1e300], "kind": [
            *NO_TEXT, "house", "Remote", ""]}),
        ("PATCH", f"bots/{NAME}", owner, {}, {"paused": NO_TRUTH, "description": [
            *NO_TEXT, "x" * 501], "name": [*NO_TEXT, *BAD_NAMES]}),
        ("POST", "matches", owner,
            {"game": "partridge", "rules": "eagle", "bots": [NAME, "house-thumb"]},
            {"game": [*NO_TEXT, "chess"], "rules": [*NO_TEXT, "none"], "bots": [
                NAME, [], [NAME], [NAME, NAME], [NAME, 5], [NAME, None], {"0": NAME},
                [NAME, "none-such"], [NAME] * 9]}),
        ("POST", "tokens", "", {"username": NAME, "password": PASSWORD},
            {"name": [*NO_TEXT, "x" * 41], "scopes": ["read", [], ["play"], ["read", "read"], [1]],
             "expires_at": [*NO_TIME, "2001-01-01T00:00:00Z"]}),
        ("POST", "matches/1/moves", bot, {"turn": 0, "move": "x"},
            {"turn": NO_NUMBER, "move": [*NO_TEXT, "x" * 5000, "a\0b"]}),
    ]  # fmt: skip
    if organiser:
        cup = {"title": "Cup", "ladder": "twelve-days", "starts_at": "2030-01-01T00:00:00Z"}
        tables.append(("POST", "tournaments", organiser, cup, {
            "title": [*NO_TEXT, "", "  ", "x" * 81], "ladder": [*NO_TEXT, "none"],
            "starts_at": [*NO_TIME, None, "2001-01-01T00:00:00Z"],
            "format": [*NO_TEXT, "league"], "swiss_rounds": [*NO_NUMBER[:4], 0, 10**9],
            "late_entry": NO_TRUTH, "house_bots": NO_TRUTH, "max_tables": NO_NUMBER,
        }))  # fmt: skip
    for method, path, token, good, wrong in tables:
        for field, values in wrong.items():
            for value in values:
                answer = contract.call(method, path, {**good, field: value}, token)
                name = f"{method} {path} {field}={str(value)[:40]!r}"
                contract.problem(name, answer, 400, "invalid", field)
        answer = contract.call(method, path, {**good, "bogus": 1}, token)
        contract.problem(f"{path} bogus", answer, 400, "invalid", "bogus")
        for body in NO_JSON:
            answer = contract.call(method, path, body, token)
            contract.problem(f"{path} {body[:20]!r}", answer, 400, "invalid-json")
        answer = contract.call(method, path, b"[]", token)
        contract.problem(f"{path} []", answer, 400, "invalid")
    if organiser:
        answer = contract.call("POST", "tournaments", {**cup, "swissrounds": 5}, organiser)
        contract.problem("swissrounds", answer, 400, "invalid", "swissrounds")
        contract.check(
            "swissrounds: nearest", "swiss_rounds" in answer.json()["errors"][0]["message"]
        )
    answer = contract.call("POST", f"bots/{NAME}/token", {"bogus": 1}, owner)
    contract.problem("a body where none is taken", answer, 400, "invalid", "bogus")


def tokens(contract: Contract, owner: str, bot: str) -> None:
    """Missing, wrong and limited tokens."""
    for method, path in sorted(OWNERS):
        answer = contract.call(method, path)
        contract.problem(f"{method} {path} without a token", answer, 401, "not-authenticated")
        contract.check(f"{path}: challenge", "Bearer" in answer.headers["www-authenticate"])
        answer = contract.call(method, path, token=bot)
        contract.problem(f"{method} {path} with a bot token", answer, 403, "owner-token-needed")
    for token in ("x", "tn_o_", "tn_b_" + "a" * 43, owner[:-1], owner + "a", owner.upper()):
        answer = contract.call("GET", "games", token=token)
        contract.problem(f"token {token[:8]}", answer, 401, "invalid-token")
        answer = contract.call("GET", "turns", token=token)
        contract.problem(f"token {token[:8]} for turns", answer, 401, "invalid-token")
    answer = contract.call("GET", "turns", token=owner)
    contract.problem("turns with an owner token", answer, 403, "bot-token-needed")
    for scope, (method, path) in {
        "read": ("POST", f"bots/{NAME}/token"), "manage": ("GET", "tokens"),
    }.items():  # fmt: skip
        body = {"username": NAME, "password": PASSWORD, "scopes": [scope], "name": scope}
        made = contract.call("POST", "tokens", body)
        contract.check(f"a token with {scope}", made.json()["scopes"] == [scope])
        answer = contract.call(method, path, token=made.json()["token"])
        contract.problem(f"{method} {path} with {scope}", answer, 403, "scope-needed")
        address = made.headers["location"].removeprefix("/api/v1/")
        gone = contract.call("DELETE", address, token=owner)
        contract.check("a token is revoked", gone.status_code == 204)
        answer = contract.call("GET", "games", token=made.json()["token"])
        contract.problem("a revoked token", answer, 401, "invalid-token")
    shown = contract.call("GET", "tokens", token=owner).json()["results"]
    contract.check("tokens: last use", any(each["used_at"] for each in shown))
    contract.check("tokens: no secret", owner not in str(shown))


def repetitions(contract: Contract, owner: str) -> None:
    """Every creating call twice with one key."""
    account = {"username": f"again-{SALT}", "password": PASSWORD}
    creations: list[tuple[str, Any, Any, str]] = [
        ("accounts", account, {**account, "username": f"b-{SALT}"}, ""),
        ("tokens", account, {**account, "name": "x"}, ""),
        ("bots", {"name": f"again-{SALT}", "kind": "remote"},
            {"name": f"other-{SALT}", "kind": "remote"}, owner),
        (f"bots/again-{SALT}/token", None, {"bogus": 1}, owner),
        ("matches", {"game": "partridge", "rules": "eagle", "bots": [NAME, "house-thumb"]},
            {"game": "partridge", "rules": "eagle", "bots": [NAME, "house-random"]}, owner),
    ]  # fmt: skip
    for number, (path, body, other, token) in enumerate(creations):
        key = {"Idempotency-Key": f"{SALT}-{number}"}
        first, again = (contract.call("POST", path, body, token, **key) for _ in range(2))
        contract.check(f"{path}: 201", (first.status_code, again.status_code) == (201, 201))
        contract.check(f"{path}: Location", first.headers["location"].startswith("/api/v1/"))
        same = first.headers["location"] == again.headers["location"]
        contract.check(f"{path}: same Location", same)
        contract.check(f"{path}: replayed", "idempotent-replayed" in again.headers)
        one, two = first.json(), again.json()
        old, new = one.pop("token", ""), two.pop("token", "")
        contract.check(f"{path}: same answer", one == two)
        if old:
            contract.check(f"{path}: new token", old != new)
            works = contract.call("GET", "games", token=new).status_code == 200
            contract.check(f"{path}: the new token works", works)
            answer = contract.call("GET", "games", token=old)
            contract.problem(f"{path}: the first token", answer, 401, "invalid-token")
        answer = contract.call("POST", path, other, token, **key)
        if path.endswith("/token"):
            contract.problem(f"{path}: another body", answer, 400, "invalid")
        else:
            contract.problem(f"{path}: another body", answer, 422, "idempotency-key-reused")
        contract.check(f"{path}: no-store", first.headers["cache-control"] == "no-store")


def play(contract: Contract, owner: str, bot: str) -> None:
    """Turns, moves and the record of a match."""
    empty = contract.call("GET", "turns?wait=0", token=bot).json()
    contract.check("turns is an object", {*empty} == {"turns"})
    for wait in ("-1", "31", "x", "1e1", "nan", ""):
        answer = contract.call("GET", f"turns?wait={wait}", token=bot)
        contract.problem(f"wait={wait}", answer, 400, "invalid", "wait")
    bots = [NAME, "house-random", "house-thumb"]
    body = {"game": "twelve-days", "rules": "calliope", "bots": bots}
    made = contract.call("POST", "matches", body, owner)
    contract.check("a match", made.status_code == 201)
    match = made.json()["id"]
    illegal, faults = 0, 0
    until = time.monotonic() + 120
    while time.monotonic() < until:
        if contract.call("GET", f"matches/{match}").json()["status"] == "finished":
            break
        for turn in contract.call("GET", "turns?wait=5", token=bot).json()["turns"]:
            if turn["match"] != match:
                move = {"turn": turn["turn"], "move": turn["observation"]["legal_moves"][0]}
                contract.call("POST", f"matches/{turn['match']}/moves", move, bot)
                continue
            keys = {"match", "seat", "turn", "deadline", "remaining_ms", "bank_ms", "observation"}
            contract.check("a turn's fields", keys <= {*turn})
            contract.check("a turn's deadline", TIME.fullmatch(turn["deadline"]))
            path = f"matches/{match}/moves"
            legal = turn["observation"]["legal_moves"]
            if illegal < 5:
                for left in (4, 3, 2, 1, 0):
                    sent = {"turn": turn["turn"], "move": "nonsense"}
                    answer = contract.call("POST", path, sent, bot)
                    contract.problem("an illegal move", answer, 422, "illegal-move")
                    data = answer.json()
                    contract.check("legal moves", data["legal_moves"] == legal)
                    contract.check("answers left", data["answers_left"] == left)
                    contract.check("decided", data["decided"] == (left == 0))
                    contract.check("the referee's move", (data.get("move") in legal) == (left == 0))
                    illegal += 1
                answer = contract.call("POST", path, {"turn": turn["turn"], "move": legal[0]}, bot)
                contract.problem("a decided turn", answer, 409, "turn-already-decided")
                contract.check("the fault", answer.json()["fault"] == "illegal")
                faults += 1
                continue
            sent = {"turn": turn["turn"], "move": legal[0]}
            first = contract.call("POST", path, sent, bot)
            contract.check("accepted", first.status_code == 200)
            expected = {"status", "move", "turn", "remaining_ms"}
            contract.check("a verdict's fields", {*first.json()} == expected)
            again = contract.call("POST", path, sent, bot)
            contract.check("the same move again", again.json() == first.json())
            if len(legal) > 1:
                other = contract.call("POST", path, {**sent, "move": legal[1]}, bot)
                contract.problem("another move", other, 409, "turn-already-decided")
                contract.check("the move played", other.json()["move"] == legal[0])
            answer = contract.call("POST", path, {**sent, "turn": 2**31 - 1}, bot)
            contract.problem("a turn that is not open", answer, 409, "turn-not-open")
    record = contract.call("GET", f"matches/{match}/record")
    contract.check("a record", record.status_code == 200)
    contract.check("a record is immutable", "immutable" in record.headers.get("cache-control", ""))
    answer = contract.call("POST", "matches/999999999/moves", {"turn": 0, "move": "x"}, bot)
    contract.problem("a match of others", answer, 404, "not-found")
    lines = contract.call("GET", f"bots/{NAME}/matches.ndjson")
    contract.check("records as lines", record.json() in [*map(parsed, lines.text.splitlines())])
    log = contract.call("GET", f"matches/{match}/log", token=owner).json()["results"][0]
    contract.check("the faults are in the log", len(log["faults"]) == faults)


def parsed(line: str) -> Any:
    return httpx.Response(200, text=line).json()


def bots(contract: Contract, owner: str) -> None:
    """Uploads, renaming and deleting."""
    form = {"source": ("bot.py", SOURCE)}
    heads = {"Authorization": f"Bearer {owner}"}
    contract.call("POST", "bots", {"name": HOSTED, "kind": "hosted"}, owner)
    path = f"bots/{HOSTED}/versions"
    made = contract.http.post(path, files=form, data={"note": "mine"}, headers=heads)
    contract.check("an upload", (made.status_code, made.json()["state"]) == (202, "checking"))
    contract.check("its Location", made.headers["location"] == f"/api/v1/{path}/1")
    for data in ({"bogus": "1"}, {"held": "yes"}, {"note": "x" * 501}):
        answer = contract.http.post(path, files=form, data=data, headers=heads)
        contract.problem(f"upload {[*data]}", answer, 400, "invalid", next(iter(data)))
    answer = contract.http.post(path, data={"note": "x"}, headers=heads)
    contract.check("no source", answer.status_code in (400, 415))
    contract.check(
        "the note is the owner's", contract.call("GET", f"{path}/1").json()["note"] is None
    )
    own = contract.call("GET", f"{path}/1", token=owner).json()
    contract.check("the owner reads it", own["note"] == "mine")
    source = contract.call("GET", f"{path}/1/source", token=owner)
    contract.check("the source", source.content == SOURCE)
    renamed = contract.call("PATCH", f"bots/{HOSTED}", {"name": f"new-{SALT}"}, owner)
    contract.check("renamed", renamed.json()["name"] == f"new-{SALT}")
    moved = contract.call("GET", f"bots/{HOSTED}")
    contract.check("308", moved.status_code == 308)
    contract.check("to the new name", moved.headers["location"] == f"/api/v1/bots/new-{SALT}")
    taken = contract.call("POST", "bots", {"name": HOSTED, "kind": "remote"}, owner)
    contract.problem("a former name", taken, 400, "invalid", "name")
    contract.call("POST", "bots", {"name": f"gone-{SALT}", "kind": "remote"}, owner)
    entry = contract.call("PUT", f"ladders/twelve-days/entries/gone-{SALT}", token=owner)
    contract.check("entered", entry.status_code == 200)
    place = contract.call("GET", f"ladders/twelve-days/entries/gone-{SALT}").json()
    contract.check("where it waits", place["next_block"])
    gone = contract.call("DELETE", f"bots/gone-{SALT}", token=owner)
    contract.check("deleted", gone.status_code == 204)
    contract.problem("vanished", contract.call("GET", f"bots/gone-{SALT}"), 404, "not-found")


def long_bodies(contract: Contract) -> None:
    """Bodies that are refused before they are read."""
    parts = urlsplit(contract.url)
    for path, head, status in (
        ("accounts", "Content-Length: 70000", 413),
        ("accounts", "Content-Length: 300000", 413),
        ("moves", "Content-Length: 99000000", 413),
        (f"bots/{NAME}/versions", "Content-Length: 99000000", 413),
        ("accounts", "Transfer-Encoding: chunked", 411),
    ):
        began = time.monotonic()
        with socket.create_connection((parts.hostname, parts.port or 80), 40) as line:
            text = f"POST /api/v1/{path} HTTP/1.1\r\nHost: {parts.netloc}\r\n{head}\r\n\r\n"
            line.sendall(text.encode())
            answer = line.recv(4096).decode()
        contract.check(f"{path} {head}: {status}", answer.startswith(f"HTTP/1.1 {status}"))
        contract.check(f"{path} {head}: at once", time.monotonic() - began < 2)
        contract.check(f"{path} {head}: request id", "x-request-id" in answer.lower())


def main() -> int:
    """Run all checks."""
    if not 2 <= len(sys.argv) <= 3 or "://" not in sys.argv[1]:
        sys.exit(__doc__)
    contract = Contract(sys.argv[1])
    organiser = sys.argv[2] if len(sys.argv) > 2 else ""
    account = {"username": NAME, "password": PASSWORD}
    owner = contract.call("POST", "accounts", account).json()["token"]
    made = contract.call("POST", "bots", {"name": NAME, "kind": "remote"}, owner)
    contract.check("a remote bot", made.status_code == 201)
    bot = made.json()["token"]
    began = time.monotonic()
    parts: list[tuple[str, Callable[[], None]]] = [
        ("reads", lambda: reads(contract)),
        ("lists", lambda: lists(contract)),
        ("methods", lambda: methods(contract)),
        ("bodies", lambda: strict_bodies(contract, owner, bot, organiser)),
        ("tokens", lambda: tokens(contract, owner, bot)),
        ("repetitions", lambda: repetitions(contract, owner)),
        ("bots", lambda: bots(contract, owner)),
        ("play", lambda: play(contract, owner, bot)),
        ("long bodies", lambda: long_bodies(contract)),
    ]
    for name, run in parts:
        before = contract.checks
        run()
        print(f"{name}: {contract.checks - before} checks")
    seconds = time.monotonic() - began
    print(f"{contract.checks} checks, {len(contract.failures)} failures, {seconds:.0f} s")
    return bool(contract.failures)


if __name__ == "__main__":
    sys.exit(main())
