"""Modules of the table: `scene.js`, `replayed.js`, `headline.js`, `summary.js`, `deal_check.js`.

They are held against the engine and the server. Chromium runs them on random matches of every
preset.
"""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from playwright.sync_api import Page

from engine.deals import commitment
from engine.games import catalogue
from engine.games.events import MatchOver
from engine.games.game import State
from engine.playback import deal
from engine.record import read
from engine.sentences import as_sentence
from league.play.headlines import headline, live_headline, seat_names
from tests.browser.conftest import Visit
from tests.league.play.test_headlines import match as finished_match
from web.table.replays import replay_steps
from web.table.tables import deck_of, phases_of

pytestmark = pytest.mark.django_db(transaction=True)

EXAMPLES = Path(__file__).parents[2] / "docs/rules"
PRESETS = [
    (game, preset.name, seats)
    for game, state in catalogue.GAMES.items()
    for preset in state.presets.values()
    for seats in range(preset.min_seats, preset.max_seats + 1)
]

FOLD = """
async (given) => {
    const { seats, phases } = JSON.parse(given);
    const { Fold } = await import("/static/web/table/scene.js");
    const fold = new Fold(seats);
    return JSON.stringify(phases.map((phase) => {
        fold.add(phase);
        const { scene } = fold.frames.at(-1);
        return {
            points: scene.seats.map((seat) => seat.points),
            sizes: scene.seats.map((seat) => seat.hand.length),
            hands: scene.seats.map((seat) => seat.hand.map((card) => card.rank)),
            pot: scene.pot,
            acts: scene.seats.flatMap((seat, at) => (seat.acts ? [at] : [])),
        };
    }));
}
"""
LINES = """
async (given) => {
    const { names, phases } = JSON.parse(given);
    const { Fold } = await import("/static/web/table/scene.js");
    const { frameOf } = await import("/static/web/table/replayed.js");
    const fold = new Fold(names.length);
    for (const phase of phases) fold.add(phase);
    const last = fold.frames.at(-1).step;
    const steps = Array.from({ length: last }, (_, at) => at + 1);
    return JSON.stringify(steps.map((step) => fold.frames[frameOf(fold.frames, step)].lines));
}
"""
CHECK = """
async (given) => {
    const matches = JSON.parse(given);
    const { checkDeal } = await import("/static/web/table/deal_check.js");
    const texts = [];
    for (const match of matches) texts.push((await checkDeal(match)).text);
    return JSON.stringify(texts);
}
"""


def run(page: Page, script: str, given: object) -> Any:
    """Run a script with JSON in and out: Playwright's own copies of large values are slow."""
    return json.loads(page.evaluate(script, json.dumps(given)))


def played(game: str, rules: str, seats: int, rng: Random) -> Iterator[tuple[State, list[Any]]]:
    """Yield the state and the events after each phase of a random match."""
    dealt = deal(game, rules, seats, rng.randbytes(32))
    state = dealt.state
    yield state, list(dealt.events)
    while not state.is_over:
        events: list[Any] = []
        state.step_unchecked({seat: rng.choice(state.legal(seat)) for seat in state.actors}, events)
        yield state, events


def expected(state: State) -> dict[str, Any]:
    """Return what a scene must show after a phase, from the public view and the hands."""
    view = state.spectate()
    points = view["scores"] or view.get("gifts") or [sum(cards) for cards in view["day_cards"]]
    hands = [state.hand(seat) for seat in range(state.seats)]
    return {
        "points": points,
        "sizes": [len(hand) for hand in hands],
        "hands": hands,
        "pot": [] if state.is_over else view.get("pot", []),
        "acts": list(state.actors),
    }


def as_phase(events: list[Any], state: State, *, public: bool) -> dict[str, Any]:
    shown = [event.seen_by(None) if public else event for event in events]
    return {
        "events": [event.as_json() for event in shown],
        "sentences": [as_sentence(event, ["ada"] * state.seats) for event in shown],
        "to_act": list(state.actors),
    }


@pytest.fixture
def page(visit: Visit) -> Page:
    visit.page.goto("/")
    return visit.page


@pytest.mark.parametrize("public", [True, False])
def test_scenes_show_what_the_engine_holds_after_every_phase(page: Page, public: bool) -> None:
    for game, rules, seats in PRESETS:
        rng = Random(f"{game} {rules} {seats}")
        phases, wanted = [], []
        for state, events in played(game, rules, seats, rng):
            phases.append(as_phase(events, state, public=public))
            wanted.append(expected(state))
        found = run(page, FOLD, {"seats": seats, "phases": phases})
        for ply, (scene, right) in enumerate(zip(found, wanted, strict=True)):
            if public and ply < len(found) - 1:
                # The public knows a card in a hand only if the seat has taken it back.
                for shown, held in zip(scene.pop("hands"), right.pop("hands"), strict=True):
                    assert Counter(rank for rank in shown if rank is not None) <= Counter(held)
            assert scene == right, (game, rules, seats, ply)


@pytest.mark.parametrize("game", ["twelve-days", "partridge"])
def test_a_step_shows_the_reasons_that_the_server_renders(page: Page, game: str) -> None:
    record = read((EXAMPLES / f"{game}-example.jsonl").read_bytes().splitlines()[0])
    names = ["ada", "bo", "cy", "dot"]
    shown = run(page, LINES, phases_of(record, names, ""))
    steps = [step.reasons for step in replay_steps(record, names)]
    steps[-1][0] = as_sentence(MatchOver(record.scores, record.places), names)
    assert shown == steps


def test_the_felt_says_what_may_answer_the_lead(page: Page) -> None:
    script = """
    async (given) => {
        const { rule } = await import("/static/web/table/view.js");
        return JSON.stringify(JSON.parse(given).map(([kind, low]) => rule({ kind, low })));
    }
    """
    assert run(page, script, [["straight", 6], ["single", 9], ["set", 1]]) == [
        "Answer: a straight with a lowest card of 6 or lower",
        "Answer: one card, 9 or lower",
        "Answer: a set of 1s",
    ]


def test_only_the_seat_itself_sees_that_it_cannot_play(page: Page) -> None:
    script = """
    async (given) => {
        const { Fold } = await import("/static/web/table/scene.js");
        const { seenBy } = await import("/static/web/table/replayed.js");
        const fold = new Fold(2);
        fold.apply({ kind: "seat_passed", seat: 1, forced: true });
        const seen = [null, 0, 1].map((viewer) => seenBy(fold.scene, viewer).seats[1].forced);
        return JSON.stringify(seen);
    }
    """
    assert run(page, script, None) == [True, False, True]


def deal_data(game: str, rules: str, seats: int, seed: bytes, events: list[Any]) -> dict[str, Any]:
    return {
        "commitment": commitment(seed),
        "deal_seed": seed.hex(),
        "cards": deck_of(game, rules),
        "names": [f"seat {seat}" for seat in range(seats)],
        "phases": [{"events": [event.as_json() for event in events]}],
    }


def test_the_published_shuffle_in_the_browser_gives_thousands_of_deals(page: Page) -> None:
    rng = Random(12)
    deals = []
    for game, rules, seats in PRESETS:
        for _ in range(50):
            seed = rng.randbytes(32)
            dealt = deal(game, rules, seats, seed)
            deals.append(deal_data(game, rules, seats, seed, list(dealt.events)))
    assert len(deals) >= 2000
    assert {text.partition(":")[0] for text in run(page, CHECK, deals)} == {"The deal is fair"}


def test_the_headline_of_a_live_table_has_the_words_of_the_server(page: Page) -> None:
    script = """
    async (given) => {
        const { leading, result } = await import("/static/web/table/headline.js");
        return JSON.stringify(JSON.parse(given).map(({ names, points, places }) => [
            leading(names, points, points.map(() => 0)), result(names, { scores: points, places }),
        ]));
    }
    """
    ways = [[3, 2], [2, 2], [-1, -4], [3, 9, 5], [4, 1, 4, 4], [4, 4, 4, 4, 4], [0, 7, 7, 1, 2]]
    given, expected = [], []
    for points in ways:
        match = finished_match(points)
        names = seat_names(match)
        given.append({"names": names, "points": points, "places": match.places})
        expected.append([live_headline("twelve-days", names, points, 0), headline(match)])
    assert run(page, script, given) == expected


def test_a_browser_without_sha_256_names_another_way_to_check_a_deal(page: Page) -> None:
    script = """
    async () => {
        const { checkDeal } = await import("/static/web/table/deal_check.js");
        Object.defineProperty(crypto, "subtle", { value: undefined });
        return JSON.stringify(await checkDeal({ deal_seed: "", phases: [] }));
    }
    """
    found = run(page, script, None)
    assert found["ok"] is None
    assert "Download the record" in found["text"]


def test_whole_matches_fit_their_seed_and_a_changed_card_does_not(page: Page) -> None:
    whole, changed, hashes = [], [], []
    for game, rules, seats in PRESETS:
        rng = Random(f"{game} {rules} {seats}")
        seed = Random(f"{game} {rules} {seats}").randbytes(32)
        events = [event for _, phase in played(game, rules, seats, rng) for event in phase]
        match = deal_data(game, rules, seats, seed, events)
        whole.append(match)
        wrong = deal_data(game, rules, seats, seed, events)
        kinds = ("card_drawn", "hand_dealt")
        seen = next(e for k in kinds for e in wrong["phases"][0]["events"] if e["kind"] == k)
        if seen["kind"] == "card_drawn":
            seen["rank"] += 1
        else:
            seen["cards"][0] += 1
        changed.append(wrong)
        hashes.append({**match, "commitment": commitment(b"another seed")})
    assert all(text.startswith("The deal is fair") for text in run(page, CHECK, whole))
    assert all(text.startswith("The deal is wrong") for text in run(page, CHECK, changed))
    assert all("is not the published commitment" in text for text in run(page, CHECK, hashes))
