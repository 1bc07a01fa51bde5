"""``make demo-bot``: a remote bot joins a league and plays, to be watched and to be copied.

It makes an account and a bot, or takes those of its last run; enters the bot on every ladder; asks
for an unrated match against house bots on each; then plays whatever turns come by rules of thumb,
until Ctrl-C.
"""

import argparse
import os
import secrets
import sys
from pathlib import Path

from bots_sdk import calls, runner
from bots_sdk.answers import Ladder
from bots_sdk.client import Client, Retry
from bots_sdk.errors import LeagueError, ProblemError, UnreachableError
from bots_sdk.reference import thumb_bot
from bots_sdk.saved import Saved, SavedError, SavedLeague

URL = "http://127.0.0.1:8000"
SAVED = Path("var/demo-bot.json")

_A_MOMENT = Retry(seconds=3.0)


def main() -> int:
    """Run the demo bot until it is told to stop; return the exit status."""
    parser = argparse.ArgumentParser(prog="make demo-bot", description=__doc__)
    parser.add_argument("url", nargs="?", default=os.environ.get("TWELFTH_NIGHT_URL") or URL)
    parser.add_argument("--saved", type=Path, default=SAVED, help="where its tokens are kept")
    parser.add_argument("--json", action="store_true", help="print an object a line")
    options = parser.parse_args()
    say = sys.stderr if options.json else sys.stdout
    try:
        saved = Saved.read(options.saved)
        with Client(options.url, retry=_A_MOMENT) as anyone:
            url = anyone.url
            ladders = list(anyone.pages(calls.ladders()))
        name, token = _bot(saved, url)
        league = saved.league(url)
        print(f"The bot is {name}: {url}/bots/{name}/", file=say)
        with Client(url, league.token, retry=_A_MOMENT) as owner:
            for ladder in ladders:
                owner.send(calls.enter_ladder(ladder["slug"], name))
                print(f"On the ladder {ladder['title']}: {url}/ladders/{ladder['slug']}/", file=say)
                print(f"  {_ask_for_match(owner, ladder, name)}", file=say, flush=True)
        runner.run(Path(thumb_bot.__file__), url, token, as_json=options.json)
    except UnreachableError as error:
        print(f"demo-bot: {error}; `make up` starts a league.", file=sys.stderr)
        return 3
    except (LeagueError, SavedError, ValueError) as error:
        print(f"demo-bot: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


def _bot(saved: Saved, url: str) -> tuple[str, str]:
    """Return the name and token of the demo's bot: the last run's if they work, else new ones."""
    league = saved.league(url)
    for name, token in league.bots.items():
        try:
            with Client(url, token, retry=_A_MOMENT) as client:
                client.send(calls.turns())
            with Client(url, league.token, retry=_A_MOMENT) as owner:
                owner.send(calls.change_bot(name))
            return name, token
        except ProblemError as error:
            if error.status not in (401, 403, 404):
                raise  # else the league has begun anew and knows neither
    return _new_bot(saved, url)


def _new_bot(saved: Saved, url: str) -> tuple[str, str]:
    name = f"demo-{secrets.token_hex(2)}"
    league = saved.leagues[url] = SavedLeague(username=name, password=secrets.token_urlsafe(16))
    with Client(url, retry=_A_MOMENT) as client:
        league.token = client.send(calls.create_account(name, league.password))["token"]
    with Client(url, league.token, retry=_A_MOMENT) as client:
        league.bots[name] = client.send(calls.create_bot(name, "remote"))["token"]
        saved.write()
        client.send(calls.change_bot(name, description="Shows how a remote bot plays."))
    return name, league.bots[name]


def _ask_for_match(owner: Client, ladder: Ladder, name: str) -> str:
    """Ask for a match like the ladder's; return a line about it."""
    house = [bot["name"] for bot in owner.pages(calls.bots()) if bot["kind"] == "house"]
    opponents = [house[seat % len(house)] for seat in range(ladder["seats"] - 1)] if house else []
    try:
        match = owner.send(calls.create_match(ladder["game"], ladder["rules"], [name, *opponents]))
    except ProblemError as error:
        return f"no match against the house: {error}"
    return f"a match against {', '.join(opponents)}: {owner.url}/matches/{match['id']}/"


if __name__ == "__main__":
    sys.exit(main())
