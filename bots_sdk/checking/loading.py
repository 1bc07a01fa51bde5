"""Checks of a bot before it plays: its size, its imports, and whether it loads."""

import json
import time
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from bots_sdk.checking.findings import CheckResult, Finding, size_text
from bots_sdk.checking.imports import PROBE, imports_of, missing, question
from bots_sdk.checking.runtimes import Runtime
from bots_sdk.installing import install_command
from bots_sdk.invoking import command_word
from bots_sdk.packing import how_to_pack
from bots_sdk.sandbox import libraries
from bots_sdk.sandbox.errors import BotCrashError, BotTimeoutError
from bots_sdk.sandbox.sources import Source

MAX_EVIDENCE_LETTERS = 3000
"""The largest part of a traceback in a finding."""
MAY_IMPORT = (
    "A bot may import most of Python's standard library, NumPy, engine, its own files, and parts "
    "of bots_sdk, such as bots_sdk.environments.encoding"
)
"""What the sandbox has, as the start of a sentence."""
SLOWER = 3
"""How many times slower the league's machine may be than this one."""

_PROBE_SECONDS = 20.0


def of_source(source: Source) -> Finding:
    """Return the size of a bot."""
    files = len(source.files) or 1
    size = sum(map(len, source.files.values())) or len(source.main)
    text = f"{files} file{'s' if files > 1 else ''}, {size_text(size)}"
    return Finding("source", CheckResult.OK, text)


def of_imports(
    path: Path, source: Source, runtime: Runtime, info: dict[str, Any]
) -> Iterator[Finding]:
    """Yield the imports that fail at run time, even in functions that are never called.

    Args:
        path: the path of the bot's file.
        source: the bot's files.
        runtime: the place where the bot will run.
        info: the match whose limits hold, as a bot's ``start`` gets it.
    """
    imports = imports_of(source)
    if not imports:
        yield Finding("imports", CheckResult.OK, "none")
        return
    # The words make the sandbox load what the bot gets for the same reason.
    main = PROBE + f"# {' '.join(libraries.named_in(source))}\n".encode()
    probe = Source(main, {**source.files, "bot.py": main} if source.files else {})
    bot = runtime.start(probe, info, lambda: _PROBE_SECONDS)
    try:
        absent = missing(bot(question(imports)), imports, source.main)
    except (BotCrashError, BotTimeoutError, json.JSONDecodeError) as error:
        text = f"an import ended the bot's process: {error}"
        yield Finding("imports", CheckResult.WRONG, text, "Remove imports one by one to find it.")
        return
    finally:
        bot.close()
    needed = (each.module for each, _ in absent)
    own = list(dict.fromkeys(file for name in needed for file in _beside(path, source, name)))
    for each, why in absent:
        if "failed to map segment" in why:
            why = "its C extension can't be loaded"
        text = f"{each.file}, line {each.line}: `{each.statement}` fails: {why}"
        if each.guarded:
            yield Finding("imports", CheckResult.NOTE, f"{text}; the file catches this error.")
        else:
            yield Finding(
                "imports",
                CheckResult.WRONG,
                text,
                _import_remedy(path, source, each.module, own),
            )
    if not absent:
        names = sorted({each.module for each in imports})
        yield Finding("imports", CheckResult.OK, ", ".join(names))


def _beside(path: Path, source: Source, module: str) -> list[Path]:
    """Return the file or directory of a module that is beside a single file, if there is one."""
    top = module.partition(".")[0]
    if not source.files and (path.parent / f"{top}.py").exists():
        return [path.parent / f"{top}.py"]
    if not source.files and (path.parent / top / "__init__.py").exists():
        return [path.parent / top]
    return []


def _import_remedy(path: Path, source: Source, module: str, own: Sequence[Path]) -> str:
    """Return what to do about an import that fails.

    Args:
        path: the path of the bot's file.
        source: the bot's files.
        module: the module of the import.
        own: all that such imports need beside the bot's file.
    """
    top = module.partition(".")[0]
    if _beside(path, source, module):
        return how_to_pack(path, own)
    if top == "numpy" and find_spec("numpy") is None:
        return (
            "The league has NumPy, but this machine has not, so the check can't load it. Install "
            f"it with `{install_command('python', 'numpy')}`."
        )
    return (
        f"{MAY_IMPORT}. It can't use the network, start processes or write files. A bot that needs "
        f"more can run on your machine, as a remote bot: `{command_word()} bot create NAME`."
    )


def of_loading(source: Source, runtime: Runtime, info: dict[str, Any]) -> Finding:
    """Return whether a bot loads, and how long that takes."""
    began = time.perf_counter()
    bot = runtime.start(source, info, lambda: 60.0)
    try:
        bot.ready()
    except (BotCrashError, BotTimeoutError) as error:
        return Finding(
            "loading",
            CheckResult.WRONG,
            f"the bot does not load: {error}",
            "Fix this first: the league would refuse the upload.",
            bot.printed[-MAX_EVIDENCE_LETTERS:],
        )
    finally:
        bot.close()
    took = time.perf_counter() - began
    if source.is_module:  # its start takes fuel, and compiling it is not the bot's time
        return Finding("loading", CheckResult.OK, f"compiled and started in {took:.2f} s")
    text = f"{took:.2f} s; the limit is {runtime.start_seconds:g} s"
    if took * SLOWER > runtime.start_seconds:
        remedy = (
            "A busy machine at the league may take longer than the limit. Load less, or load data "
            "only when a move needs it."
        )
        return Finding("loading", CheckResult.WARNING, text, remedy)
    return Finding("loading", CheckResult.OK, text)
