"""What the page of a table of players shows: the seats, the table, the moves in words."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from django.utils import timezone

from engine.games import events as happened
from engine.games.events import Event
from engine.sentences import as_sentence
from league import play
from league.models import Bot, Match, MatchSeat, SeatedPlayer
from league.play.hints import Hint, hint
from web.table.build import build
from web.table.steps import Phase, SeatStep, Step

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
            "Equal cards cancel each other; the lowest card that is left wins the day’s points. A "
            "Claus (0) must award them to another seat.",
            "After the last day, each seat with the most cards of a rank scores that rank.",
        ],
    ),
    "partridge": (
        "12 Days of Christmas",
        [
            "Get rid of all your cards first: each round won is a gift, and most gifts win.",
            "The leader plays a single, a set (9 9) or a straight (9 8 7); you pass or play the "
            "same kind, with a lowest card that is no higher than the leader’s lowest.",
            "The lowest card wins the trick and leads next; your last cards come back if they "
            "lose.",
        ],
    ),
}
"""A name of each game, and how it goes in three sentences."""


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


@dataclass
class SeatPanel:
    """A seat as the page shows it.

    Attributes:
        seat: its number.
        name: the player's nickname or the bot's name.
        is_bot: whether a bot sits there.
        is_own: whether it is the visitor's.
        points: so far.
        extra: such as the number of cards in hand.
        thinks: whether the match waits for it.
        left: the house bot that plays on for a player who left; empty otherwise.
    """

    seat: int
    name: str
    is_bot: bool
    is_own: bool
    points: int
    extra: str = ""
    thinks: bool = False
    left: str = ""


def seat_names(match: Match) -> list[str]:
    """Return nicknames of players and names of bots, by seat."""
    nicknames = dict(
        SeatedPlayer.objects.filter(table=match.table_id).values_list("bot", "nickname")
    )
    seats = match.seating.select_related("bot").order_by("seat")
    return [nicknames.get(seat.bot_id, seat.bot.name) for seat in seats]


def playing(match: Match, seat: MatchSeat, *, wants_hint: bool) -> dict[str, Any] | None:
    """Return the context of a match in play for the player of a seat, None if it is over."""
    view = play.seat_view(match, seat, timezone.now())
    if view is None:
        return None
    names = seat_names(match)
    steps = build([Phase(events) for events in view.phases], names)
    step, before = steps.step, (steps.done[-1] if steps.done else None)
    if step is not None:
        steps.describe_decision()
    observation = view.observation
    is_turn = view.turn is not None
    choices = _choices(observation, names) if is_turn else []
    shown: Hint | None = hint(observation) if is_turn and wants_hint else None
    return {
        "names": names,
        "panels": _panels(match, seat, names, step or before, view.undecided, observation),
        "step": step,
        "before": before if step is not None and not step.table else None,
        "news": _news(view.phases, seat.seat, names),
        "turn": view.turn,
        "observation": observation,
        "choices": choices,
        "hand": _hand(observation, choices),
        "is_combined": match.game == "partridge",
        "hint": shown,
        "hint_words": next((c.words for c in choices if shown and c.text == shown.move), ""),
        "question": _question(observation, names) if is_turn else "",
        "has_left": play.has_left(match, seat),
    }


def finished(match: Match, seat: MatchSeat) -> dict[str, Any]:
    """Return the context of a finished match: the result of each seat, the best first."""
    names = seat_names(match)
    seats = list(match.seating.select_related("bot", "substitute").order_by("place", "seat"))
    results = [
        {
            "name": names[each.seat],
            "place": each.place,
            "score": each.score,
            "is_own": each.pk == seat.pk,
            "left": each.substitute.name if each.substitute and play.has_left(match, each) else "",
        }
        for each in seats
    ]
    winners = sum(each.place == 1 for each in seats)
    headline = f"You are in place {seat.place} of {match.seats}"
    if play.has_left(match, seat):
        headline = f"Your seat is in place {seat.place} of {match.seats}"
    elif seat.place == 1:
        headline = "You win!" if winners == 1 else "You share first place!"
    ending = [
        as_sentence(event, names)
        for event in play.final_phases(match)[-1]
        if not isinstance(event, happened.HandShown | happened.MatchOver)
    ]
    return {"results": results, "headline": headline, "ending": ending}


def _panels(
    match: Match,
    own: MatchSeat,
    names: Sequence[str],
    step: Step | None,
    undecided: Sequence[int],
    observation: dict[str, Any],
) -> list[SeatPanel]:
    shown: dict[int, SeatStep] = {each.seat: each for each in step.seats} if step else {}
    seats = match.seating.select_related("bot", "substitute").order_by("seat")
    panels = [
        SeatPanel(
            seat.seat,
            names[seat.seat],
            seat.bot.kind != Bot.Kind.PLAYER,
            seat.pk == own.pk,
            shown[seat.seat].points if seat.seat in shown else 0,
            shown[seat.seat].extra if seat.seat in shown else "",
            seat.seat in undecided,
            seat.substitute.name if seat.substitute and play.has_left(match, seat) else "",
        )
        for seat in seats
    ]
    at = own.seat  # the others clockwise from the left neighbour, as they sit around the table
    return [*panels[at + 1 :], *panels[:at], panels[at]]


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
        return f"Give a card to {names[(seat + 1) % len(names)]}, your left neighbour"
    if phase == "award":
        return "Award the points to another seat"
    if phase == "play":
        points = sum(observation["pot"])
        return f"Play a card for {points} point{'' if points == 1 else 's'}"
    if phase == "lead":
        return "Lead a single, a set or a straight"
    lead = next(action["cards"] for action in observation["trick"] if action["cards"])
    kind = "single" if len(lead) == 1 else "set" if lead[0] == lead[-1] else "straight"
    return f"Play a {kind} with a lowest card of {lead[-1]} or less, or pass"


def _news(phases: Sequence[Sequence[Event]], seat: int, names: Sequence[str]) -> list[str]:
    """Return sentences on what happened since the player's last move, that move included."""
    since = 0
    for at, events in enumerate(phases):
        if any(isinstance(e, _OWN_MOVES) and e.seat == seat for e in events):
            since = at
    sentences = [
        as_sentence(event, names)
        for events in phases[since:]
        for event in events
        if not isinstance(event, happened.MatchStarted)
        and not (isinstance(event, happened.HandDealt) and event.seat != seat)
    ]
    return sentences[-_MOST_SENTENCES:]
