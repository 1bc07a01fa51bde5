"""The descriptions of the event streams of matches in the OpenAPI schema."""

from dataclasses import fields

from engine.games.events import KINDS, Event

_INTRODUCTION = (
    "Watch a match as server-sent events.",
    "An event `phase` comes for the deal and after each phase. Its id is the number of moves so "
    "far. Its data is the public view after the phase, with `match`, `ply` and three lists: "
    "`events`, what happened in it; `sentences`, a sentence for each of these events with the "
    "names of the players; and `to_act`, the seats that decide next. "
    "The last event is `end`, with `match`, `status` and, for a finished match, `scores` and "
    "`places` by seat.",
    "While a match is in play, an event `clock` without an id comes when the match's clock "
    "changes. Its data is `match`, `to_act`, `deadline` and `remaining_ms`. The phase "
    "ends at the time `deadline` at the latest; `remaining_ms` is the time until then in "
    "milliseconds. Both are null if no seat has a clock.",
    "The stream of a finished match begins at its start and has the same events. If other matches "
    "use the same deal, the stream stays empty until they are finished.",
    "Each item of `events` is an object with `kind` and the fields below. `seat` is the seat that "
    "acts, draws or wins; `to` is the seat that receives. Secret fields are null.",
)

_SEVERAL = (
    "Watch 1 to 12 matches in one stream of server-sent events. The events are those of "
    "`GET matches/{match_id}/events`; the events of each match come in order. Matches that do not "
    "exist are left out; if none exists, the answer is the problem `not-found`.",
    "The id of an event contains, for each match, the id of its last event: `7:12,9:end`. To "
    "continue, send it as the header `Last-Event-ID`. A browser can't set this header on a new "
    "stream, for example to watch another match as well; then send the id as `after`. Matches "
    "that `after` does not contain begin at their start. The stream ends after the last match.",
)


def describe_several_matches() -> str:
    """Return the description of the stream of several matches."""
    return "\n\n".join(_SEVERAL)


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
