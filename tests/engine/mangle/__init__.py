"""Broken records, in every way that the rules document names and some more.

A change may by chance leave a record valid: compare two verifiers on it instead of assuming a
refusal. No line holds a raw line feed, so that one file can hold all lines.
"""

import random
from collections.abc import Callable, Iterator

from tests.engine.mangle.content import (
    depths,
    faults_broken,
    formats,
    move_lists,
    move_texts,
    results,
    seats_out_of_turn,
)
from tests.engine.mangle.editing import Pair, Record, dump, with_faults
from tests.engine.mangle.form import (
    duplicates,
    encodings,
    heads,
    json_texts,
    keys,
    names,
    wrong_values,
)

__all__ = ["broken_records", "with_faults"]


def broken_records(record: Record, rng: random.Random) -> Iterator[Pair]:
    """Yield about three thousand labelled lines from a valid record, in a reproducible order."""
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
