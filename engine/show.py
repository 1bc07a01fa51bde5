"""A match as text: one line a day or a trick, good enough to follow in a terminal."""

from collections.abc import Iterator

from engine.deals import commitment
from engine.games.partridge import Partridge
from engine.games.twelve_days import TwelveDays
from engine.record import Record, verify


def render(record: Record) -> Iterator[str]:
    """Yield the lines that tell a match.

    Raises:
        RecordError: the record does not verify.
    """
    end = verify(record)
    players = record.players or tuple(f"seat {seat}" for seat in range(record.seats))
    yield f"{record.game}, {record.rules}, {record.seats} seats"
    yield f"deal seed {record.deal_seed.hex()}, commitment {commitment(record.deal_seed)}"
    for seat, name in enumerate(players):
        yield f"seat {seat}: {ascii(name)[1:-1]}"
    yield ""
    yield from _days(end) if isinstance(end, TwelveDays) else _tricks(record)
    if record.faults:
        yield ""
    for fault in record.faults:
        move = record.moves[fault.ply][1]
        yield f"ply {fault.ply}: {fault.kind} of seat {fault.seat}, the referee played {move!r}"
    yield ""
    for seat, (score, place) in enumerate(zip(record.scores, record.places, strict=True)):
        yield f"seat {seat}: {score:3} points, place {place}  {ascii(players[seat])[1:-1]}"


def _days(end: TwelveDays) -> Iterator[str]:
    """Yield a line a day; gives, plays and draws are by seat, the winning card has a star."""
    width = 3 * end.seats
    yield f"day  pot  {'gives':{width}}   {'plays':{width}}    {'draws':{width}}  won by"
    for day in end.history:
        plays = [
            f"{rank:2}{'*' if seat == day.winner else ' '}" for seat, rank in enumerate(day.plays)
        ]
        won = "nobody, it carries over" if day.day < end.rules.days else "nobody"
        if day.winner is not None:
            won = f"seat {day.winner}"
            if day.to != day.winner:
                won += f", awarded to seat {day.to}"
        yield (
            f"{day.day:3}  {sum(day.pot):3}  {_row(day.gives)}   {''.join(plays)}    "
            f"{_row(day.draws)}  {won}"
        )
    yield ""
    yield "hands at the end"
    for seat, hand in enumerate(end.spectate()["hands"]):
        yield f"seat {seat}: {' '.join(map(str, hand))}"


def _row(ranks: tuple[int | None, ...]) -> str:
    return "".join(f"{'?' if rank is None else rank:>2} " for rank in ranks)


def _tricks(record: Record) -> Iterator[str]:
    """Yield a line a trick, the leader first; a star marks the winner, a plus cards taken back."""
    state = record.start()
    assert isinstance(state, Partridge)
    number = 0
    plays: list[tuple[int, str]] = []
    sizes = state.observe(0)["hand_sizes"]
    for seat, text in record.moves:
        if state.phase == "lead":
            if not state.observe(0)["history"]:
                number = 0
                yield f"round {state.round}"
                for owner in range(record.seats):
                    yield f"  seat {owner} holds {' '.join(map(str, state.observe(owner)['hand']))}"
            number += 1
            sizes = state.observe(0)["hand_sizes"]
            plays = []
        before = state.round
        plays.append((seat, text.removeprefix("play ")))
        sizes[seat] -= len(text.split()) - 1
        state.step_unchecked({seat: state.moves.ids[text]})
        if state.phase == "follow":
            continue
        told = [
            f"{by}: {cards}{'*' if by == state.leader else '' if sizes[by] else '+'}"
            for by, cards in plays
        ]
        yield f"  {number:3}. {' | '.join(told)}"
        if state.round > before or state.is_over:
            gifts = " ".join(map(str, state.gifts))
            yield f"  seat {state.leader} wins the round; gifts are now {gifts}"
