"""A WebAssembly bot at home: the same machine and the same clock as in the league."""

import sys
from pathlib import Path

from bots_sdk.bot import BotFile, Choose, MatchInfo
from bots_sdk.bot_errors import BotFileError
from bots_sdk.installing import install_command
from bots_sdk.invoking import python_word
from bots_sdk.wasm import machine
from bots_sdk.wasm.binary import ModuleRefusedError, check_module
from engine.games.game import Observation
from engine.referee import MatchClock, TimeControl


class ModuleFile(BotFile):
    """A bot from a ``.wasm`` file; see `bots_sdk.bot.BotFile`.

    Attributes:
        program: the compiled module.
    """

    wants_info = True

    def __init__(self, path: Path, data: bytes) -> None:
        """Compile the module, to check that it is a bot.

        Raises:
            BotFileError: it is not, or Wasmtime is not installed.
        """
        self.path = path
        try:
            check_module(data)
            if not machine.is_available():
                raise BotFileError(
                    f"{path} is WebAssembly, and the package that runs it is not installed. "
                    f"Install it: `{install_command(python_word(), 'wasmtime')}`."
                )
            self.program = machine.Program(data)
        except ModuleRefusedError as error:
            raise BotFileError(f"{path}: {error}.") from None

    def __call__(self, info: MatchInfo) -> Choose:
        """Return a player for one match, with its own instance.

        Raises:
            OutOfFuelError: the module's ``start`` takes longer than `machine.START_SECONDS`.
            ModuleFaultError: the module's ``start`` trapped.
        """
        return ModulePlayer(machine.Machine(self.program, _print), info)

    def afresh(self, info: MatchInfo) -> Choose:
        """Return a player for one match that shares nothing with other matches."""
        return self(info)


class ModulePlayer:
    """A module as a player in one match, with its clock.

    Attributes:
        charged_seconds: the seconds of the clock that the last move took.
    """

    def __init__(self, own: machine.Machine, info: MatchInfo) -> None:
        """Start the module's match; see `ModuleFile.__call__`."""
        self._machine = own
        control = TimeControl(info["move_seconds"], info["bank_seconds"])
        self._clock = MatchClock(control, 1, lambda: 0.0)
        self.charged_seconds = 0.0
        own.start(info, machine.fuel_of(machine.START_SECONDS))

    @property
    def bank_seconds(self) -> float:
        """The seconds that are left in the bank."""
        return self._clock.bank(seat=0)

    def __call__(self, observation: Observation) -> str:
        """Return the module's move.

        Raises:
            OutOfFuelError: it used up its clock.
            ModuleFaultError: it trapped, or broke the contract.
        """
        try:
            return self._machine.choose(observation, machine.fuel_of(self._clock.allowance(seat=0)))
        finally:
            self.charged_seconds = machine.seconds_of(self._machine.fuel_used)
            self._clock.charge(0, self.charged_seconds)


def _print(text: str) -> None:
    sys.stdout.write(text)
