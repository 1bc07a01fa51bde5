"""Packed records: a record in a few dozen bytes, from which the whole record is computed again.

A move is stored as its index in the legal moves of its seat, so a forced move takes nothing, and
neither does the fallback of a fault. All indices are the digits of one number in a mixed radix: a
choice among n moves takes log2(n) bits. Scores, places and the texts of moves follow from the
replay. Game, preset, seats and deal seed are not in the pack: the caller stores them.

A pack is a checksum (CRC-32, of the number and of what the caller stores), the number of the
format, and the number, little-endian. docs/data.md shows what each part saves.
"""

from itertools import pairwise
from zlib import crc32

from engine.deals import seeded_shuffle
from engine.errors import RecordError
from engine.games import catalogue
from engine.record import FAULT_KINDS, Fault, Record, fallback, record_of, verify

_FORMAT = 1
_CHECKSUM_BYTES = 4
_ALPHABET = "abcdefghijklmnopqrstuvwxyz0123456789-_ "
"""The characters of most players' names."""
_ANY_TEXT = "surrogatepass"
"""The error handler for names: in JSON, a name may have half of a pair of surrogates."""
_KINDS = {kind: number for number, kind in enumerate(FAULT_KINDS)}
_FORFEIT = "forfeit"


class _Writer:
    """Digits, each with its radix, that become one number."""

    def __init__(self) -> None:
        self._digits: list[tuple[int, int]] = []

    def put(self, digit: int, radix: int) -> None:
        self._digits.append((digit, radix))

    def put_number(self, number: int) -> None:
        """Write a number of any size, a small one in 5 bits."""
        while number >= 16:
            self.put(16 + number % 16, 32)
            number //= 16
        self.put(number, 32)

    def as_bytes(self) -> bytes:
        number = 0
        for digit, radix in reversed(self._digits):
            number = number * radix + digit
        return number.to_bytes((number.bit_length() + 7) // 8, "little")


class _Reader:
    """The digits of a number, in the order in which they were written."""

    def __init__(self, data: bytes) -> None:
        self._rest = int.from_bytes(data, "little")

    def take(self, radix: int) -> int:
        self._rest, digit = divmod(self._rest, radix)
        return digit

    def take_number(self) -> int:
        number, weight = 0, 1
        while (digit := self.take(32)) >= 16:
            number, weight = number + (digit - 16) * weight, weight * 16
        return number + digit * weight

    @property
    def is_at_end(self) -> bool:
        return not self._rest


def pack(record: Record) -> bytes:
    """Return a record in its packed form.

    Raises:
        RecordError: `verify` refuses the record, so it can't be computed from its moves.
    """
    verify(record)
    writer = _Writer()
    _put_players(writer, record.players)
    _put_faults(writer, record)
    state = record.start()
    played_by_referee = {fault.ply for fault in record.faults}
    for ply, (seat, text) in enumerate(record.moves):
        legal, action = state.legal(seat), state.moves.ids[text]
        if ply not in played_by_referee:
            writer.put(legal.index(action), len(legal))
        state.step_unchecked({seat: action})
    data = bytes([_FORMAT]) + writer.as_bytes()
    checksum = _checksum(data, record.game, record.rules, record.seats, record.deal_seed)
    return checksum + data


def check(packed: bytes, *, game: str, rules: str, seats: int, deal_seed: bytes) -> None:
    """Compare a pack with its checksum; it takes some microseconds.

    Raises:
        RecordError: a byte of the pack or another argument has changed since `pack`.
    """
    data = packed[_CHECKSUM_BYTES:]
    if packed[:_CHECKSUM_BYTES] != _checksum(data, game, rules, seats, deal_seed):
        raise RecordError("the packed record is damaged: its checksum differs")


def unpack(packed: bytes, *, game: str, rules: str, seats: int, deal_seed: bytes) -> Record:
    """Return the record of a pack, with every value that `pack` received.

    Args:
        packed: from `pack`.
        game: slug of the game.
        rules: name of the preset.
        seats: number of seats.
        deal_seed: 32 bytes.

    Raises:
        RecordError: a byte of the pack or another argument has changed since.
    """
    check(packed, game=game, rules=rules, seats=seats, deal_seed=deal_seed)
    data = packed[_CHECKSUM_BYTES:]
    if data[:1] != bytes([_FORMAT]):
        raise RecordError("the packed record has an unknown format")
    reader = _Reader(data[1:])
    players = _take_players(reader, seats)
    kinds = _take_faults(reader)
    state = catalogue.start(game, rules, seats, seeded_shuffle(deal_seed))
    texts = state.moves.texts
    moves: list[tuple[int, str]] = []
    faults: list[Fault] = []
    forfeited: set[int] = set()
    while state.actors:
        ply, seat = len(moves), state.actors[0]
        legal = state.legal(seat)
        kind = kinds.get(ply)
        if seat in forfeited and len(legal) > 1:
            kind = _FORFEIT
        if kind is None:
            action = legal[reader.take(len(legal))]
        else:
            action = fallback(deal_seed, ply, legal)
            faults.append(Fault(ply, seat, kind))
            if kind == _FORFEIT:
                forfeited.add(seat)
        moves.append((seat, texts[action]))
        state.step_unchecked({seat: action})
    if not reader.is_at_end:
        raise RecordError("the packed record goes on after the end of the match")
    return record_of(state, deal_seed, moves, faults=faults, players=players)


def _checksum(data: bytes, game: str, rules: str, seats: int, deal_seed: bytes) -> bytes:
    known = f"{game}/{rules}/{seats}/".encode() + deal_seed
    return crc32(data, crc32(known)).to_bytes(_CHECKSUM_BYTES, "big")


def _put_players(writer: _Writer, players: tuple[str, ...] | None) -> None:
    writer.put(players is not None, 2)
    for name in players or ():
        is_plain = all(character in _ALPHABET for character in name)
        letters = (
            [_ALPHABET.index(one) for one in name] if is_plain else name.encode("utf-8", _ANY_TEXT)
        )
        writer.put(is_plain, 2)
        writer.put_number(len(letters))
        for letter in letters:
            writer.put(letter, len(_ALPHABET) if is_plain else 256)


def _take_players(reader: _Reader, seats: int) -> tuple[str, ...] | None:
    if not reader.take(2):
        return None
    names = []
    for _ in range(seats):
        is_plain, length = reader.take(2), reader.take_number()
        if is_plain:
            names.append("".join(_ALPHABET[reader.take(len(_ALPHABET))] for _ in range(length)))
        else:
            names.append(bytes(reader.take(256) for _ in range(length)).decode("utf-8", _ANY_TEXT))
    return tuple(names)


def _put_faults(writer: _Writer, record: Record) -> None:
    """Write ply and kind of faults; of a seat's forfeits the first, as all its choices follow."""
    forfeited: set[int] = set()
    written = []
    for fault in record.faults:
        if fault.seat not in forfeited:
            written.append(fault)
        if fault.kind == _FORFEIT:
            forfeited.add(fault.seat)
    writer.put_number(len(written))
    for before, ply in pairwise([0, *(fault.ply for fault in written)]):
        writer.put_number(ply - before)
    for fault in written:
        writer.put(_KINDS[fault.kind], len(_KINDS))


def _take_faults(reader: _Reader) -> dict[int, str]:
    """Return the kinds of the written faults by ply."""
    plies, ply = [], 0
    for _ in range(reader.take_number()):
        ply += reader.take_number()
        plies.append(ply)
    return {ply: FAULT_KINDS[reader.take(len(_KINDS))] for ply in plies}
