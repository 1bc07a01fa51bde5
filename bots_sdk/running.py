"""Runs a bot from a file in its league until Ctrl-C."""

import asyncio
import signal
from contextlib import suppress
from pathlib import Path

from bots_sdk.bot import BotFile
from bots_sdk.bot_files import load
from bots_sdk.reports import RunnerStatus, reporting
from bots_sdk.runner import THREADS, Runner
from bots_sdk.waiting import NotedReports, report_waiting, waiting_client


def run(
    bot_file: str | Path | BotFile,
    url: str,
    token: str,
    *,
    name: str = "",
    threads: int = THREADS,
    faults: Path = Path("faults"),
    as_json: bool = False,
) -> RunnerStatus:
    """Run a bot until SIGINT or SIGTERM; a second signal ends it at once.

    Args:
        bot_file: the bot, or the path of its Python file.
        url: the address of the league.
        token: the bot's token.
        name: the bot's name at the league; with it, the runner reports what the bot waits for.
        threads: the number of turns to compute in parallel.
        faults: the directory for the observations of faults.
        as_json: whether to print a JSON object for each event instead of text.

    Raises:
        BotFileError: the file is not a bot.
        ProblemError: the token does not work, or no league is at the address.
        KeyboardInterrupt: a second signal arrived.
    """
    bot = bot_file if isinstance(bot_file, BotFile) else load(bot_file)
    return asyncio.run(_run(bot, url, token, name, threads, faults, as_json))


async def _run(
    bot: BotFile, url: str, token: str, name: str, threads: int, faults: Path, as_json: bool
) -> RunnerStatus:
    stop = _stop_at_signals()
    with reporting(as_json=as_json) as (plain_report, show):
        report = NotedReports(plain_report, name)
        runner = Runner(bot, url, token, report, threads=threads, faults=faults)
        show(runner.status)
        report("ready", f"{bot.path} is ready; Ctrl-C stops it", bot=str(bot.path))
        async with waiting_client(url, token) as client:
            waiting = asyncio.create_task(report_waiting(client, name, report, runner.status))
            try:
                await runner.run(stop)
            finally:
                waiting.cancel()
                await asyncio.gather(waiting, return_exceptions=True)
    return runner.status


def _stop_at_signals() -> asyncio.Event:
    """Return an event that SIGINT and SIGTERM set; a second signal interrupts."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()

    def on_signal() -> None:
        if stop.is_set():
            raise KeyboardInterrupt
        stop.set()

    for number in (signal.SIGINT, signal.SIGTERM):
        with suppress(NotImplementedError):  # on Windows, where Ctrl-C interrupts at once
            loop.add_signal_handler(number, on_signal)
    return stop
