"""What to do after ``try``: commands for a bot with faults, and for one without."""

import shlex
from collections.abc import Sequence

from bots_sdk.arena.contestants import QUICK
from bots_sdk.arena.trials import TrialSummary
from bots_sdk.commands.output import print_commands
from bots_sdk.invoking import command_word
from engine.games.catalogue import GAMES

_FEW_BLOCKS = 1000


def after_faults(bot: str, game: str, *, may_play_other: bool) -> None:
    """Print the commands that find the cause of a bot's faults.

    Args:
        bot: the bot's file.
        game: the game that it was tried at.
        may_play_other: whether its author perhaps wrote it for the other game.
    """
    file, word = shlex.quote(bot), command_word()
    rows = [(f"{word} check {file}", "find the causes of the faults first")]
    other = next(each for each in GAMES if each != game)
    if may_play_other:
        rows.append((f"{word} try {file} --game {other}", f"if the bot plays {other}, not {game}"))
    rows.append((f"{word} rules observations", "read what your bot may see"))
    rows.append((f"{word} rules moves", "read which moves are legal"))
    print()
    print("Next:")
    print_commands(rows)
    if may_play_other:
        print(f'If the bot plays only {other}, write GAMES = ["{other}"] into its file.')


def after_trial(words: str, game: str, summary: TrialSummary, against: Sequence[str]) -> None:
    """Print the commands for a surer verdict and for a closer look.

    Args:
        words: the arguments of a command that plays the same file by the same rules.
        game: the game that the bot was tried at.
        summary: the result of the trial.
        against: the words for the opponents.
    """
    word = command_word()
    is_quick = list(against) == [QUICK]
    rows = []
    if summary.blocks < _FEW_BLOCKS:
        opponents = "" if is_quick else "".join(f" --against {shlex.quote(x)}" for x in against)
        has_bars = summary.share is not None and summary.share.low is not None
        purpose = "play more blocks, for error bars half as wide"
        rows.append(
            (
                f"{word} try {words}{opponents} --blocks {max(8, 4 * summary.blocks)}",
                purpose if has_bars else "play more blocks, to get error bars",
            )
        )
    if is_quick:
        command = f"{word} try {words} --against house-search --blocks 2"
        rows.append((command, "play against the strongest house bot, which is slow"))
    rows.append((f"{word} watch {words}", "see why it wins or loses"))
    rows.append((f"{word} rules {game}", "read the rules"))
    rows.append((f"{word} rules observations", "read what your bot may see"))
    print()
    print("Next:")
    print_commands(rows)
