"""Faults of a bot that is played at home: shown with where they arose, and kept for a test."""

from collections.abc import Callable
from pathlib import Path

from bots_sdk.arena.contestants import Contestant
from bots_sdk.arena.matches import FaultSeen, Played, Table, info_for
from bots_sdk.thinking import FaultFiles

_MAX_SHOWN = 3


class Report:
    """Shows the first faults of a bot, and saves what it was asked in each."""

    def __init__(
        self, bot: Contestant, table: Table, seed: str, directory: Path, *, as_json: bool
    ) -> None:
        """Write nothing yet.

        Args:
            bot: whose faults these are.
            table: what is played.
            seed: of the run, as its author writes it.
            directory: for the files.
            as_json: whether to be silent.
        """
        self._bot, self._table, self._seed = bot, table, seed
        self._files = FaultFiles(directory, bot.path or Path(bot.name))
        self._silent = as_json
        self._shown = 0
        self.saved: list[str] = []

    def take(self, played: Played, fault: FaultSeen, say: Callable[[str], None]) -> None:
        """Save a fault; show it, if it is among the first."""
        number = played.fixture.number
        kept = self._files.save(
            {
                "match": number,
                "ply": fault.ply,
                "kind": fault.kind,
                "reason": fault.reason,
                "traceback": fault.traceback,
                "printed": fault.printed,
                "seed": self._seed,
                "deal_seed": played.record.deal_seed.hex(),
                "info": info_for(self._table, fault.seat),
                "observation": fault.observation,
            },
            f"match{number}-ply{fault.ply}",
        )
        if kept.path:
            self.saved.append(str(kept.path))
        if self._silent or self._shown >= _MAX_SHOWN:
            return
        self._shown += 1
        where = f"match {number}, ply {fault.ply}, seat {fault.seat}"
        say(f"{fault.traceback}{where}: {fault.kind}: {fault.reason}; {kept.told}")

    def show_end(self, faults: dict[str, int], forfeits: int) -> None:
        """Print how many faults there were, and how to go on."""
        if not faults:
            print("faults       none")
            return
        kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(faults.items()))
        print(f"faults       {kinds}; {forfeits} matches forfeited, by three faults each")
        if self.saved:
            print()
            print("As a test, with what the bot was asked:")
            print(f"  seen = json.loads(Path({self.saved[0]!r}).read_text())")
            print(
                f"  assert load({str(self._bot.name)!r})(seen['info'])(seen['observation']) "
                "in seen['observation']['legal_moves']"
            )
