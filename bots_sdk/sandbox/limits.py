"""The limits of a bot's process: memory, CPU time, and the sizes of its answers and output."""

from dataclasses import dataclass, replace

from bots_sdk.sandbox import numpy_files, playout_files, wasm_files

TABLE_BYTES = 640 << 20
"""The memory that all bots of a match may fill together; each seat has an equal part."""

_MAPPED_BYTES = 48 << 20
"""The address space beside the memory that a bot fills: programs, libraries and its stack."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of a bot.

    Attributes:
        memory_bytes: address space; Python itself takes about 30 MB.
        data_bytes: memory that it may fill, Python's own included; None for no limit but the above.
        cpu_seconds: CPU time for the whole match, between the bot's moves too.
        start_seconds: time for loading.
        line_bytes: the size of one answer.
        log_bytes: the size of the output that is kept.
    """

    memory_bytes: int = 256 << 20
    data_bytes: int | None = None
    cpu_seconds: int = 300
    start_seconds: float = 5.0
    line_bytes: int = 64 << 10
    log_bytes: int = 64 << 10

    @property
    def most_bytes(self) -> int:
        """The memory that a bot may take: the smaller limit of the two."""
        return min(self.memory_bytes, self.data_bytes or self.memory_bytes)

    def at_table(self, seats: int) -> "Limits":
        """Return the limits of a bot in a match with so many seats.

        They depend on no other bot, so a bot finds the same limit in each of its matches. The limit
        of address space is lower too, as the kernel does not count a stack as data.
        """
        data_bytes = min(self.memory_bytes, TABLE_BYTES // seats)
        memory_bytes = min(self.memory_bytes, data_bytes + _MAPPED_BYTES)
        return replace(self, memory_bytes=memory_bytes, data_bytes=data_bytes)

    def of_module(self) -> "Limits":
        """Return the limits of a WebAssembly bot, which are the same at each table.

        Its clock is its fuel. The limits of time only end what the machine is too slow for.
        """
        return replace(
            self,
            memory_bytes=wasm_files.ADDRESS_BYTES,
            data_bytes=wasm_files.DATA_BYTES,
            cpu_seconds=self.cpu_seconds * wasm_files.SLOWEST,
            start_seconds=self.start_seconds * wasm_files.SLOWEST_LOADING,
        )

    def with_libraries(self, names: tuple[str, ...]) -> "Limits":
        """Return the limits of a bot that gets some libraries: more, for their code and memory."""
        code = memory = 0
        for files in (numpy_files, playout_files):
            if files.NAME in names:
                code += files.CODE_BYTES
                memory += files.MEMORY_BYTES
        return replace(
            self,
            memory_bytes=self.memory_bytes + memory + code,
            data_bytes=None if self.data_bytes is None else self.data_bytes + memory,
        )
