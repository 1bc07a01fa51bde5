"""Sends wrong values to every form and every call; checks that the league still plays.

Starts a league with house bots and remote bots that play. A visitor, an owner, another owner and an
organiser find every form by following links, and every call in the API's schema. Each field gets
values out of range, of a wrong type, huge, with NUL, infinite, or that belong to somebody else.
Fields are left out, doubled and unknown; bodies and headers are malformed. At the end the
organiser sends the forms of the admin pages once more with their first values. Then:

- no answer had a status from 500, none took longer than 20 s, and none was lost;
- the log has no traceback and no line of level error;
- ``/readyz`` answers 200, and no ladder has an alarm;
- every ladder applies new rounds.

It exits with 1 if one of these does not hold.

    benchmarks/fuzz_forms.py --count 6

On 2026-11-22, on 2 cores under a load of 18, a run with ``--count 2`` sent 3 885 requests to all 85
forms and 89 calls: no status from 500, and both ladders applied rounds afterwards. The log had 5
tracebacks of wrong parameters of admin pages, which it no longer writes.
"""

import argparse
import random
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

import httpx

from benchmarks.fuzzing.calls import Sent, calls_of, wrong_requests
from benchmarks.fuzzing.forms import Form, Pairs, crawl, mutants
from benchmarks.fuzzing.people import Person, sign_up
from benchmarks.fuzzing.values import MALFORMED_HOSTS
from benchmarks.killing.bots import Bots
from benchmarks.killing.league import League

MAX_SECONDS = 20.0
ROUNDS_SECONDS = 240.0
_LIMITS = {
    "RATE_GENERAL": "10000000/minute",
    "RATE_PLAY": "10000000/minute",
    "RATE_ACCOUNTS": "1000000/hour",
    "RATE_PASSWORDS": "1000000/minute",
    "RATE_EXPORTS": "1000000/hour",
    "MAX_BOTS_PER_DAY": "1000000",
    "MAX_UPLOADS_PER_DAY": "1000000",
    "MAX_RENAMES_PER_DAY": "1000000",
}
_REVOKING = ("tokens_revoke", "bots_new_token")
"""Calls that are sent without a token, because the next calls need it."""
_STREAMS = ("turns_stream", "matches_events", "matches_events_of_several")
_APPLIED = """
from league.models import RoundEntry, Ladder
for ladder in Ladder.objects.all():
    print(ladder.slug, RoundEntry.objects.filter(round__ladder=ladder).count())
"""


class Findings:
    """Counts answers and keeps what should not have happened."""

    def __init__(self) -> None:
        self.statuses: Counter[int] = Counter()
        self.reached: set[str] = set()
        self.problems: list[str] = []

    def note(self, what: str, answer: httpx.Response, seconds: float, sent: str) -> None:
        """Count an answer."""
        self.statuses[answer.status_code] += 1
        if answer.is_success or answer.is_redirect:
            self.reached.add(what)
        if answer.status_code >= 500:
            self.problem(f"{what}: {answer.status_code} for {sent}")
        if seconds > MAX_SECONDS:
            self.problem(f"{what}: {seconds:.0f} s for {sent}")

    def problem(self, text: str) -> None:
        """Keep a problem and print it."""
        self.problems.append(text)
        print("!", text[:600], flush=True)


def main() -> int:
    """Run the fuzzer; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=6, help="wrong values for each field")
    parser.add_argument("--max-minutes", type=float, default=20.0, help="for each part")
    parser.add_argument("--only", choices=["forms", "calls"], help="one of the two parts")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--directory", type=Path, help="of the league; kept, for example to read")
    parser.add_argument("--port", type=int, default=random.randrange(20000, 32768))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="league-fuzz-") as temporary:
        directory = options.directory or Path(temporary) / "var"
        league = League(directory, options.port, _LIMITS)
        try:
            return run(league, options)
        finally:
            league.kill()


def run(league: League, options: argparse.Namespace) -> int:
    """Fuzz a league; print and return the result."""
    print(f"seed {options.seed}", flush=True)
    rng = random.Random(options.seed)
    league.start()
    bots = Bots(league)
    found = Findings()
    try:
        people = [sign_up(league, name) for name in ("visitor", "owner", "other", "organiser")]
        forms: list[Form] = []
        calls, seconds = 0, 60 * options.max_minutes
        if options.only != "calls":
            end = time.monotonic() + seconds
            forms = fuzz_forms(people, options.count, rng, found, end)
            restore(people[-1], forms, found)
        if options.only != "forms":
            end = time.monotonic() + seconds
            calls = fuzz_calls(people, options.count, rng, found, end)
        check(league, found)
    finally:
        bots.stop()
    print(f"{len(forms)} forms, {calls} calls, {sum(found.statuses.values())} requests")
    print("answers by status:", dict(sorted(found.statuses.items())))
    print("log:", league.log_counts())
    print(f"{len(found.problems)} problems")
    return 1 if found.problems else 0


# -- Forms ---------------------------------------------------------------------------------------


def fuzz_forms(
    people: list[Person], count: int, rng: random.Random, found: Findings, end: float
) -> list[Form]:
    """Send wrong values to every form that a person reaches; return the forms."""
    fuzzed: dict[object, Form] = {}
    for person in people:
        forms = crawl(person.browser, person.starts, 400)
        print(f"{person.name}: {len(forms)} forms", flush=True)
        for form in forms:
            if (person.name, form.key) in fuzzed or is_final(form):
                continue
            fuzzed[person.name, form.key] = form
            for pairs in mutants(form, person.others, count, rng):
                if time.monotonic() > end:
                    found.problem("the time is over before all forms had their values")
                    return list(fuzzed.values())
                submit(person, form, pairs, rng, found)
    return list(fuzzed.values())


def is_final(form: Form) -> bool:
    """Return whether a form deletes rows of others for good, which no later form brings back."""
    return "/delete/" in form.action


def submit(person: Person, form: Form, pairs: Pairs, rng: random.Random, found: Findings) -> None:
    """Send a form once."""
    what = f"{person.name} {form.method.upper()} {form.key[1]}"
    data: dict[str, Any] = {}
    for name, value in pairs:
        data.setdefault(name, []).append(value)
    files = {f.name: person.file(rng) for f in form.fields if f.kind == "file"}
    for name in files:
        data.pop(name, None)
    began = time.monotonic()
    try:
        if form.method == "get":
            short = httpx.QueryParams([(name, value[:4000]) for name, value in pairs])
            answer = person.browser.get(form.action, params=short)
        else:
            answer = person.browser.post(
                form.action, data=data, files=files or None, headers={"Referer": form.page}
            )
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        found.problem(f"{what}: {error!r} for {pairs!r:.300}")
        return
    found.note(what, answer, time.monotonic() - began, f"{pairs!r:.300}")


def restore(organiser: Person, forms: list[Form], found: Findings) -> None:
    """Send the forms of rows in the admin pages once more with their first values."""
    for form in forms:
        if form.method == "post" and form.action.endswith("/change/"):
            submit(organiser, form, [*form.defaults(), ("_save", "Save")], random.Random(0), found)


# -- Calls ---------------------------------------------------------------------------------------


def fuzz_calls(
    people: list[Person], count: int, rng: random.Random, found: Findings, end: float
) -> int:
    """Send wrong requests for every call, each with a random token; return the number of calls."""
    calls = calls_of(people[0].api.get("/api/v1/schema/").raise_for_status().json())
    ids = people[1].ids()
    for call in calls:
        first = next(wrong_requests(call, ids, count, rng))
        for person in people:
            for token in person.tokens:
                send(person, call.name, first, token, found)
        for sent in wrong_requests(call, ids, count, rng):
            if time.monotonic() > end:
                found.problem("the time is over before all calls had their values")
                return len(calls)
            person = rng.choice(people)
            send(person, call.name, sent, rng.choice([*person.tokens, ""]), found)
    missing = sorted({call.name for call in calls} - found.reached)
    print("calls without a success:", ", ".join(missing) or "none")
    return len(calls)


def send(person: Person, name: str, sent: Sent, token: str, found: Findings) -> None:
    """Send a request for a call once."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    if sent.kind:
        headers["Content-Type"] = sent.kind
    if name in _REVOKING:
        headers.pop("Authorization", None)  # the next calls need the token
    encoded = {
        key.encode(): value.encode("latin-1", "replace")
        for key, value in {**headers, **sent.headers}.items()
    }
    shown = f"{sent.method} {sent.path} {sent.query} {sent.body[:200]!r} {sent.headers}"[:500]
    query = httpx.QueryParams([(key, value[:4000]) for key, value in sent.query])
    began = time.monotonic()
    try:
        request = person.api.build_request(
            sent.method, sent.path, params=query or None, content=sent.body, headers=encoded
        )
        answer = person.api.send(request, stream=True)
        if name not in _STREAMS or not answer.is_success:
            answer.read()
        answer.close()
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        found.problem(f"{name}: {error!r} for {shown}")
        return
    found.note(name, answer, time.monotonic() - began, shown)
    is_ours = sent.headers.get("Host") not in MALFORMED_HOSTS  # the front refuses them by itself
    kind = answer.headers.get("content-type", "")
    if is_ours and answer.status_code >= 400 and "problem+json" not in kind:
        found.problem(f"{name}: {answer.status_code} is no problem document for {shown}")


# -- The league afterwards -----------------------------------------------------------------------


def check(league: League, found: Findings) -> None:
    """Note what does not hold after all requests."""
    if (state := league.readiness()) != "ready":
        found.problem(f"/readyz: {state}")
    ready = httpx.get(f"{league.url}/readyz", timeout=20).json()
    if ready.get("alarms"):
        found.problem(f"alarms: {ready['alarms']}")
    before = applied(league)
    print("ratings applied after the requests:", before, flush=True)
    end = time.monotonic() + ROUNDS_SECONDS
    waiting = {"twelve-days", "partridge"}
    while waiting and time.monotonic() < end:
        time.sleep(5)
        after = applied(league)
        waiting = {slug for slug in waiting if after.get(slug, 0) <= before.get(slug, 0)}
    for slug in waiting:
        found.problem(f"the ladder {slug} has applied no round in {ROUNDS_SECONDS:.0f} s")
    counts = league.log_counts()
    for kind in ("tracebacks", "errors"):
        if counts[kind]:
            found.problem(f"the log has {counts[kind]} {kind}")
    print("\n".join(league.log_faults()))


def applied(league: League) -> dict[str, int]:
    """Return the number of ratings that rounds have written, by ladder."""
    lines = league.manage(_APPLIED).splitlines()
    return {slug: int(count) for slug, count in (line.split() for line in lines)}


if __name__ == "__main__":
    sys.exit(main())
