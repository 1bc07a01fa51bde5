"""The events that a viewer of a match can derive, from views and public plays alone.

This is a second implementation, independent of the engine's events: anything that the engine
reports beyond it is a leak.
"""

from typing import Any

View = dict[str, Any]
"""An observation of a seat, or what the public sees."""


def expected_deal(view: View, viewer: int | None) -> list[dict[str, Any]]:
    """Return the events of the deal as a viewer sees them."""
    table = [{"kind": "match_started", **{key: view[key] for key in ("game", "rules", "seats")}}]
    if view["game"] == "twelve-days":
        size = 8 if "nights" in view["rules"] else 12
        return [*table, *_hands(view, viewer, [size] * view["seats"]), _day_started(view)]
    gifts = [seat for seat, count in enumerate(view["gifts"]) for _ in range(count)]
    return [*table, *[_gift(None, seat, None) for seat in gifts], *_round_dealt(view, viewer)]


def expected_phase(
    before: View, after: View, public: View, viewer: int | None, play: list[int] | None
) -> list[dict[str, Any]]:
    """Return the events of a phase as a viewer sees them.

    Args:
        before: the viewer's view before the phase.
        after: the viewer's view after it.
        public: the public's view after it.
        viewer: the seat, or None for the public.
        play: in ``partridge``, the cards played; empty for a pass.
    """
    if play is not None:
        return [*_trick(before, after, viewer, play), *_over(public)]
    if before["phase"] == "give":
        return [_given(after, giver, viewer) for giver in range(after["seats"])]
    return [*_plays(before, after), *_end_of_day(before, after, viewer), *_over(public)]


def _given(after: View, giver: int, viewer: int | None) -> dict[str, Any]:
    to = (giver + 1) % after["seats"]
    rank = {giver: after.get("given"), to: after.get("received")}.get(
        -1 if viewer is None else viewer
    )
    return {"kind": "card_given", "seat": giver, "to": to, "rank": rank}


def _plays(before: View, after: View) -> list[dict[str, Any]]:
    if before["phase"] != "play":
        return []
    must_award = after["phase"] == "award"
    plays = after["plays"] if must_award else after["history"][-1]["plays"]
    stake = {"pot": before["pot"], "points": sum(before["pot"])}
    cancelled = sorted(rank for rank in plays if plays.count(rank) > 1)
    result = {"day": before["day"], "cancelled": cancelled, **stake}
    alone = sorted(rank for rank in plays if plays.count(rank) == 1)
    if alone:
        winner = plays.index(alone[0])
        to = None if must_award else winner
        result |= {"kind": "day_won", "seat": winner, "rank": alone[0], "to": to}
    else:
        result["kind"] = "pot_lost" if after["phase"] == "over" else "day_carried"
    shown = [{"kind": "card_played", "seat": s, "rank": rank} for s, rank in enumerate(plays)]
    return [*shown, result]


def _end_of_day(before: View, after: View, viewer: int | None) -> list[dict[str, Any]]:
    if after["phase"] == "award":
        return []
    found = []
    day = after["history"][-1]
    if before["phase"] == "award":
        stake = {"pot": before["pot"], "points": sum(before["pot"])}
        award = {"kind": "pot_awarded", "day": day["day"], "seat": day["winner"], "to": day["to"]}
        found.append({**award, **stake})
    for seat in range(after["seats"]):
        if seat == before["deck"]:
            # In the phase award, the plays are not among the discards yet.
            count = len(before["discards"]) + after["seats"]
            found.append({"kind": "discards_reshuffled", "cards": count})
        rank = day["drawn"] if seat == viewer else None
        found.append({"kind": "card_drawn", "seat": seat, "rank": rank})
    return found if after["phase"] == "over" else [*found, _day_started(after)]


def _day_started(view: View) -> dict[str, Any]:
    stake = {"pot": view["pot"], "points": sum(view["pot"])}
    return {"kind": "day_started", "day": view["day"], **stake}


def _trick(before: View, after: View, viewer: int | None, play: list[int]) -> list[dict[str, Any]]:
    seats = before["seats"]
    seat = (before["leader"] + len(before["trick"])) % seats
    # Only the seat itself sees whether it could have played.
    forced = before["legal_moves"] == ["pass"] if seat == viewer else None
    acted: dict[str, Any] = {"kind": "seat_passed", "seat": seat, "forced": forced}
    if play:
        acted = {"kind": "cards_followed", "seat": seat, "cards": play, "low": min(play)}
    if before["phase"] == "lead":
        name = "single" if len(play) == 1 else "set" if len(set(play)) == 1 else "straight"
        acted |= {"kind": "cards_led", "combination": name}
    actions = [*before["trick"], {"seat": seat, "cards": play}]
    if len(actions) < seats:
        return [acted]
    sizes = list(before["hand_sizes"])
    sizes[seat] -= len(play)
    low = min(min(action["cards"]) for action in actions if action["cards"])
    *tied, winner = [a["seat"] for a in actions if low in a["cards"] and min(a["cards"]) == low]
    found = [acted, {"kind": "trick_won", "seat": winner, "low": low, "tied": tied}]
    for action in actions:
        if not sizes[action["seat"]] and action["seat"] != winner:
            sizes[action["seat"]] = len(action["cards"])
            found.append({"kind": "cards_returned", **action})
    if sizes[winner]:
        return found
    found.append({"kind": "round_won", "round": before["round"], "seat": winner})
    found.append(_gift(None, winner, None))
    for other in range(seats):
        if sizes[other] == max(sizes):
            if after["gifts"][other] < before["gifts"][other]:
                found.append(_gift(other, winner, sizes[other]))
            else:
                poor = {"kind": "gift_missing", "seat": other, "to": winner}
                found.append({**poor, "hand_size": sizes[other]})
    return found if after["phase"] == "over" else [*found, *_round_dealt(after, viewer)]


def _round_dealt(view: View, viewer: int | None) -> list[dict[str, Any]]:
    start = {"kind": "round_dealt", "round": view["round"], "leader": view["leader"]}
    return [start, *_hands(view, viewer, view["hand_sizes"])]


def _hands(view: View, viewer: int | None, sizes: list[int]) -> list[dict[str, Any]]:
    return [
        {
            "kind": "hand_dealt",
            "seat": seat,
            "hand_size": size,
            "cards": view["hand"] if seat == viewer else None,
        }
        for seat, size in enumerate(sizes)
    ]


def _gift(giver: int | None, to: int, hand_size: int | None) -> dict[str, Any]:
    return {"kind": "gift_moved", "giver": giver, "to": to, "hand_size": hand_size}


def _over(public: View) -> list[dict[str, Any]]:
    """Return the events of the end, when the public sees the hands."""
    if public["phase"] != "over":
        return []
    hands, scores = public["hands"], public["scores"]
    found = [{"kind": "hand_shown", "seat": s, "cards": hand} for s, hand in enumerate(hands)]
    for rank in range(1, 13) if public["game"] == "twelve-days" else ():
        counts = [hand.count(rank) for hand in hands]
        if most := max(counts):
            holders = [seat for seat, count in enumerate(counts) if count == most]
            scored = {"kind": "rank_scored", "rank": rank, "seats": holders}
            found.append({**scored, "count": most, "points": rank})
    if public["game"] == "twelve-days":
        found += [_counted(seat, hands) for seat in range(len(hands))]
    places = [1 + sum(other > score for other in scores) for score in scores]
    return [*found, {"kind": "match_over", "scores": scores, "places": places}]


def _counted(seat: int, hands: list[list[int]]) -> dict[str, Any]:
    most, tied = [], []
    for rank in range(12, 0, -1):
        own = hands[seat].count(rank)
        others = max(hand.count(rank) for at, hand in enumerate(hands) if at != seat)
        if own > others:
            most.append(rank)
        elif own and own == others:
            tied.append(rank)
    points = sum(most) + sum(tied)
    return {"kind": "hand_counted", "seat": seat, "most": most, "tied": tied, "points": points}
