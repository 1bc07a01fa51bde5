"""The outside of a WebAssembly module: its imports, exports and sizes.

The module is read as bytes and neither compiled nor run, so that the league can refuse an upload
before it reaches the sandbox. Wasmtime validates the rest inside the sandbox. Source of the format:
WebAssembly Core Specification 2.0, chapter 5 (binary format).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from bots_sdk.refusals import SourceRefusedError
from engine.errors import quote
from engine.games import catalogue

MAGIC = b"\0asm"
"""The first bytes of a WebAssembly file."""
MAX_BYTES = 4 << 20
MAX_CODE_BYTES = 512 << 10
"""The largest code section; compiling it takes about half a second."""
MAX_FUNCTION_BYTES = 64 << 10
"""The largest function: the time to compile one grows faster than its size."""
MAX_LOCALS = 1000
"""The most local variables of a function. Moving them takes time, but no fuel."""
MAX_PARAMETERS = 64
"""The most parameters of a function or block: each pass of a loop moves its parameters."""
MAX_RESULTS = 16
"""The most results of a function or block, for the same reason."""
MEMORY_BYTES = 64 << 20
"""The most linear memory of a bot."""
PAGE_BYTES = 64 << 10

_VERSION = b"\1\0\0\0"
_LOG = ("league", "log")
_MAX_ENTRIES = {"type": 10_000, "import": 100, "function": 50_000, "export": 1_000}
_TYPES = dict(
    zip(
        (0x7F, 0x7E, 0x7D, 0x7C, 0x7B, 0x70, 0x6F),
        ("i32", "i64", "f32", "f64", "v128", "funcref", "externref"),
        strict=True,
    )
)
_FUNCTION, _TABLE, _MEMORY, _GLOBAL = range(4)
_SHARED, _IS_64 = 2, 4
_T = TypeVar("_T")


class ModuleRefusedError(SourceRefusedError):
    """A module can't play; the message names the reason and a remedy."""


@dataclass(frozen=True, slots=True)
class Signature:
    """The types of a function, such as ``(i32, i32) -> i64``."""

    parameters: tuple[str, ...]
    results: tuple[str, ...]

    def __str__(self) -> str:
        result = ", ".join(self.results) or "nothing"
        return f"({', '.join(self.parameters)}) -> {result}"


_POINTER_AND_SIZE = Signature(("i32", "i32"), ())
_REQUIRED = {
    "allocate": Signature(("i32",), ("i32",)),
    "choose": Signature(("i32", "i32"), ("i64",)),
}
_OPTIONAL = {"start": _POINTER_AND_SIZE, "_initialize": Signature((), ())}


@dataclass(frozen=True, slots=True)
class Outside:
    """What a module shows to the outside.

    Attributes:
        functions: the exported functions of the contract.
        games: the games that the module declares, by the exports ``plays_partridge`` and
            ``plays_twelve_days``; empty if it declares none.
    """

    functions: frozenset[str]
    games: tuple[str, ...]


def is_module(data: bytes) -> bool:
    """Return whether a file is WebAssembly, by its first bytes."""
    return data.startswith(MAGIC)


def check_module(data: bytes) -> Outside:
    """Return what a module shows, if it keeps the contract.

    Raises:
        ModuleRefusedError: the module is too large or damaged, imports more than the log, or lacks
            an export.
    """
    if len(data) > MAX_BYTES:
        raise ModuleRefusedError(
            f"the module has {len(data):,} bytes; a bot has {MAX_BYTES:,} at most. Build it with "
            "optimisation for size, and without debug information"
        )
    if not is_module(data):
        raise ModuleRefusedError("the file is not WebAssembly: it does not start with \\0asm")
    if data[4:8] != _VERSION:
        raise ModuleRefusedError(
            "the file is not a WebAssembly module of version 1; if it is a component, build a "
            "plain module instead"
        )
    found = _Found()
    reader = _Reader(data, 8, len(data))
    while reader.at < reader.end:
        number = reader.byte()
        size = reader.number()
        section = reader.part(size)
        if number in _SECTIONS:
            _SECTIONS[number](found, section)
    return _judged(found)


class _Reader:
    """Reads the numbers and names of a part of a module."""

    def __init__(self, data: bytes, at: int, end: int) -> None:
        self._data = data
        self.at = at
        self.end = end

    def byte(self) -> int:
        if self.at >= self.end:
            raise self.damaged()
        self.at += 1
        return self._data[self.at - 1]

    def number(self) -> int:
        """Return an unsigned number (LEB128), of 32 bits, or of 64 for the size of a memory."""
        value = shift = 0
        while shift < 70:
            byte = self.byte()
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
            shift += 7
        raise self.damaged()

    def part(self, size: int) -> "_Reader":
        """Return a reader of the next bytes, and skip them."""
        if self.at + size > self.end:
            raise self.damaged()
        self.at += size
        return _Reader(self._data, self.at - size, self.at)

    def name(self) -> str:
        size = self.number()
        if self.at + size > self.end:
            raise self.damaged()
        self.at += size
        try:
            return self._data[self.at - size : self.at].decode()
        except UnicodeDecodeError:
            raise self.damaged() from None

    def several(self, one: Callable[[], _T], section: str) -> list[_T]:
        count = self.number()
        most = _MAX_ENTRIES.get(section, 1_000)
        if count > most:
            raise ModuleRefusedError(
                f"the module has {count:,} entries in its section of {section}s; a bot has "
                f"{most:,} at most"
            )
        return [one() for _ in range(count)]

    def value_type(self) -> str:
        byte = self.byte()
        if byte not in _TYPES:
            raise _too_new("types of references")
        return _TYPES[byte]

    def damaged(self) -> ModuleRefusedError:
        return ModuleRefusedError(
            f"the module is damaged or cut off at byte {self.at:,}; build it again"
        )


class _Found:
    """The parts of a module that the contract is about."""

    def __init__(self) -> None:
        self.types: list[Signature] = []
        self.functions: list[int] = []
        self.exports: dict[str, tuple[int, int]] = {}
        self.memories = 0

    def read_types(self, reader: _Reader) -> None:
        def one() -> Signature:
            if reader.byte() != 0x60:
                raise _too_new("types other than functions")
            parameters = tuple(reader.several(reader.value_type, "parameter"))
            results = tuple(reader.several(reader.value_type, "result"))
            if len(parameters) > MAX_PARAMETERS:
                raise ModuleRefusedError(
                    f"a function or block of the module has {len(parameters):,} parameters; one "
                    f"has {MAX_PARAMETERS} at most. Pass the rest in the memory"
                )
            if len(results) > MAX_RESULTS:
                raise ModuleRefusedError(
                    f"a function or block of the module has {len(results)} results; one has "
                    f"{MAX_RESULTS} at most. Write the results into the memory"
                )
            return Signature(parameters, results)

        self.types += reader.several(one, "type")

    def read_imports(self, reader: _Reader) -> None:
        def one() -> None:
            module, name = reader.name(), reader.name()
            if (module, name) != _LOG or reader.byte() != _FUNCTION:
                raise ModuleRefusedError(_no_import(module, name))
            self.functions.append(reader.number())

        reader.several(one, "import")
        for index in range(len(self.functions)):
            if self.signature(index) != _POINTER_AND_SIZE:
                raise ModuleRefusedError(
                    f"the module imports league.log as {self.signature(index)}; declare it as "
                    f"{_POINTER_AND_SIZE}: the address and the size of a text"
                )

    def read_functions(self, reader: _Reader) -> None:
        self.functions += reader.several(reader.number, "function")

    def read_memories(self, reader: _Reader) -> None:
        def one() -> None:
            flags = reader.byte()
            if flags & _SHARED:
                raise ModuleRefusedError(
                    "the module's memory is shared between threads; build it without threads"
                )
            if flags & _IS_64:
                raise ModuleRefusedError(
                    "the module's memory has 64-bit addresses; build it for wasm32"
                )
            pages = reader.number()
            if flags & 1:
                reader.number()
            if flags > 1:
                raise _too_new("memories with pages of another size")
            if pages * PAGE_BYTES > MEMORY_BYTES:
                raise ModuleRefusedError(
                    f"the module's memory starts with {pages * PAGE_BYTES >> 20} MB; a bot has "
                    f"{MEMORY_BYTES >> 20} MB at most"
                )
            self.memories += 1

        reader.several(one, "memory")

    def read_exports(self, reader: _Reader) -> None:
        def one() -> None:
            name = reader.name()
            self.exports[name] = (reader.byte(), reader.number())

        reader.several(one, "export")

    def read_code(self, reader: _Reader) -> None:
        size = reader.end - reader.at
        if size > MAX_CODE_BYTES:
            raise ModuleRefusedError(
                f"the module has {size:,} bytes of code; a bot has {MAX_CODE_BYTES:,} at most. "
                "Build it with optimisation for size"
            )

        def one() -> None:
            size = reader.number()
            if size > MAX_FUNCTION_BYTES:
                raise ModuleRefusedError(
                    f"a function of the module has {size:,} bytes; one has {MAX_FUNCTION_BYTES:,} "
                    "at most. Split it, or keep the compiler from inlining so much"
                )
            body = reader.part(size)
            variables = 0
            for _ in range(body.number()):
                variables += body.number()
                body.value_type()
            if variables > MAX_LOCALS:
                raise ModuleRefusedError(
                    f"a function of the module has {variables:,} local variables; one has "
                    f"{MAX_LOCALS:,} at most. Split it, or build the module with optimisation"
                )

        reader.several(one, "function")

    def signature(self, function: int) -> Signature | None:
        """Return the types of a function; None if the module has no such function."""
        try:
            return self.types[self.functions[function]]
        except IndexError:
            return None


_SECTIONS = {
    1: _Found.read_types,
    2: _Found.read_imports,
    3: _Found.read_functions,
    5: _Found.read_memories,
    7: _Found.read_exports,
    10: _Found.read_code,
}


def _judged(found: _Found) -> Outside:
    """Return what a module shows.

    Raises:
        ModuleRefusedError: an export is missing or has other types than the contract.
    """
    functions = set()
    for name, wanted in {**_REQUIRED, **_OPTIONAL}.items():
        if name not in found.exports:
            if name in _OPTIONAL:
                continue
            raise ModuleRefusedError(
                f"the module does not export {_missing(name, found)}; export a function "
                f"{name} with the types {wanted}"
            )
        kind, index = found.exports[name]
        actual = found.signature(index) if kind == _FUNCTION else None
        if actual != wanted:
            raise ModuleRefusedError(
                f"the module exports {name} as {actual or 'something other than a function'}; "
                f"its types must be {wanted}"
            )
        functions.add(name)
    if found.exports.get("memory", (None, 0))[0] != _MEMORY or found.memories != 1:
        raise ModuleRefusedError(
            "the module does not export its memory; export its only memory by the name memory"
        )
    declared = [
        game
        for game in catalogue.GAMES
        if found.exports.get(f"plays_{game.replace('-', '_')}", (None, 0))[0] == _FUNCTION
    ]
    return Outside(frozenset(functions), tuple(declared))


def _missing(name: str, found: _Found) -> str:
    others = sorted(each for each in found.exports if len(each) <= 40)[:8]
    return f"{name} (it exports {', '.join(map(quote, others)) or 'nothing'})"


def _no_import(module: str, name: str) -> str:
    words = f"the module imports {quote(module, 60)}.{quote(name, 60)}; a bot may import only "
    words += "league.log. "
    if module.startswith("wasi"):
        return words + (
            "It has no files, clock or random numbers: build it for wasm32-unknown-unknown, "
            "without WASI and without a main function"
        )
    if (module, name) == ("env", "abort"):
        return words + "For AssemblyScript, compile with --use abort="
    if (module, name) == ("env", "memory"):
        return words + "Let the module define and export its own memory"
    return words + "A function of this name is declared in the source but nowhere defined"


def _too_new(what: str) -> ModuleRefusedError:
    return ModuleRefusedError(
        f"the module uses {what}, a feature of WebAssembly that bots don't have; build it for "
        "plain WebAssembly 2.0 with 32-bit memory"
    )
