"""The description of a match's event stream in the OpenAPI schema."""

from dataclasses import fields

from engine.games.events import KINDS, Event

_INTRODUCTION = (
    "Watch a match as server-sent events.",
    "An event `phase` comes for the deal and after each phase. Its id is the number of moves so "
    "far. Its data is the public view after the phase, with three lists: `events`, what happened "
    "in it; `sentences`, a sentence for each of these events with the names of the bots; and "
    "`to_act`, the seats that decide next. "
    "The last event is `end`, with `status` and, for a finished match, `scores` and `places` by "
    "seat.",
    "The stream of a finished match begins at its start and has the same events. If other matches "
    "use the same deal, the stream stays empty until they are finished.",
    "Each item of `events` is an object with `kind` and the fields below. `seat` is the seat that "
    "acts, draws or wins; `to` is the seat that receives. Secret fields are null.",
)


def describe_match_events() -> str:
    """Return the description: paragraphs, then one line for each kind of event."""
    kinds = (_line(kind, event) for kind, event in KINDS.items())
    return "\n\n".join([*_INTRODUCTION, *kinds])


def _line(kind: str, event: type[Event]) -> str:
    names = ", ".join(
        f"`{field.name}`{' (secret)' if field.name in event.secrets else ''}"
        for field in fields(event)
    )
    return f"`{kind}`: {names}."
