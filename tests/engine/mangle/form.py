"""Records with a broken form: encoding, JSON, keys, types and names."""

import json
import random
from collections.abc import Iterator

from tests.engine import naive
from tests.engine.mangle.editing import (
    HOLE,
    LITERALS,
    Pair,
    Path,
    Record,
    dump,
    get,
    put,
    put_text,
    without,
)


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
    """Put every literal, and other spellings of the value itself, at every path of a record."""
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
