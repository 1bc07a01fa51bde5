"""A slow second opinion on both games, written from the rules document alone.

Nothing here is clever: hands are lists, every combination is tried, and the order of legal moves
comes from a sort. It imports nothing from the engine it judges.
"""

import hashlib
import hmac
import itertools
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, NoReturn

FORMAT = "twelfth-night/1"

# preset: (who takes a pot won by a Claus, days, decks, numbers of seats)
TWELVE_DAYS = {
    "calliope": ("award", 12, 1, range(3, 6)),
    "cheapass": ("keep", 12, 1, range(3, 6)),
    "eight-nights": ("none", 8, 1, range(3, 5)),
    "eight-players": ("award", 12, 2, range(3, 9)),
    "cheapass-eight-players": ("keep", 12, 2, range(3, 9)),
    "eight-nights-eight-players": ("none", 8, 2, range(3, 9)),
}
# preset: (rounds, gifts at the start, cards for a seat at tables of an unusual size, seats)
PARTRIDGE = {
    "eagle": (12, 0, {7: 11, 8: 9}, range(2, 9)),
    "eagle-short": (3, 1, {7: 11, 8: 9}, range(2, 9)),
    "mathpickle": (12, 0, {}, range(2, 7)),
    "mathpickle-short": (6, 0, {}, range(2, 7)),
}


def commitment(seed: bytes) -> str:
    return hashlib.sha256(seed).hexdigest()


def words(seed: bytes, k: int) -> Iterator[int]:
    for i in itertools.count():
        block = hashlib.sha256(seed + k.to_bytes(4, "big") + i.to_bytes(4, "big")).digest()
        for at in range(0, 32, 4):
            yield int.from_bytes(block[at : at + 4], "big")


def shuffle(cards: list[int], seed: bytes, k: int) -> list[int]:
    cards = sorted(cards)
    stream = words(seed, k)
    for j in range(len(cards) - 1, 0, -1):
        w = next(stream)
        while w >= 2**32 - 2**32 % (j + 1):
            w = next(stream)
        r = w % (j + 1)
        cards[j], cards[r] = cards[r], cards[j]
    return cards


def match_seed(seed: bytes, i: int) -> bytes:
    """The deal seed of match i of `simulate --seed`."""
    return hmac.digest(seed, f"deal/{i}".encode(), "sha256")


def fallback(seed: bytes, ply: int, legal: list[str]) -> str:
    digest = hmac.digest(seed, f"fallback/{ply}".encode(), "sha256")
    return legal[int.from_bytes(digest[:8], "big") % len(legal)]


def places_of(scores: list[int]) -> list[int]:
    return [1 + sum(other > score for other in scores) for score in scores]


class Match:
    """What the two games have in common."""

    game: str
    rules: str
    n: int
    seed: bytes
    phase: str
    hands: list[list[int]]
    scores: list[int] | None

    @property
    def over(self) -> bool:
        return self.phase == "over"

    @property
    def places(self) -> list[int] | None:
        return None if self.scores is None else places_of(self.scores)

    def turn(self) -> list[int]:
        """The seats that must still decide now, ascending."""
        raise NotImplementedError

    def legal(self, seat: int) -> list[str]:
        raise NotImplementedError

    def move(self, seat: int, text: str) -> None:
        raise NotImplementedError

    def observation(self, seat: int) -> dict[str, Any]:
        return {
            "game": self.game,
            "rules": self.rules,
            "seats": self.n,
            "seat": seat,
            "phase": self.phase,
            "hand": sorted(self.hands[seat]),
            "legal_moves": self.legal(seat),
            "scores": self.scores,
        }


class TwelveDays(Match):
    game = "twelve-days"

    def __init__(self, rules: str, seats: int, deal_seed: bytes) -> None:
        self.claus, self.days, decks, allowed = TWELVE_DAYS[rules]
        if seats not in allowed:
            raise ValueError(f"{rules} is not for {seats} seats")
        self.rules, self.n, self.seed = rules, seats, deal_seed
        cards = [rank for rank in range(1, self.days + 1) for _ in range(rank)]
        if self.days == 12:
            cards += [0, 0]
        self.deck = shuffle(cards * decks, deal_seed, 0)
        self.shuffles = 1
        self.hands = []
        for _ in range(seats):
            self.hands.append(self.deck[: self.days])
            self.deck = self.deck[self.days :]
        self.discards: list[int] = []
        self.day_cards: list[list[int]] = [[] for _ in range(seats)]
        self.history: list[dict[str, Any]] = []
        self.scores = None
        self.day = 1
        self.pot = [1]
        self.start_day()

    def start_day(self) -> None:
        self.phase = "give"
        self.chosen: dict[int, int] = {}
        self.given: list[int] | None = None
        self.received: list[int] | None = None
        self.plays: list[int] | None = None

    def turn(self) -> list[int]:
        if self.phase in ("give", "play"):
            return [s for s in range(self.n) if s not in self.chosen]
        return [self.winner()] if self.phase == "award" else []  # type: ignore[list-item]

    def winner(self) -> int | None:
        assert self.plays is not None
        lonely = [rank for rank in self.plays if self.plays.count(rank) == 1]
        return self.plays.index(min(lonely)) if lonely else None

    def legal(self, seat: int) -> list[str]:
        if seat not in self.turn():
            return []
        if self.phase == "award":
            return [f"award {s}" for s in range(self.n) if s != seat]
        return [f"{self.phase} {rank}" for rank in sorted(set(self.hands[seat]))]

    def move(self, seat: int, text: str) -> None:
        if text not in self.legal(seat):
            raise ValueError(f"seat {seat} cannot {text!r}")
        number = int(text.split()[1])
        if self.phase == "award":
            self.end_day(number)
            return
        self.chosen[seat] = number
        if self.turn():
            return
        cards = [self.chosen[s] for s in range(self.n)]
        self.chosen = {}
        for s in range(self.n):
            self.hands[s].remove(cards[s])
        if self.phase == "give":
            self.given = cards
            self.received = [cards[(s - 1) % self.n] for s in range(self.n)]
            for s in range(self.n):
                self.hands[s].append(self.received[s])
            self.phase = "play"
            return
        self.plays = cards
        winner = self.winner()
        if winner is not None and cards[winner] == 0 and self.claus == "award":
            self.phase = "award"
        else:
            self.end_day(winner)

    def end_day(self, to: int | None) -> None:
        assert self.plays is not None
        entry: dict[str, Any] = {
            "day": self.day,
            "pot": list(self.pot),
            "plays": self.plays,
            "winner": self.winner(),
            "to": to,
            "given": self.given,
            "received": self.received,
            "drawn": [],
        }
        if to is not None:
            self.day_cards[to] += self.pot
            self.pot = []
        self.discards += self.plays
        for s in range(self.n):
            if not self.deck:
                self.deck = shuffle(self.discards, self.seed, self.shuffles)
                self.shuffles += 1
                self.discards = []
            card = self.deck.pop(0)
            self.hands[s].append(card)
            entry["drawn"].append(card)
        self.history.append(entry)
        self.start_day()
        if self.day == self.days:
            self.phase = "over"
            self.scores = self.count()
        else:
            self.day += 1
            self.pot.append(self.day)

    def count(self) -> list[int]:
        scores = [sum(cards) for cards in self.day_cards]
        for rank in range(1, self.days + 1):
            most = max(hand.count(rank) for hand in self.hands)
            for s in range(self.n):
                if most > 0 and self.hands[s].count(rank) == most:
                    scores[s] += rank
        return scores

    def observation(self, seat: int) -> dict[str, Any]:
        hand = list(self.hands[seat])
        own = self.chosen.get(seat)
        if own is not None:
            hand.remove(own)
        given = own if self.phase == "give" else self.given and self.given[seat]
        played = own if self.phase == "play" else self.plays and self.plays[seat]
        private = ("given", "received", "drawn")
        return {
            **super().observation(seat),
            "hand": sorted(hand),
            "day": self.day,
            "pot": sorted(self.pot),
            "given": given,
            "received": self.received[seat] if self.received else None,
            "plays": self.plays,
            "played": played,
            "day_cards": [list(cards) for cards in self.day_cards],
            "deck": len(self.deck),
            "discards": sorted(self.discards),
            "history": [
                {key: value[seat] if key in private else value for key, value in entry.items()}
                for entry in self.history
            ],
        }


def kind(cards: list[int]) -> str:
    if len(cards) == 1:
        return "single"
    return "set" if len(set(cards)) == 1 else "straight"


# All that twelve ranks could ever form.
COMBINATIONS = (
    [[low] for low in range(1, 13)]
    + [[rank] * length for rank in range(1, 13) for length in range(2, 13)]
    + [list(range(low, high + 1)) for low in range(1, 13) for high in range(low + 1, 13)]
)

NEEDS = [(cards, [*Counter(cards).items()]) for cards in COMBINATIONS]


def move_order(cards: list[int]) -> tuple[int, int, int]:
    return ["single", "set", "straight"].index(kind(cards)), min(cards), len(cards)


@lru_cache(maxsize=100_000)  # a match asks for the same hand again and again
def held_in(hand: tuple[int, ...]) -> list[list[int]]:
    has = [hand.count(rank) for rank in range(13)]
    held = [cards for cards, need in NEEDS if all(has[rank] >= count for rank, count in need)]
    return sorted(held, key=move_order)


def play_text(cards: list[int]) -> str:
    return " ".join(["play", *map(str, sorted(cards, reverse=True))])


class Partridge(Match):
    game = "partridge"

    def __init__(self, rules: str, seats: int, deal_seed: bytes) -> None:
        self.rounds, start, unusual, allowed = PARTRIDGE[rules]
        if seats not in allowed:
            raise ValueError(f"{rules} is not for {seats} seats")
        self.rules, self.n, self.seed = rules, seats, deal_seed
        self.dealt = unusual.get(seats, 12)
        self.gifts = [start] * seats
        self.rounds_won: list[int] = []
        self.scores = None
        self.start_round(leader=0)

    def start_round(self, leader: int) -> None:
        deck = [rank for rank in range(1, 13) for _ in range(rank)]
        deck = shuffle(deck, self.seed, len(self.rounds_won))
        self.hands = [deck[s * self.dealt : (s + 1) * self.dealt] for s in range(self.n)]
        self.discards: list[int] = []
        self.history: list[dict[str, Any]] = []
        self.leader = leader
        self.phase = "lead"
        self.trick: list[tuple[int, list[int]]] = []

    def turn(self) -> list[int]:
        return [] if self.over else [(self.leader + len(self.trick)) % self.n]

    def legal(self, seat: int) -> list[str]:
        if seat not in self.turn():
            return []
        held = held_in(tuple(sorted(self.hands[seat])))
        if not self.trick:
            return [play_text(cards) for cards in held]
        led = self.trick[0][1]
        answers = [c for c in held if kind(c) == kind(led) and min(c) <= min(led)]
        return ["pass"] + [play_text(cards) for cards in answers]

    def move(self, seat: int, text: str) -> None:
        if text not in self.legal(seat):
            raise ValueError(f"seat {seat} cannot {text!r}")
        cards = [int(part) for part in text.split()[1:]]
        for card in cards:
            self.hands[seat].remove(card)
        self.trick.append((seat, cards))
        self.phase = "follow"
        if len(self.trick) == self.n:
            self.end_trick()

    def end_trick(self) -> None:
        lowest = min(min(cards) for _, cards in self.trick if cards)
        winner = [seat for seat, cards in self.trick if cards and min(cards) == lowest][-1]
        returned = []
        for seat, cards in self.trick:
            if cards and not self.hands[seat] and seat != winner:
                self.hands[seat] += cards
                returned.append(seat)
            else:
                self.discards += cards
        self.history.append(
            {
                "leader": self.leader,
                "actions": self.actions(),
                "winner": winner,
                "returned": sorted(returned),
            }
        )
        self.trick = []
        self.leader = winner
        self.phase = "lead"
        if not self.hands[winner]:
            self.end_round(winner)

    def end_round(self, winner: int) -> None:
        self.gifts[winner] += 1
        most = max(len(hand) for hand in self.hands)
        for seat in range(self.n):
            if seat != winner and len(self.hands[seat]) == most and self.gifts[seat] > 0:
                self.gifts[seat] -= 1
                self.gifts[winner] += 1
        self.rounds_won.append(winner)
        if len(self.rounds_won) == self.rounds:
            self.phase = "over"
            self.scores = list(self.gifts)
        else:
            self.start_round(leader=winner)

    def actions(self) -> list[dict[str, Any]]:
        return [{"seat": s, "cards": sorted(cards, reverse=True)} for s, cards in self.trick]

    def observation(self, seat: int) -> dict[str, Any]:
        return {
            **super().observation(seat),
            "round": min(len(self.rounds_won) + 1, self.rounds),
            "rounds": self.rounds,
            "gifts": list(self.gifts),
            "hand_sizes": [len(hand) for hand in self.hands],
            "leader": self.leader,
            "trick": self.actions(),
            "lead_low": min(self.trick[0][1]) if self.trick else None,
            "discards": sorted(self.discards),
            "history": list(self.history),
            "rounds_won": list(self.rounds_won),
        }


GAMES: dict[str, type[TwelveDays] | type[Partridge]] = {
    "twelve-days": TwelveDays,
    "partridge": Partridge,
}
PRESETS: dict[str, dict[str, Any]] = {"twelve-days": TWELVE_DAYS, "partridge": PARTRIDGE}
Policy = Callable[[list[str], int, int], str]


def simulate(game: str, rules: str, seats: int, deal_seed: bytes, policy: Policy) -> dict[str, Any]:
    match = GAMES[game](rules, seats, deal_seed)
    moves: list[list[Any]] = []
    while not match.over:
        seat = match.turn()[0]
        text = policy(match.legal(seat), seat, len(moves))
        match.move(seat, text)
        moves.append([seat, text])
    return {
        "format": FORMAT,
        "game": game,
        "rules": rules,
        "seats": seats,
        "deal_seed": deal_seed.hex(),
        "moves": moves,
        "scores": match.scores,
        "places": match.places,
    }


def replay(record: dict[str, Any], ply: int) -> Match:
    """The match of a valid record as it stands just before a ply."""
    seed = bytes.fromhex(record["deal_seed"])
    match = GAMES[record["game"]](record["rules"], record["seats"], seed)
    for seat, text in record["moves"][:ply]:
        match.move(seat, text)
    return match


class Refused(Exception):  # noqa: N818 - a verdict, not a failure
    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def quote(value: object) -> str:
    """What a stranger wrote, as short ASCII without line breaks."""
    text = ascii(value) if isinstance(value, str) else type(value).__name__
    return text if len(text) <= 60 else text[:57] + "..."


def parse(line: bytes) -> dict[str, Any]:
    twice: list[str] = []

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        counts = Counter(key for key, _ in items)
        twice.extend(key for key in counts if counts[key] > 1)
        return dict(items)

    def constant(name: str) -> NoReturn:
        raise ValueError(f"{name} is not JSON")

    try:
        # Python refuses to read thousands of digits; the first 600 are as wrong as all of them.
        record = json.loads(
            line.decode("utf-8", "strict"),
            object_pairs_hook=pairs,
            parse_constant=constant,
            parse_int=lambda digits: int(digits[:600]),
        )
    except UnicodeDecodeError:
        raise Refused("not UTF-8") from None
    except (ValueError, RecursionError) as error:
        raise Refused(f"not JSON: {quote(str(error))}") from None
    if not isinstance(record, dict):
        raise Refused("not an object")
    if "format" in record and record["format"] != FORMAT:
        raise Refused(f"unknown format {quote(record['format'])}")
    if twice:
        raise Refused(f"key {quote(twice[0])} appears twice in an object")
    return record


def need(condition: bool, reason: str) -> None:
    if not condition:
        raise Refused(reason)


def need_keys(value: Any, required: set[str], optional: set[str], what: str) -> None:
    need(isinstance(value, dict), f"{what} is not an object")
    for key in sorted(required):
        need(key in value, f"{what} lacks {key!r}")
    for key in value:
        need(key in required | optional, f"{what} has an unknown key {quote(key)}")


def is_int(value: Any) -> bool:
    return type(value) is int  # bool is a subclass, and not meant


def check_shape(record: dict[str, Any]) -> None:
    required = {"format", "game", "rules", "seats", "deal_seed", "moves", "scores", "places"}
    need_keys(record, required, {"players", "faults"}, "the record")
    for key in ("game", "rules", "deal_seed"):
        need(isinstance(record[key], str), f"{key} is not a text")
    need(is_int(record["seats"]), "seats is not an integer")
    need(record["game"] in PRESETS, f"unknown game {quote(record['game'])}")
    presets = PRESETS[record["game"]]
    need(record["rules"] in presets, f"unknown preset {quote(record['rules'])}")
    need(record["seats"] in presets[record["rules"]][-1], "the preset refuses so many seats")
    hexadecimal = re.fullmatch("[0-9a-f]{64}", record["deal_seed"])
    need(hexadecimal is not None, "deal_seed is not 64 lowercase hex digits")
    for key in ("moves", "scores", "places"):
        need(isinstance(record[key], list), f"{key} is not a list")
    for move in record["moves"]:
        pair = isinstance(move, list) and len(move) == 2
        need(pair and is_int(move[0]) and isinstance(move[1], str), "a move is not [seat, text]")
    for key in ("scores", "places"):
        need(all(map(is_int, record[key])), f"{key} holds something else than integers")
    players = record.get("players", [""] * record["seats"])
    need(isinstance(players, list), "players is not a list")
    need(all(isinstance(name, str) for name in players), "a player's name is not a text")
    need(len(players) == record["seats"], "players does not name one player a seat")
    need(isinstance(record.get("faults", []), list), "faults is not a list")
    for fault in record.get("faults", []):
        need_keys(fault, {"ply", "seat", "kind"}, set(), "a fault")
        need(is_int(fault["ply"]) and is_int(fault["seat"]), "a fault's number is not an integer")
        need(isinstance(fault["kind"], str), "a fault's kind is not a text")


def verify(line: bytes) -> tuple[int | None, str] | None:
    """None if the line holds a valid record, else the first offending ply, if any, and why not."""
    try:
        record = parse(line)
        check_shape(record)
    except Refused as refused:
        return None, refused.reason
    offences = fault_list_offences(record) + replay_offences(record)
    if offences:
        return min(offences, key=lambda offence: offence[0])
    match = replay(record, len(record["moves"]))
    for key, right in (("scores", match.scores), ("places", match.places)):
        if record[key] != right:
            return None, f"{key} should be {right}"
    return None


def fault_list_offences(record: dict[str, Any]) -> list[tuple[int, str]]:
    """What is wrong with the list of faults whatever the match was like."""
    found: list[tuple[int, str]] = []
    before: int | None = None
    for fault in record.get("faults", []):
        ply = fault["ply"]
        if not 0 <= ply < len(record["moves"]):
            found.append((ply, "a fault at a ply that is not there"))
        elif before is not None and ply <= before:
            found.append((ply, "faults do not ascend by ply"))
        elif fault["kind"] not in ("timeout", "illegal", "crash", "forfeit"):
            found.append((ply, f"unknown kind of fault {quote(fault['kind'])}"))
        elif fault["seat"] != record["moves"][ply][0]:
            found.append((ply, "a fault of a seat that did not move"))
        before = ply
    return found


def replay_offences(record: dict[str, Any]) -> list[tuple[int, str]]:
    """The first thing wrong with the moves, or with a fault in the light of the moves."""
    match = replay(record, 0)
    faults = {fault["ply"]: fault["kind"] for fault in record.get("faults", [])}
    forfeited: set[int] = set()
    for ply, (seat, text) in enumerate(record["moves"]):
        if match.over:
            return [(ply, "the moves go on after the match is over")]
        if seat != match.turn()[0]:
            return [(ply, "out of turn")]
        legal = match.legal(seat)
        if text not in legal:
            return [(ply, f"{quote(text)} is not legal")]
        if ply in faults:
            if len(legal) == 1:
                return [(ply, "a fault where there was no choice")]
            if text != fallback(match.seed, ply, legal):
                return [(ply, "the move of a fault is not the fallback")]
            if faults[ply] == "forfeit":
                forfeited.add(seat)
        if seat in forfeited and len(legal) > 1 and faults.get(ply) != "forfeit":
            return [(ply, "a choice of a seat that had forfeited")]
        match.move(seat, text)
    return [] if match.over else [(len(record["moves"]), "the moves stop early")]
