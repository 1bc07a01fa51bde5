"""How long a new bot waits for its first rating and its rank, seen from outside, over the API.

`python benchmarks/placement.py http://127.0.0.1:8000` signs an account up, uploads a bot that plays
by rules of thumb, enters it on each ladder in turn, and follows it until it has a rank. The league
plays as it does for everyone; start it on an idle machine. Times count from the answer to `enter`.
"""

import argparse
import secrets
import sys
import time
from collections.abc import Callable

import httpx

_OWN = '''"""A bot that plays a middle move."""


def choose(observation):
    moves = observation["legal_moves"]
    return moves[len(moves) // 2]
'''
_EVERY = 0.25
_MAX_SECONDS = 600.0


def main() -> None:
    """Upload a bot, enter it on ladders, and print how long it waits."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("url", help="address of a running league")
    parser.add_argument("--ladder", help="one ladder; by default all of them")
    arguments = parser.parse_args()
    began = time.perf_counter()
    for _ in range(10**7):
        pass
    print(f"plain loop of 10**7 passes: {time.perf_counter() - began:.2f} s")
    with httpx.Client(base_url=f"{arguments.url.rstrip('/')}/api/v1/", timeout=30) as client:
        try:
            _measure(client, arguments.ladder)
        except httpx.HTTPError as error:
            sys.exit(f"{arguments.url}: {error}")


def _measure(client: httpx.Client, only: str | None) -> None:
    name = f"new-{secrets.token_hex(4)}"
    account = client.post("accounts", json={"username": name, "password": secrets.token_hex(12)})
    client.headers["Authorization"] = f"Bearer {account.raise_for_status().json()['token']}"
    client.post("bots", json={"name": name, "kind": "hosted"}).raise_for_status()
    began = time.monotonic()
    files = {"source": ("bot.py", _OWN.encode())}
    number = client.post(f"bots/{name}/versions", files=files).raise_for_status().json()["number"]
    _wait(lambda: client.get(f"bots/{name}/versions/{number}").json()["state"] != "checking")
    print(f"checked after {time.monotonic() - began:.1f} s")
    ladders = [each["slug"] for each in client.get("ladders").json()["results"]]
    for slug in ladders if only is None else [only]:
        client.put(f"ladders/{slug}/entries/{name}").raise_for_status()
        entered = time.monotonic()
        path = f"bots/{name}/ladders/{slug}"

        def standing() -> dict[str, object]:
            answer = client.get(path)  # noqa: B023 - called in this pass only
            return answer.json() if answer.status_code == 200 else {}

        def places() -> list[str]:
            rounds = client.get(f"ladders/{slug}/rounds").json()["results"]  # noqa: B023
            return [each for each in rounds if each["placed"] == name]

        drawn = _wait(places) - entered
        rated = _wait(lambda: standing().get("matches")) - entered
        ranked = _wait(lambda: standing().get("rank")) - entered
        print(f"{slug}: drawn {drawn:.1f} s, first rating {rated:.1f} s, rank {ranked:.1f} s")


def _wait(done: Callable[[], object]) -> float:
    """Return the time when something is done.

    Raises:
        TimeoutError: it takes longer than ten minutes.
    """
    until = time.monotonic() + _MAX_SECONDS
    while time.monotonic() < until:
        if done():
            return time.monotonic()
        time.sleep(_EVERY)
    raise TimeoutError(f"not done within {_MAX_SECONDS:.0f} s")


if __name__ == "__main__":
    main()
