"""How long a new bot waits for its first rating and its rank, seen from outside, over the API.

Usage: python benchmarks/placement.py [--others 0 10 100] [--ladder twelve-days] [--remote]

Starts a league as `make up` does. For each number of other bots on the ladder, a new account
uploads a bot that plays by rules of thumb, enters it, and follows it to its rank; times count from
the answer to `enter`. With `--remote`, a remote bot does so too. It waits for its turns and answers
at once; the league draws two of its blocks at a time, with bots that workers run. The time to its
first turn counts from its first call, and the times to its rating and its rank from its first turn.
Each line ends with the estimate that the league shows when the wait for the rank begins. Run it on
an idle machine; each line has the load of the machine. The other bots have a rank already, from
`ranked_others.py`.
"""

import argparse
import os
import secrets
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from threading import Event, Thread
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

import httpx

from benchmarks.killing.league import League
from bots_sdk.reference import HOUSE, thumb_bot
from bots_sdk.reference.thumb_bot import choose

_SOURCE = Path(thumb_bot.__file__).read_bytes()
_EVERY = 0.25


def main() -> None:
    """Measure with each number of other bots, and print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--others", type=int, nargs="+", default=[0, 10, 100])
    parser.add_argument("--ladder", default="twelve-days")
    parser.add_argument("--remote", action="store_true", help="measure a remote bot, too")
    parser.add_argument("--port", type=int, default=8188)
    parser.add_argument("--max-seconds", type=float, default=600.0, help="for each wait")
    options = parser.parse_args()
    began = time.perf_counter()
    for _ in range(10**7):
        pass
    print(f"plain loop of 10**7 passes: {time.perf_counter() - began:.2f} s", flush=True)
    with tempfile.TemporaryDirectory(prefix="league-placement-") as place:
        league = League(Path(place) / "var", options.port, {"HOUSE_BOTS": ",".join(HOUSE)})
        league.start()
        try:
            made = 0
            for others in sorted(options.others):
                if others > made:
                    _add_others(league, options, made, others)
                made = others
                _print(others, _hosted(league.url, options))
                if options.remote:
                    _print(others, _remote(league.url, options))
        finally:
            if left := league.stop():
                print(f"left after the stop: {left}")


def _print(others: int, text: str) -> None:
    print(f"{others} other bots, load {os.getloadavg()[0]:.0f}: {text}", flush=True)


def _add_others(league: League, options: argparse.Namespace, first: int, end: int) -> None:
    """Add other bots, and wait until all have a rank."""
    began = time.monotonic()
    league.manage(
        "from benchmarks.ranked_others import add_others; "
        f"add_others({options.ladder!r}, {first}, {end})"
    )
    with httpx.Client(base_url=f"{league.url}/api/v1/", timeout=30) as client:
        for number in range(first, end):
            path = f"bots/other-{number}/ladders/{options.ladder}"
            while (found := client.get(path)).status_code != 200 or not found.json()["rank"]:
                time.sleep(1)
    print(f"{end - first} other bots ranked after {time.monotonic() - began:.0f} s", flush=True)


def _hosted(url: str, options: argparse.Namespace) -> str:
    name = f"new-{secrets.token_hex(4)}"
    with closing(_owner(url, name)) as client:
        client.post("bots", json={"name": name, "kind": "hosted"}).raise_for_status()
        began = time.monotonic()
        sent = client.post(f"bots/{name}/versions", files={"source": ("bot.py", _SOURCE)})
        version = f"bots/{name}/versions/{sent.raise_for_status().json()['number']}"
        ends = began + options.max_seconds
        checked = _wait(lambda: client.get(version).json()["state"] != "checking", ends)
        entry = client.put(f"ladders/{options.ladder}/entries/{name}").raise_for_status().json()
        waits = f"{_follow(client, name, options)}; {_estimate(entry)}"
    return f"hosted bot checked after {_seconds(checked, began)}, {waits}"


def _remote(url: str, options: argparse.Namespace) -> str:
    name = f"new-{secrets.token_hex(4)}"
    stop, first = Event(), Event()
    with closing(_owner(url, name)) as client:
        token = client.post("bots", json={"name": name, "kind": "remote"}).json()["token"]
        client.put(f"ladders/{options.ladder}/entries/{name}").raise_for_status()
        began = time.monotonic()
        player = Thread(target=_play, args=(url, token, stop, first))
        player.start()
        try:
            first.wait(options.max_seconds)
            turn = time.monotonic() if first.is_set() else None
            entry = client.get(f"ladders/{options.ladder}/entries/{name}").json()
            waits = f"{_follow(client, name, options)}; {_estimate(entry)}"
        finally:
            stop.set()
            player.join()
    return f"remote bot's first turn after {_seconds(turn, began)}, {waits}"


def _owner(url: str, name: str) -> httpx.Client:
    """Return a client with the token of a new account."""
    client = httpx.Client(base_url=f"{url}/api/v1/", timeout=30)
    account = client.post("accounts", json={"username": name, "password": secrets.token_hex(12)})
    client.headers["Authorization"] = f"Bearer {account.raise_for_status().json()['token']}"
    return client


def _play(url: str, token: str, stop: Event, first: Event) -> None:
    """Answer every turn at once."""
    headers = {"Authorization": f"Bearer {token}"}
    with httpx.Client(base_url=f"{url}/api/v1/", timeout=40, headers=headers) as client:
        while not stop.is_set():
            turns = client.get("turns", params={"wait": 1}).raise_for_status().json()["turns"]
            if turns:
                first.set()
                moves = [_answer(turn) for turn in turns[:100]]
                client.post("moves", json={"moves": moves})


def _answer(turn: dict[str, Any]) -> dict[str, Any]:
    return {"match": turn["match"], "turn": turn["turn"], "move": choose(turn["observation"])}


def _follow(client: httpx.Client, name: str, options: argparse.Namespace) -> str:
    """Return how long the bot waits from now for its first rating and for its rank."""
    entered = time.monotonic()
    ends = entered + options.max_seconds
    path = f"bots/{name}/ladders/{options.ladder}"

    def standing() -> dict[str, Any]:
        answer = client.get(path)
        return answer.json() if answer.status_code == 200 else {}

    rated = _wait(lambda: standing().get("matches"), ends)
    ranked = _wait(lambda: standing().get("rank"), ends)
    if ranked is None:
        entry = client.get(f"ladders/{options.ladder}/entries/{name}").json()
        blocks = (entry["rank_progress"] or {}).get("finished")
        return f"first rating {_seconds(rated, entered)}, {blocks} blocks at the end"
    return f"first rating {_seconds(rated, entered)}, rank {_seconds(ranked, entered)}"


def _estimate(entry: dict[str, Any]) -> str:
    """Return what the league estimates for the rank as the wait for it begins."""
    seconds = (entry["rank_progress"] or {}).get("seconds_left")
    return "no estimate" if seconds is None else f"the league estimated {seconds:.0f} s"


def _wait(done: Callable[[], object], ends: float) -> float | None:
    """Return the time when something is done; None if it is not done at the end."""
    while time.monotonic() < ends:
        if done():
            return time.monotonic()
        time.sleep(_EVERY)
    return None


def _seconds(at: float | None, since: float) -> str:
    return "never" if at is None else f"{at - since:.1f} s"


if __name__ == "__main__":
    main()
