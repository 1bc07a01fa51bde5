import json
from io import BytesIO
from random import Random
from typing import Any

import pytest

from engine.errors import RecordError
from engine.record import LONGEST_LINE, Record, fallback, read, read_lines, replay, verify, write
from tests.engine import mangle, naive


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    """A short valid record with faults, a forfeit among them."""
    rng = Random(7)
    plain = naive.simulate(
        "twelve-days", "eight-nights", 3, bytes(32), lambda legal, _seat, _ply: rng.choice(legal)
    )
    return next(
        record
        for record in (mangle.with_faults(plain, rng) for _ in range(100))
        if any(fault["kind"] == "forfeit" for fault in record["faults"])
    )


def line(document: dict[str, Any]) -> bytes:
    return json.dumps(document).encode()


def refusal(document: dict[str, Any] | bytes) -> RecordError:
    with pytest.raises(RecordError) as caught:
        verify(read(document if isinstance(document, bytes) else line(document)))
    return caught.value


def test_a_record_with_faults_and_a_forfeit_verifies(document: dict[str, Any]) -> None:
    assert verify(read(line(document))).scores == tuple(document["scores"])


def test_faults_and_players_may_be_missing_but_not_null(document: dict[str, Any]) -> None:
    bare = {k: v for k, v in document.items() if k not in ("faults", "players")}
    verify(read(line(bare)))
    assert "not a list but null" in str(refusal({**bare, "faults": None}))
    assert "not a list but null" in str(refusal({**bare, "players": None}))


def test_white_space_around_a_record_is_allowed(document: dict[str, Any]) -> None:
    verify(read(b" \t" + line(document) + b" \r\n"))


@pytest.mark.parametrize("broken", [b"", b"\n", b" \r\n", b"\xef\xbb\xbf{}", b"\xa0{}", b"\x0c{}"])
def test_an_empty_line_or_a_byte_order_mark_is_refused(broken: bytes) -> None:
    assert refusal(broken).ply is None


def test_an_unknown_format_is_refused_by_name_before_anything_else() -> None:
    error = refusal(b'{"format": "twelfth-night/9", "a": 1, "a": 2, "seats": 1e999}')
    assert str(error) == "unknown format 'twelfth-night/9'; the format must be twelfth-night/1"


def test_an_illegal_move_is_named_with_its_ply_and_what_was_legal(
    document: dict[str, Any],
) -> None:
    moves = [*document["moves"]]
    moves[4] = [1, "play 13"]
    assert refusal({**document, "moves": moves}).ply == 4


def test_a_move_that_is_not_canonical_is_refused_with_its_canonical_text(
    document: dict[str, Any],
) -> None:
    moves = [[seat, text.replace(" ", "  ")] for seat, text in document["moves"]]
    error = refusal({**document, "moves": moves})
    assert error.ply == 0
    assert f"it is written {document['moves'][0][1]!r}" in str(error)


def test_moves_that_stop_early_name_their_number_as_the_ply(document: dict[str, Any]) -> None:
    assert refusal({**document, "moves": document["moves"][:9], "faults": []}).ply == 9


def test_moves_after_the_end_name_the_first_extra_move(document: dict[str, Any]) -> None:
    moves = [*document["moves"], [0, "give 1"], [0, "give 1"]]
    assert refusal({**document, "moves": moves}).ply == len(document["moves"])


def test_wrong_scores_name_no_ply_but_the_right_scores(document: dict[str, Any]) -> None:
    error = refusal({**document, "scores": [0, 0, 0]})
    assert error.ply is None
    assert " ".join(map(str, document["scores"])) in str(error)


def test_after_a_forfeit_each_choice_of_the_seat_must_be_a_forfeit(
    document: dict[str, Any],
) -> None:
    faults = document["faults"]
    first = next(i for i, fault in enumerate(faults) if fault["kind"] == "forfeit")
    later = next(
        i for i in range(first + 1, len(faults)) if faults[i]["seat"] == faults[first]["seat"]
    )
    error = refusal({**document, "faults": faults[:later] + faults[later + 1 :]})
    assert error.ply == faults[later]["ply"]
    assert "had forfeited" in str(error)


def test_a_ply_with_one_legal_move_has_no_fault() -> None:
    rng = Random(4)
    plain = naive.simulate(
        "partridge", "eagle-short", 3, bytes(32), lambda legal, _seat, _ply: rng.choice(legal)
    )
    ply, seat = next(
        (ply, seat)
        for ply, (seat, _text) in enumerate(plain["moves"])
        if naive.replay(plain, ply).legal(seat) == ["pass"]
    )
    fault = {"ply": ply, "seat": seat, "kind": "timeout"}
    error = refusal({**plain, "faults": [fault]})
    assert (error.ply, error.reason) == (ply, "a fault, but the seat had only one legal move")


def test_the_fallback_is_drawn_by_hmac_from_the_seed_and_the_ply() -> None:
    legal = list(range(10, 17))
    texts = [str(action) for action in legal]
    for ply in range(50):
        assert str(fallback(b"s" * 32, ply, legal)) == naive.fallback(b"s" * 32, ply, texts)


def test_a_name_may_be_any_text_and_does_not_change(document: dict[str, Any]) -> None:
    names = ("Zoë ☃", '"\\\n', "\ud800")
    record = read(line({**document, "players": list(names)}))
    assert record.players == names
    assert read(write(record).encode()).players == names
    assert write(record).isascii()


def test_an_overlong_line_is_refused_in_bounded_memory() -> None:
    file = BytesIO(b"[" * (3 * LONGEST_LINE) + b"\n{}\nlast")
    lines = list(read_lines(file))
    assert [number for number, _ in lines] == [1, 2, 3]
    assert len(lines[0][1]) == LONGEST_LINE + 1
    assert "longer than" in str(refusal(lines[0][1]))
    assert lines[1][1] == b"{}\n"
    assert lines[2][1] == b"last"


def test_replaying_to_a_ply_counts_choices_of_the_same_phase(document: dict[str, Any]) -> None:
    record: Record = read(line(document))
    assert replay(record, 1).observe(0)["given"] is not None
    assert replay(record, 1).observe(1)["given"] is None
    assert replay(record, len(record.moves)).is_over
    with pytest.raises(ValueError, match="no ply"):
        replay(record, len(record.moves) + 1)
