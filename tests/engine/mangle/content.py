"""Records with broken content: moves, faults, results and format."""

import random
from collections.abc import Iterator

from tests.engine import naive
from tests.engine.mangle.editing import KINDS, Pair, Record, dump, put, put_text, without


def move_lists(full: Record, rng: random.Random) -> Iterator[Pair]:
    moves = full["moves"]
    bare = {key: value for key, value in full.items() if key != "faults"}
    for base, what in ((full, "with faults"), (bare, "without faults")):
        for count in (0, 1, 2, len(moves) // 2, len(moves) - 1, rng.randrange(len(moves))):
            yield f"first {count} moves, {what}", dump({**base, "moves": moves[:count]})
        for extra in ([0, "pass"], [0, "give 1"], moves[-1], [-1, "x"], [99, "play 1"], [0, ""]):
            yield f"then {extra}, {what}", dump({**base, "moves": [*moves, extra]})
        yield f"played twice, {what}", dump({**base, "moves": moves * 2})
        for _ in range(4):
            i, j = sorted(rng.sample(range(len(moves)), 2))
            swapped = [*moves[:i], moves[j], *moves[i + 1 : j], moves[i], *moves[j + 1 :]]
            yield f"{i} and {j} swapped, {what}", dump({**base, "moves": swapped})
            i = rng.randrange(len(moves) - 1)
            swapped = [*moves[:i], moves[i + 1], moves[i], *moves[i + 2 :]]
            yield f"{i} and the next swapped, {what}", dump({**base, "moves": swapped})
            yield f"{i} missing, {what}", dump({**base, "moves": moves[:i] + moves[i + 1 :]})
            yield f"{i} doubled, {what}", dump({**base, "moves": moves[: i + 1] + moves[i:]})
    i = rng.randrange(len(moves))
    seat, text = moves[i]
    for move in (
        *([], [seat], [seat, text, 0], [text, seat], [[seat, text]], f"{seat} {text}", None),
        *({"seat": seat, "text": text}, [seat, [text]], [seat, None], [None, text], [seat, 7]),
        *([str(seat), text], [float(seat), text], [bool(seat), text]),
    ):
        yield f"move {i} is {move!r}", dump(put(full, ("moves", i), move))
    yield "a malformed move after the end", dump({**full, "moves": [*moves, [0]]})
    yield "moves by ply", dump({**full, "moves": dict(enumerate(moves))})
    yield "many moves", dump({**full, "moves": moves + [[0, "pass"]] * 50_000})


def move_texts(full: Record, rng: random.Random) -> Iterator[Pair]:
    moves = full["moves"]
    plies = {0, len(moves) - 1, *rng.sample(range(len(moves)), 2)}
    for verb in ("give", "play", "award", "pass"):
        plies.update([ply for ply, (_, text) in enumerate(moves) if text.startswith(verb)][:1])
    long = [ply for ply, (_, text) in enumerate(moves) if len(set(text.split()[1:])) > 1]
    plies.update(rng.sample(long, min(2, len(long))))
    for ply in sorted(plies):
        seat, text = moves[ply]
        verb, *cards = text.split()
        mixed = rng.sample(cards, len(cards))
        for other in (
            *(" ".join([verb, *reversed(cards)]), " ".join([verb, *mixed]), verb, " ".join(cards)),
            *(text.replace(" ", "  ", 1), text.replace(" ", "\t"), text.replace(" ", "\u00a0")),
            *(f" {text}", f"{text} ", f"{text}\n", f"{text}\r", f"\n{text}", f"{text}\0", "", " "),
            *(text.upper(), text.capitalize(), f"{text},", ",".join([verb, *cards]), f"{text} 1"),
            *(" ".join([verb, *(f"{sign}{card}" for card in cards)]) for sign in "0+-_"),
            *(" ".join([verb, *(f"{card}.0" for card in cards)]), f"{text}0", f"{text}_0"),
            *(
                "".join(chr(ord(c) + zero) if c.isdigit() else c for c in text)
                for zero in (1584, 65248)
            ),
            *(f"{text}²", f"{verb} {10**50}", f"{verb} {'9' * 5000}", f"{verb} -1", f"{verb} 13"),
            *(f"{text} {text}", text.replace("a", "\u0430"), f"{text}\u200b", f"\ufeff{text}"),
            *("give", "play", "pass", "award", "pass 1", "resign", "award 0", f"award {seat}"),
            *(
                f"{text}\u2028x",
                f"{text}\ud800",
                f"{verb} " + "7" * 10**6,
                f"{verb} " + "7 " * 10**5,
            ),
            *(" ".join([verb, *cards, *cards]), " ".join(["play", "1", *cards]), "play 1 1"),
        ):
            yield f"ply {ply}: {other[:24]!r}", dump(put(full, ("moves", ply, 1), other))
        legal = naive.replay(full, ply).legal(seat)
        for other in rng.sample(legal, min(3, len(legal))):
            yield f"ply {ply}: legal {other!r}", dump(put(full, ("moves", ply, 1), other))
        every = [f"{word} {rank}" for word in ("give", "play", "award") for rank in range(14)]
        for other in rng.sample(sorted(set(every) - set(legal)), 4):
            yield f"ply {ply}: illegal {other!r}", dump(put(full, ("moves", ply, 1), other))


def seats_out_of_turn(full: Record, rng: random.Random) -> Iterator[Pair]:
    moves, n = full["moves"], full["seats"]
    for ply in (0, len(moves) - 1, *rng.sample(range(len(moves)), 2)):
        seat = moves[ply][0]
        for other in (
            -1,
            n,
            99,
            10**50,
            -(10**50),
            seat - n,
            seat + n,
            (seat + 1) % n,
            (seat - 1) % n,
        ):
            yield f"ply {ply} by seat {other}", dump(put(full, ("moves", ply, 0), other))


def faults_broken(full: Record, rng: random.Random) -> Iterator[Pair]:
    moves, faults, n = full["moves"], full["faults"], full["seats"]
    at = rng.randrange(len(faults))
    fault = faults[at]
    for kind in (*KINDS, "", "Timeout", "timeout ", "lag", "t\nx", "\ud800", "k" * 10**6):
        yield f"kind {kind[:20]!r}", dump(put(full, ("faults", at, "kind"), kind))
    for seat in (-1, n, 10**50, (fault["seat"] + 1) % n, fault["seat"] - n):
        yield f"fault of seat {seat}", dump(put(full, ("faults", at, "seat"), seat))
    for ply in (-1, -(10**50), 0, len(moves) - 1, len(moves), len(moves) + 7, 10**50):
        last = {**fault, "ply": ply}
        yield f"fault moved to ply {ply}", dump(put(full, ("faults", at, "ply"), ply))
        yield f"a last fault at ply {ply}", dump({**full, "faults": [*faults, last]})
        yield f"a first fault at ply {ply}", dump({**full, "faults": [last, *faults]})
        cut = {**full, "faults": [*faults, last], "moves": moves[: len(moves) // 2]}
        yield f"a last fault at ply {ply}, and stopped early", dump(cut)
    yield "a fault gone", dump(without(full, ("faults", at)))
    yield "faults backwards", dump({**full, "faults": faults[::-1]})
    yield "same fault twice", dump({**full, "faults": [*faults[: at + 1], *faults[at:]]})
    other = {**fault, "kind": rng.choice(KINDS)}
    yield (
        "two faults at a ply",
        dump({**full, "faults": [*faults[: at + 1], other, *faults[at + 1 :]]}),
    )
    if len(faults) > 1:
        i = rng.randrange(len(faults) - 1)
        swapped = [*faults[:i], faults[i + 1], faults[i], *faults[i + 2 :]]
        yield f"faults {i} and next swapped", dump({**full, "faults": swapped})
    yield "faults by ply", dump({**full, "faults": {str(f["ply"]): f["kind"] for f in faults}})
    yield "a fault as a list", dump(put(full, ("faults", at), list(fault.values())))
    yield (
        "a malformed fault after an illegal move",
        dump(put(put(full, ("moves", 0, 1), "pass 9"), ("faults", at, "ply"), "0")),
    )
    yield (
        "an illegal move and a bad fault",
        dump(put(put(full, ("moves", len(moves) // 2, 1), "x"), ("faults", at, "kind"), "x")),
    )
    for kind in KINDS:
        everything = [{"ply": i, "seat": move[0], "kind": kind} for i, move in enumerate(moves)]
        yield f"all faults, {kind}", dump({**full, "faults": everything})
    yield from faults_at_plies(full, rng)


def faults_at_plies(full: Record, rng: random.Random) -> Iterator[Pair]:
    """Put faults at plies without a choice, without the fallback, or after a forfeit."""
    seed = bytes.fromhex(full["deal_seed"])
    moves, faults = full["moves"], full["faults"]
    taken = {fault["ply"] for fault in faults}
    match = naive.replay(full, 0)
    forced, free, right = [], [], []
    for ply, (seat, text) in enumerate(moves):
        legal = match.legal(seat)
        if len(legal) == 1:
            forced.append(ply)
        elif text != naive.fallback(seed, ply, legal):
            free.append(ply)
        elif ply not in taken:
            right.append(ply)
        match.move(seat, text)
    for what, plies in (("forced ply", forced), ("not fallback", free), ("by chance right", right)):
        for ply in rng.sample(plies, min(2, len(plies))):
            for kind in KINDS:
                added = {"ply": ply, "seat": moves[ply][0], "kind": kind}
                listed = sorted([*faults, added], key=lambda fault: int(fault["ply"]))
                yield f"{what} {ply}, {kind}", dump({**full, "faults": listed})
                yield f"only {what} {ply}, {kind}", dump({**full, "faults": [added]})
    # The first forfeit of a seat is valid; the later choices of the seat are not.
    for at in rng.sample(range(len(faults)), min(4, len(faults))):
        yield f"forfeit at {faults[at]['ply']}", dump(put(full, ("faults", at, "kind"), "forfeit"))
        yield f"late at {faults[at]['ply']}", dump(put(full, ("faults", at, "kind"), "timeout"))
        yield f"nothing at {faults[at]['ply']}", dump(without(full, ("faults", at)))
    first = {**faults[0], "kind": "forfeit"}
    yield "forfeit once, then normal choices", dump({**full, "faults": [first]})


def results(full: Record, rng: random.Random) -> Iterator[Pair]:
    illegal = put(full, ("moves", len(full["moves"]) // 2, 1), "no")
    for key in ("scores", "places"):
        right = full[key]
        i = rng.randrange(len(right))
        for wrong in (
            *([], right[:-1], [*right, 0], [*right, right[-1]], right[::-1], sorted(right)),
            *([0] * len(right), [1] * len(right), [right], [str(x) for x in right], right[0]),
            *([float(x) for x in right], [-x for x in right], [x - 1 for x in right]),
            *([*right[:i], right[i] + 1, *right[i + 1 :]], [*right[:i], 10**50, *right[i + 1 :]]),
            *([*right[:i], None, *right[i + 1 :]], [*right[:i], True, *right[i + 1 :]]),
            *(dict(enumerate(right)), list(range(1, len(right) + 1)), [0] * 10**5),
        ):
            yield f"{key} {str(wrong)[:40]}", dump({**full, key: wrong})
            yield f"{key} {str(wrong)[:40]}, illegal move", dump({**illegal, key: wrong})
    yield (
        "scores and places swapped",
        dump({**full, "scores": full["places"], "places": full["scores"]}),
    )


def depths(full: Record, rng: random.Random) -> Iterator[Pair]:
    line = dump(full)
    seat = rng.randrange(full["seats"])
    for depth in (50, 900, 1100, 100_000):
        for opening, closing in (("[", "]"), ('{"a": ', "}")):
            balanced = opening * depth + "1" + closing * depth
            yield f"{depth} {opening} open", (opening * depth).encode()
            yield f"{depth} {opening}", balanced.encode()
            yield f"{depth} {opening} unknown", line[:-1] + f', "x": {balanced}}}'.encode()
            for path in (
                ("players", seat),
                ("moves", 0),
                ("moves", 0, 0),
                ("faults", 0),
                ("scores",),
            ):
                yield f"{depth} {opening} at {path}", put_text(full, path, balanced)
            yield f"{depth} {opening} format", put_text(full, ("format",), balanced)
    yield "many keys", dump({**full, **{f"k{i}": i for i in range(50_000)}})
    yield "long number", put_text(full, ("seats",), "1" * 10**6)
    yield "long fraction", put_text(full, ("seats",), "4." + "0" * 10**6)
    yield "many blanks", line + b" " * 10**6


def formats(full: Record, rng: random.Random) -> Iterator[Pair]:
    worse: list[Record] = [
        *(
            full,
            {},
            {**full, "seats": True},
            {**full, "game": "chess"},
            {**full, "moves": [[-1, ""]]},
        ),
        *({**full, "moves": []}, {**full, "x": 1}, {**full, "scores": None}, {**full, "rules": 3}),
    ]
    for name in (
        *("twelfth-night/2", "twelfth-night/01", "twelfth-night/1 ", "twelfth-night/1\n", "", "1"),
        *("Twelfth-Night/1", "twelfth-night", "a\r\nb\u2028\u0085c\x1b[0m", "\ud800", "f" * 10**6),
        *("twelfth-night/\u0661", "\ufefftwelfth-night/1", "twelfth-night/1\0"),
    ):
        for i, base in enumerate(worse):
            if len(name) < 10**5 or i == 0:
                yield f"{name[:20]!r} and defect {i}", dump({**base, "format": name})
    line = dump({**full, "format": "twelfth-night/2"})
    yield "unknown and a key twice", line[:-1] + b', "game": "partridge"}'
    yield "unknown and itself twice", line[:-1] + b', "format": "twelfth-night/2"}'
    yield "unknown, then known", line[:-1] + b', "format": "twelfth-night/1"}'
    yield "known, then unknown", dump(full)[:-1] + b', "format": "twelfth-night/2"}'
    yield "unknown and NaN", line[:-1] + b', "x": NaN}'
    yield "unknown and a BOM", b"\xef\xbb\xbf" + line
    yield "unknown and cut", line[: rng.randrange(40, len(line))]
    yield "unknown and not UTF-8", line[:-1] + b', "x": "\xff"}'
    yield "unknown and deep", line[:-1] + b', "x": ' + b"[" * 10**5 + b"]" * 10**5 + b"}"
