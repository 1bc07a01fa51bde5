"""Tools to change records, and records with faults."""

import copy
import json
import random
from typing import Any

from tests.engine import naive

Record = dict[str, Any]
Path = tuple[str | int, ...]
Pair = tuple[str, bytes]

KINDS = ("timeout", "illegal", "crash", "forfeit")
HOLE = "@@hole@@"

# JSON texts and texts that only resemble JSON, to replace other values.
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
    """Return a copy with another value at a path; the copy shares all other parts."""
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
    """Return a line with a text at a path, which may be no JSON."""
    return dump(put(record, path, HOLE)).replace(b'"%s"' % HOLE.encode(), text.encode())


def with_faults(record: Record, rng: random.Random) -> Record:
    """Return a valid record of the same deal in which the referee made some of the moves."""
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
