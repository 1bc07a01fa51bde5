"""How long a new bot waits for its first rating and its rank, seen from outside, over the API.

Usage: python benchmarks/placement.py [--others 0 10 100] [--ladder twelve-days] [--remote]

Starts a league as `make up` does. For each number of other bots on the ladder, a new account
uploads a bot that plays by rules of thumb, enters it, and follows it to its rank; times count from
the answer to `enter`. A remote bot waits for its turns and answers at once; its times count from
its first call. Run it on an idle machine. The other bots belong to one owner each and are written
into the database, because a hundred checks would take minutes.
"""

import argparse
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
_OTHERS = """
from pathlib import Path
from django.contrib.auth.models import User
from bots_sdk.reference import thumb_bot
from league import bots, competitions
from league.models import Bot, BotVersion, Ladder

ladder = Ladder.objects.get(slug={ladder!r})
for number in range({first}, {end}):
    owner = User.objects.create(username=f"other-{{number}}")
    bot, _ = bots.create_bot(owner=owner, name=f"other-{{number}}", kind=Bot.Kind.HOSTED)
    version = bots.upload(bot=bot, data=Path(thumb_bot.__file__).read_bytes())
    BotVersion.objects.filter(pk=version.pk).update(state="ready")
    bot.current = version
    bot.save()
    competitions.enter_ladder(ladder=ladder, bot=bot)
"""


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
                script = _OTHERS.format(ladder=options.ladder, first=made, end=others)
                league.manage(script)
                if others > made:
                    _await_others(league.url, options, others)
                made = others
                print(f"{others} other bots: {_hosted(league.url, options)}", flush=True)
                if options.remote:
                    print(f"{others} other bots: {_remote(league.url, options)}", flush=True)
        finally:
            if left := league.stop():
                print(f"left after the stop: {left}")


def _await_others(url: str, options: argparse.Namespace, others: int) -> None:
    """Wait until all other bots have a rank: each plays twenty blocks, eight bots at a time."""
    with httpx.Client(base_url=f"{url}/api/v1/", timeout=30) as client:
        for number in range(others):
            path = f"bots/other-{number}/ladders/{options.ladder}"
            while (found := client.get(path)).status_code != 200 or not found.json()["rank"]:
                time.sleep(1)


def _hosted(url: str, options: argparse.Namespace) -> str:
    name = f"new-{secrets.token_hex(4)}"
    with closing(_owner(url, name)) as client:
        client.post("bots", json={"name": name, "kind": "hosted"}).raise_for_status()
        began = time.monotonic()
        sent = client.post(f"bots/{name}/versions", files={"source": ("bot.py", _SOURCE)})
        version = f"bots/{name}/versions/{sent.raise_for_status().json()['number']}"
        ends = began + options.max_seconds
        checked = _wait(lambda: client.get(version).json()["state"] != "checking", ends)
        client.put(f"ladders/{options.ladder}/entries/{name}").raise_for_status()
        waits = _follow(client, name, options)
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
            waits = _follow(client, name, options)
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
    """Return how long the bot waits from now, or from its entry, for its rating and its rank."""
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
