"""What the page of a table of players shows: the seats, the table, the moves in words."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from django.urls import reverse
from django.utils import timezone

from engine.games import events as happened
from engine.games.titles import counted, unit_of
from engine.games.twelve_days_presets import PRESETS as TWELVE_DAYS_PRESETS
from engine.sentences import as_sentence
from league import play
from league.models import Match, MatchSeat
from league.play.headlines import GUEST, seat_name
from league.play.hints import Hint, hint
from league.play.player_seats import SeatPhase
from web.ordinals import ordinal
from web.second_person import names_for, sentences_for, to_you
from web.table.build import build
from web.table.replays import replay_steps
from web.table.steps import Phase, Step
from web.table.tables import Table, parts_of

_OWN_MOVES = (
    happened.CardGiven,
    happened.CardPlayed,
    happened.PotAwarded,
    happened.CardsLed,
    happened.CardsFollowed,
    happened.SeatPassed,
)
_MOST_SENTENCES = 14

GAMES = {
    "twelve-days": (
        "12 Days",
        [
            "Each day you give a card to your left neighbour, and then all play a card at once.",
            "Equal cards cancel each other; the lowest card that is left wins the day’s points.",
            "After the last day, each seat with the most cards of a rank scores that rank.",
        ],
    ),
    "partridge": (
        "12 Days of Christmas",
        [
            "Get rid of all your cards first: each round that you win brings gifts, and the seat "
            "with the most gifts wins.",
            "The leader plays a single, a set (9 9) or a straight (9 8 7). You pass or play the "
            "same kind; your lowest card must be as low as the leader’s, or lower.",
            "The lowest card wins the trick and leads next. If your last cards lose, you "
            "take them back.",
        ],
    ),
}
"""A name of each game, and its rules in short; `rules_in_short` adds the rule on Claus cards."""
_CLAUS = {
    "award": " If you win with a Claus (0), you must award them to another seat.",
    "keep": " If you win with a Claus (0), you keep them.",
    "none": "",
}
"""What a preset of ``twelve-days`` adds to the second rule."""

GOALS = {
    "twelve-days": "win the most points. The lowest card that nobody else plays wins the day.",
    "partridge": "win the most gifts. Be the first to play all your cards in a round.",
}
"""What a player of each game wants, and how to get it."""


@dataclass
class MoveChoice:
    """A legal move for a button.

    Attributes:
        text: the move as the API takes it.
        words: the move for people.
        kind: ``single``, ``set``, ``straight``, ``pass``, ``give``, ``play`` or ``award``.
        cards: the ranks of its cards.
    """

    text: str
    words: str
    kind: str
    cards: list[int] = field(default_factory=list)


def rules_in_short(game: str, rules: str) -> tuple[str, list[str]]:
    """Return the name of a game, and its rules in short for a preset."""
    title, lines = GAMES[game]
    if game != "twelve-days":
        return title, lines
    first, second, *rest = lines
    return title, [first, second + _CLAUS[TWELVE_DAYS_PRESETS[rules].claus], *rest]


def playing(match: Match, seat: MatchSeat, code: str, *, wants_hint: bool) -> dict[str, Any] | None:
    """Return the context of a match in play for the player of a seat, None if it is over.

    Args:
        match: with its seats.
        seat: of the match, with its bot.
        code: of the players' table.
        wants_hint: whether to add a hint.
    """
    view = play.seat_view(match, seat, timezone.now())
    if view is None:
        return None
    seats = list(match.seating.select_related("bot__player", "substitute").order_by("seat"))
    names = [seat_name(each) for each in seats]
    marked = names_for(names, seat.seat)
    steps = build([Phase(phase.events) for phase in view.phases], marked)
    assert steps.step is not None, "a step is in progress"
    if given := _exchange(view.phases, seat.seat, names):
        steps.step.reasons = [given]
    steps.describe_decision()
    steps.step.reasons = [to_you(reason) for reason in steps.step.reasons]
    steps.step.seats[seat.seat].name = names[seat.seat]
    observation = view.observation
    is_turn = view.turn is not None
    choices = _choices(observation, names) if is_turn else []
    shown: Hint | None = hint(observation) if is_turn and wants_hint else None
    has_left = {each.seat: play.has_left(match, each) for each in seats if each.substitute}
    notes = {
        each.seat: f"left; {each.substitute.name} plays on"
        for each in seats
        if each.substitute and has_left[each.seat]
    }
    source = reverse("web:table-view", args=[code])
    return {
        "names": names,
        "phases": view.phases,
        "seat_table": Table(
            *(match, "play", source, names, parts_of(match), [steps.step], 1),
            *(seat.seat, view.undecided, notes),
        ),
        "news": _news(view.phases, seat.seat, names),
        "turn": view.turn,
        "observation": observation,
        "choices": choices,
        "hand": _hand(observation, choices),
        "is_combined": match.game == "partridge",
        "may_pass": any(choice.kind == "pass" for choice in choices),
        "hand_moves": any(choice.cards for choice in choices),
        "hint": shown,
        "hint_words": next((c.words for c in choices if shown and c.text == shown.move), ""),
        "question": _question(observation, names) if is_turn else "",
        "goal": GOALS[match.game],
        "thinking": _thinking([names[each] for each in view.undecided if each != seat.seat]),
        "has_left": has_left.get(seat.seat, False),
    }


def as_json(page: dict[str, Any], own: int, after: int) -> dict[str, Any]:
    """Return what the script of the page needs of the context of `playing`, but for the panel.

    Args:
        page: the context.
        own: the player's seat.
        after: the phases up to this ply are left out.
    """
    names: list[str] = page["names"]
    phases: Sequence[SeatPhase] = page["phases"]
    news = sentences_of(phases, own, names)
    turn, shown = page["turn"], page["hint"]
    return {
        "state": "playing",
        "phases": [
            {
                "ply": phase.ply,
                "events": [event.as_json() for event in phase.events],
                "sentences": sentences_for(phase.events, names, own),
                "news": of_phase,
                "to_act": phase.to_act,
            }
            for phase, of_phase in zip(phases, news, strict=True)
            if phase.ply > after
        ],
        "acts": page["seat_table"].acts,
        "notes": page["seat_table"].notes,
        "thinking": page["thinking"],
        "turn": turn and turn["turn"],
        "remaining_ms": turn and turn["remaining_ms"],
        "choices": [asdict(choice) for choice in page["choices"]],
        "hint": shown and shown.move,
        "has_left": page["has_left"],
    }


def finished(match: Match, seat: MatchSeat) -> dict[str, Any]:
    """Return the context of a finished match: its result, and the table at its end."""
    seats = list(
        match.seating.select_related("bot__player", "substitute").order_by("place", "seat")
    )
    own = seat.seat
    names = [seat_name(each) for each in sorted(seats, key=lambda each: each.seat)]
    marked = list(names)
    marked[own] = "You" if names[own] == GUEST else f"{names[own]} (you)"
    steps = replay_steps(match.record, marked)
    winners = sum(each.place == 1 for each in seats)
    headline = f"You finish {ordinal(seat.place or 0)} of {match.seats}"
    if play.has_left(match, seat):
        headline = f"Your seat finishes {ordinal(seat.place or 0)} of {match.seats}"
    elif seat.place == 1:
        headline = "You win!" if winners == 1 else "You share first place!"
    ending = [
        to_you(as_sentence(event, names_for(names, own)))
        for event in play.final_phases(match)[-1]
        if not isinstance(event, happened.HandShown | happened.MatchOver)
    ]
    return {
        "headline": headline,
        "sentence": _result(match.game, seats, seat, names, steps[-1]),
        "final_table": Table(
            match, "replay", "", marked, parts_of(match), steps, len(steps), own=own
        ),
        "left": [
            ("You" if each.seat == own else names[each.seat], each.substitute.name)
            for each in seats
            if each.substitute and play.has_left(match, each)
        ],
        "ending": ending,
    }


def _result(
    game: str, seats: Sequence[MatchSeat], own: MatchSeat, names: Sequence[str], end: Step
) -> str:
    """Return the result and what it came from; ``seats`` has the best seat first."""

    def amount(seat: MatchSeat) -> str:
        return counted(seat.score or 0, unit_of(game, 1))

    def how(seat: MatchSeat) -> str:
        if game == "partridge":
            return ""
        days = end.seats[seat.seat].before
        return f": {days} from days, {(seat.score or 0) - days} from the hand"

    best = [each for each in seats if each.place == 1]
    if any(each.pk == own.pk for each in best):
        rest = [each for each in seats if each.place != 1]
        ahead = f" {names[rest[0].seat]} comes next with {amount(rest[0])}." if rest else ""
        return f"You have {amount(own)}{how(own)}.{ahead}"
    winners = [names[each.seat] for each in best]
    verb = "win" if len(winners) > 1 else "wins"
    return (
        f"{' and '.join(winners)} {verb} with {amount(best[0])}{how(best[0])}. "
        f"You have {amount(own)}{how(own)}."
    )


def _choices(observation: dict[str, Any], names: Sequence[str]) -> list[MoveChoice]:
    return [_choice(text, observation, names) for text in observation["legal_moves"]]


def _choice(text: str, observation: dict[str, Any], names: Sequence[str]) -> MoveChoice:
    verb, *rest = text.split()
    numbers = [int(part) for part in rest]
    phase, seat = observation["phase"], observation["seat"]
    if phase == "give":
        left = names[(seat + 1) % len(names)]
        return MoveChoice(text, f"Give {_card(numbers[0])} to {left}", "give", numbers)
    if phase == "award":
        return MoveChoice(text, f"Award the points to {names[numbers[0]]}", "award")
    if phase == "play":
        return MoveChoice(text, f"Play {_card(numbers[0])}", "play", numbers)
    if verb == "pass":
        return MoveChoice(text, "Pass", "pass")
    does = "Lead" if phase == "lead" else "Play"
    shown = " ".join(map(str, numbers))
    if len(numbers) == 1:
        return MoveChoice(text, f"{does} {shown}", "single", numbers)
    kind = "set" if numbers[0] == numbers[-1] else "straight"
    return MoveChoice(text, f"{does} the {kind} {shown}", kind, numbers)


def _card(rank: int) -> str:
    return "a Claus" if rank == 0 else str(rank)


def _hand(
    observation: dict[str, Any], choices: Sequence[MoveChoice]
) -> list[tuple[int, MoveChoice | None]]:
    """Return the cards of the hand, each with the move that plays it alone."""
    alone = {choice.cards[0]: choice for choice in choices if len(choice.cards) == 1}
    return [(rank, alone.get(rank)) for rank in sorted(observation["hand"])]


def _question(observation: dict[str, Any], names: Sequence[str]) -> str:
    phase, seat = observation["phase"], observation["seat"]
    if phase == "give":
        points = _points(observation["pot"])
        left = names[(seat + 1) % len(names)]
        return f"Day {observation['day']}, {points}: give a card to {left}"
    if phase == "award":
        return "Award the points to another seat"
    if phase == "play":
        return f"Play a card for {_points(observation['pot'])}"
    if phase == "lead":
        begins = "" if observation["history"] else f"Round {observation['round']}: "
        return f"{begins}{'l' if begins else 'L'}ead a single, a set or a straight"
    lead = next(action["cards"] for action in observation["trick"] if action["cards"])
    low = lead[-1]
    if len(lead) == 1:
        return f"Play a single of {low} or lower, or pass"
    if lead[0] == low:
        return f"Play a set of {low}s or lower, or pass"
    return f"Play a straight whose lowest card is {low} or lower, or pass"


def _points(pot: Sequence[int]) -> str:
    """Return the points of a pot in words."""
    return counted(sum(pot), "point")


def _thinking(names: Sequence[str]) -> str:
    """Return whom the match waits for, in words that fit the panel; "" if for nobody."""
    if len(names) > 2:
        return f"{len(names)} seats are thinking"
    if len(names) == 2:
        return f"{names[0]} and {names[1]} are thinking"
    return f"{names[0]} is thinking" if names else ""


def _exchange(phases: Sequence[SeatPhase], seat: int, names: Sequence[str]) -> str:
    """Return which cards the player gave and received, if that happened last; else ""."""
    last = phases[-1].events if phases else ()
    gifts = [event for event in last if isinstance(event, happened.CardGiven)]
    given = next((event for event in gifts if event.seat == seat), None)
    received = next((event for event in gifts if event.to == seat), None)
    if given is None or received is None or not isinstance(last[-1], happened.CardGiven):
        return ""
    return (
        f"You gave {_card(given.rank or 0)} to {names[given.to]} and received "
        f"{_card(received.rank or 0)} from {names[received.seat]}."
    )


def _news(phases: Sequence[SeatPhase], seat: int, names: Sequence[str]) -> list[str]:
    """Return sentences on what happened since the player's last move, that move included."""
    since = 0
    for at, phase in enumerate(phases):
        if any(isinstance(event, _OWN_MOVES) and event.seat == seat for event in phase.events):
            since = at
    sentences = sentences_of(phases, seat, names)
    return [text for of_phase in sentences[since:] for text in of_phase][-_MOST_SENTENCES:]


def sentences_of(phases: Sequence[SeatPhase], seat: int, names: Sequence[str]) -> list[list[str]]:
    """Return for each phase the sentences on its events, without the hands that others are dealt.

    The player's own pass names its trick: it is still to be read above the question of the next.
    """
    found = []
    trick = 0
    for phase in phases:
        of_phase = []
        for event, text in zip(phase.events, sentences_for(phase.events, names, seat), strict=True):
            match event:
                case happened.RoundDealt():
                    trick = 0
                case happened.CardsLed():
                    trick += 1
                case happened.SeatPassed(seat=own, forced=forced) if own == seat:
                    did = "could not play" if forced else "passed by choice"
                    text = f"Trick {trick}: you {did}."
            if isinstance(event, happened.MatchStarted):
                continue
            if isinstance(event, happened.HandDealt) and event.seat != seat:
                continue
            of_phase.append(text)
        found.append(of_phase)
    return found
