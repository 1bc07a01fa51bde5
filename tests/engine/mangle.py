"""Records gone wrong, in every way the rules document names and some that it does not.

A change may by chance leave a record valid: compare two verifiers on it, and do not assume that
it is refused. No line holds a raw line feed, so that all of them can go into one file.
"""

import copy
import json
import random
from collections.abc import Callable, Iterator
from typing import Any

from tests.engine import naive

Record = dict[str, Any]
Path = tuple[str | int, ...]
Pair = tuple[str, bytes]

KINDS = ("timeout", "illegal", "crash", "forfeit")
HOLE = "@@hole@@"

# JSON texts, and texts that only look like JSON, to stand where something else belongs.
LITERALS = [
    *("null", "true", "false", '""', '"3"', '"give 7"', "[]", "{}", "[[]]", '[0, "pass"]'),
    *("0", "-0", "-1", "1", "2", "99", str(10**50), str(-(10**50)), "9" * 5000, "1" + "0" * 4300),
    *("-" + "9" * 5000, str(2**31), str(2**63), str(2**64)),
    *("1.0", "-0.0", "1e3", "1E3", "1e400", "0.5", "1e-7", "1e99999999", "0.0"),
    *("NaN", "Infinity", "-Infinity", "nan", "undefined", "None", "True", "01", "-01", "+1"),
    *("0x1", "1.", ".5", "1_0", "1 0", "--1", "-", "1e", "'a'", "\u0661", "\uff13", "", "\\u0031"),
    *('"\\ud800"', '"\\udc00\\ud800"', '"\\u0000"', '"a\\nb"', '"\\u2028"', '"\\x41"', '"\\u12"'),
    *("[NaN]", '{"a": 1}', '{"a": 1, "a": 1}', "[,]", "[1,]", "[1 2]", '{"a"}', "{1: 2}"),
]


def dump(record: Any, **options: Any) -> bytes:
    return json.dumps(record, **options).encode("utf-8", "surrogatepass")


def put(record: Any, path: Path, value: Any) -> Any:
    """A copy in which one place holds another value; what lies off the way there is shared."""
    if not path:
        return value
    copied = copy.copy(record)
    copied[path[0]] = put(record[path[0]], path[1:], value) if path[1:] else value
    return copied


def get(record: Record, path: Path) -> Any:
    at: Any = record
    for step in path:
        at = at[step]
    return at


def without(record: Record, path: Path) -> Record:
    around = copy.copy(get(record, path[:-1]))
    del around[path[-1]]
    without_it: Record = put(record, path[:-1], around)
    return without_it


def put_text(record: Record, path: Path, text: str) -> bytes:
    """A line in which one place holds a text that need not be JSON."""
    return dump(put(record, path, HOLE)).replace(b'"%s"' % HOLE.encode(), text.encode())


def with_faults(record: Record, rng: random.Random) -> Record:
    """A valid record of the same deal in which the referee made some of the moves."""
    seed = bytes.fromhex(record["deal_seed"])
    share = rng.choice([0.02, 0.1, 0.5, 1.0])
    quitters = rng.choice([0.0, 0.05, 0.3])
    faults: list[Record] = []
    forfeited: set[int] = set()

    def policy(legal: list[str], seat: int, ply: int) -> str:
        if len(legal) == 1:
            return legal[0]
        if seat not in forfeited and rng.random() >= share:
            return rng.choice(legal)
        if seat not in forfeited and rng.random() < quitters:
            forfeited.add(seat)
        kind = "forfeit" if seat in forfeited else rng.choice(KINDS[:3])
        faults.append({"ply": ply, "seat": seat, "kind": kind})
        return naive.fallback(seed, ply, legal)

    played = naive.simulate(record["game"], record["rules"], record["seats"], seed, policy)
    extra = {"players": record["players"]} if "players" in record else {}
    return {**played, **extra, "faults": faults}


def broken_records(record: Record, rng: random.Random) -> Iterator[Pair]:
    """Labelled lines made from a valid record: about three thousand, in a reproducible order."""
    full = {"players": [f"bot {s}" for s in range(record["seats"])], **record}
    while not full.get("faults"):
        full = with_faults(full, rng)
    families: list[Callable[[Record, random.Random], Iterator[Pair]]] = [
        *(encodings, json_texts, duplicates, keys, wrong_values, heads, names),
        *(move_lists, move_texts, seats_out_of_turn, faults_broken, results, depths, formats),
    ]
    for family in families:
        for label, line in family(full, rng):
            yield f"{family.__name__}: {label}", line.replace(b"\n", b"\r")
    yield "valid: as given", dump(record)
    yield "valid: with faults", dump(full)
    yield "valid: other faults", dump(with_faults(record, rng))
    yield "valid: no faults listed", dump({**record, "faults": []}, indent="\t").replace(b"\n", b"")


def encodings(full: Record, rng: random.Random) -> Iterator[Pair]:
    line = dump(full)
    name = dump(put(full, ("players", 0), HOLE))
    for raw in [
        *(
            b"\xff",
            b"\xe9",
            b"\x80",
            b"\xc0\xaf",
            b"\xed\xa0\x80",
            b"\xf4\x90\x80\x80",
            b"\xe2\x82",
        ),
        *(b"\x00", b"\x01", b"\t", b"\r", b"\x0b", b"\x1f", b"\x7f", b"\xc2\x85", b"\xe2\x80\xa8"),
        *("é".encode(), "🦢".encode(), b"\xef\xbb\xbf", "\u202e".encode(), b"\\", b'"', b"\\/"),
    ]:
        yield f"{raw!r} in a name", name.replace(HOLE.encode(), b"a" + raw + b"b")
        yield f"{raw!r} in front", raw + line
        yield f"{raw!r} behind", line + raw
        yield f"{raw!r} inside", line.replace(b", ", b"," + raw, 1)
        yield f"{raw!r} in a move", line.replace(b'"moves": [[0, "', b'"moves": [[0, "' + raw)
    for code in ("utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-7", "cp037", "utf-8-sig"):
        yield code, line.decode().encode(code)
    for text in ("", " ", "\r", "\t \r", "\x0c", "\xa0", "\ufeff", "\x00", "\x1a"):
        yield f"only {text!r}", text.encode()
        yield f"between {text!r}", text.encode() + line + text.encode()
    yield "BOM twice", b"\xef\xbb\xbf\xef\xbb\xbf" + line
    yield "random bytes", rng.randbytes(400)
    for _ in range(12):
        at = rng.randrange(len(line))
        yield (
            f"byte {at} flipped",
            line[:at] + bytes([line[at] ^ 1 << rng.randrange(8)]) + line[at + 1 :],
        )
        yield f"byte {at} dropped", line[:at] + line[at + 1 :]
        yield f"byte {at} doubled", line[:at] + line[at : at + 1] + line[at:]


def json_texts(full: Record, rng: random.Random) -> Iterator[Pair]:
    line = dump(full)
    for at in {0, 1, 2, len(line) // 2, len(line) - 1, *rng.sample(range(len(line)), 10)}:
        yield f"cut at {at}", line[:at]
    for text in LITERALS:
        yield f"only {text[:20]}", text.encode()
        yield f"then {text[:20]}", line + text.encode()
    yield "two records", line + line
    yield "two records, a space", line + b" " + line
    yield "in a list", b"[" + line + b"]"
    yield "in a text", dump(line.decode())
    yield "in an object", b'{"record": ' + line + b"}"
    yield "single quotes", line.replace(b'"', b"'")
    yield "trailing comma", line[:-1] + b",}"
    yield "trailing comma in moves", line.replace(b']], "', b']],], "', 1)
    yield "comment", line[:-1] + b"/* */}"
    yield "comment behind", line + b" // fine"
    yield "no colon", line.replace(b":", b"", 1)
    yield "equals", line.replace(b":", b"=")
    yield "brace missing", line[:-1]
    yield "brace too many", line + b"}"
    yield "tight", dump(full, separators=(",", ":"))
    yield "carriage returns between", dump(full, indent=1).replace(b"\n", b"\r")
    yield "form feeds between", dump(full, indent=1).replace(b"\n", b"\x0c")
    yield "keys the other way round", dump(dict(reversed(full.items())))
    yield "keys sorted", dump(full, sort_keys=True)
    yield "all escaped", line.replace(b"g", b"\\u0067")
    yield "as pairs", dump(list(full.items()))
    yield "keys unquoted", line.replace(b'"seats"', b"seats")


def duplicates(full: Record, rng: random.Random) -> Iterator[Pair]:
    line = dump(full)
    for key, value in full.items():
        again = f"{json.dumps(key)}: {json.dumps(value)}".encode()
        escaped = f'"\\u{ord(key[0]):04x}{key[1:]}": {json.dumps(value)}'.encode()
        yield f"{key} twice, last", line[:-1] + b", " + again + b"}"
        yield f"{key} twice, first", b"{" + again + b", " + line[1:]
        yield f"{key} twice, escaped", line[:-1] + b", " + escaped + b"}"
        yield f"{key} twice, null first", b'{"' + key.encode() + b'": null, ' + line[1:]
        yield f"{key} twice, null last", line[:-1] + b', "' + key.encode() + b'": null}'
    at = rng.randrange(len(full["faults"]))
    fault = full["faults"][at]
    for key, value in fault.items():
        for other in (value, 0, None, "timeout"):
            text = json.dumps(fault)[:-1] + f", {json.dumps(key)}: {json.dumps(other)}}}"
            yield f"fault's {key} twice, {other!r}", put_text(full, ("faults", at), text)
    for path in (("players", 0), ("moves", 0), ("scores", 0), ("moves", 0, 1)):
        yield f"object with a key twice at {path}", put_text(full, path, '{"a": 1, "a": 1}')
    yield "key twice in an unknown one", line[:-1] + b', "x": {"a": 1, "a": 1}}'
    yield "empty key twice", line[:-1] + b', "": 1, "": 1}'


def keys(full: Record, rng: random.Random) -> Iterator[Pair]:
    at = rng.randrange(len(full["faults"]))
    for key in full:
        yield f"without {key}", dump(without(full, (key,)))
        for other in (key.upper(), key + " ", key + "\n", key[:-1], "\ufeff" + key):
            renamed = {(other if k == key else k): v for k, v in full.items()}
            yield f"{key} called {other!r}", dump(renamed)
    for key in full["faults"][at]:
        yield f"fault without {key}", dump(without(full, ("faults", at, key)))
    unknown = ("x", "", "commitment", "Format", "a\nb\r\u2028\u0085", "\ud800", "k" * 10**6)
    for key in (*unknown, "__proto__", "__class__", "0"):
        yield f"unknown {key[:20]!r}", dump({**full, key: 1})
        yield f"unknown in a fault {key[:20]!r}", dump(put(full, ("faults", at, key), 1))
    for key in ("players", "faults"):
        yield f"valid without {key}", dump({k: v for k, v in full.items() if k != key})
        yield f"{key} null", dump({**full, key: None})
    yield "no keys", b"{}"
    yield "only the format", dump({"format": full["format"]})


def wrong_values(full: Record, rng: random.Random) -> Iterator[Pair]:
    """Every place of a record with every literal, and with its own value written otherwise."""
    seat = rng.randrange(full["seats"])
    ply = rng.randrange(len(full["moves"]))
    at = rng.randrange(len(full["faults"]))
    places: list[Path] = [(key,) for key in full]
    places += [("players", seat), ("scores", seat), ("places", seat), ("faults", at)]
    places += [("faults", at, key) for key in ("ply", "seat", "kind")]
    places += [("moves", ply), ("moves", ply, 0), ("moves", ply, 1), ("moves", 0, 0)]
    for path in places:
        value = get(full, path)
        texts = list(LITERALS)
        if isinstance(value, int):
            texts += [f"{value}{end}" for end in (".0", "e0", ".", "L", "_0")]
            texts += [f"{front}{value}" for front in ("-", "0", "+", " ")]
            texts += [f'"{value}"', f"[{value}]", str(value + 1), str(value - 1)]
        for text in texts:
            yield f"{path} is {text[:24]}", put_text(full, path, text)


def heads(full: Record, rng: random.Random) -> Iterator[Pair]:
    for seats in (*range(-1, 11), 80, 256):
        yield f"{seats} seats", dump({**full, "seats": seats})
        fitting = {
            key: (full[key] * 11)[: max(seats, 0)] for key in ("players", "scores", "places")
        }
        yield f"{seats} seats, lists to fit", dump({**full, "seats": seats, **fitting})
    for game, presets in naive.PRESETS.items():
        yield f"game {game}", dump({**full, "game": game})
        for rules in presets:
            yield f"rules {rules}", dump({**full, "rules": rules})
            yield f"{game} with {rules}", dump({**full, "game": game, "rules": rules})
    for game in (
        "",
        "chess",
        "Partridge",
        "twelve_days",
        "twelve-days ",
        "twelve-days\n",
        "\ud800",
    ):
        yield f"game {game!r}", dump({**full, "game": game})
    for rules in ("", "Eagle", "eagle ", "calliope\n", "default", "\ud800", "r\r\u2028" * 9):
        yield f"rules {rules!r}", dump({**full, "rules": rules})
    seed = full["deal_seed"]
    for text in (
        *(seed.upper(), seed.capitalize(), seed[:-1], seed[:-2], seed + "0", seed + "00", ""),
        *("0x" + seed[2:], " " + seed[1:], seed + "\n", seed + " ", "g" + seed[1:], seed[::-1]),
        *("-" + seed[1:], "+" + seed[1:], "\uff11" + seed[1:], "\u0661" + seed[1:], "é" + seed[1:]),
        *(seed[:-1] + "\n", seed[:32] + " " + seed[33:], seed[:2] + " " + seed[2:], "\0" * 64),
        *(naive.commitment(bytes.fromhex(seed)), "0" * 64, rng.randbytes(32).hex()),
    ):
        yield f"seed {text!r}", dump({**full, "deal_seed": text})


def names(full: Record, rng: random.Random) -> Iterator[Pair]:
    seat = rng.randrange(full["seats"])
    for name in (
        *("", " ", "a\nb", "a\r\nb", "\x00", "\x1b[31m", "\u2028", "\u0085", "\ud800", "\udfff"),
        *("\ud83e\udda2", "🦢", "null", "x" * 10**6, "é", "e\u0301", "\ufeff", "\u202e", '"', "\\"),
    ):
        yield f"name {name[:20]!r}", dump(put(full, ("players", seat), name))
        yield (
            f"raw name {name[:20]!r}",
            dump(put(full, ("players", seat), name), ensure_ascii=False),
        )
    players = full["players"]
    yield "a player too few", dump({**full, "players": players[1:]})
    yield "a player too many", dump({**full, "players": [*players, "x"]})
    yield "nobody", dump({**full, "players": []})
    yield "all one name", dump({**full, "players": ["x"] * len(players)})
    yield "players by seat", dump({**full, "players": dict(enumerate(players))})


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
    """Faults where there was no choice, off the fallback, or after a forfeit."""
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
    # The first forfeit of a seat is in order; what its seat does afterwards is not.
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
