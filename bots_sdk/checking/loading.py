"""What can be said of a bot before it plays: its size, its imports, whether it can be loaded."""

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bots_sdk.checking.findings import Finding, Verdict, bytes_told
from bots_sdk.checking.imports import PROBE, imports_of, missing, question
from bots_sdk.checking.places import Place
from bots_sdk.sandbox.errors import BotCrashError, BotTimeoutError
from bots_sdk.sandbox.sources import Source

MAX_EVIDENCE = 3000
"""Letters of a traceback that are shown."""
SLOWER = 3
"""How much slower the league's machine may be than this one, at a bad moment."""

_PROBE_SECONDS = 20.0


def of_source(source: Source) -> Finding:
    """Return how large a bot is."""
    files = len(source.files) or 1
    size = sum(map(len, source.files.values())) or len(source.main)
    told = f"{files} file{'s' if files > 1 else ''}, {bytes_told(size)}"
    return Finding("source", Verdict.OK, told)


def of_imports(path: Path, source: Source, place: Place) -> Iterator[Finding]:
    """Yield which imports fail where the bot will run, also those in functions never reached.

    Args:
        path: of its file; what is beside that could go with it.
        source: its files.
        place: where it will run.
    """
    imports = imports_of(source)
    if not imports:
        yield Finding("imports", Verdict.OK, "none")
        return
    probe = Source(PROBE, {**source.files, "bot.py": PROBE} if source.files else {})
    bot = place.start(probe, {}, lambda: _PROBE_SECONDS)
    try:
        absent = missing(bot(question(imports)), imports)
    except (BotCrashError, BotTimeoutError, json.JSONDecodeError) as error:
        told = f"one of its imports ends the process that tries it: {error}"
        yield Finding("imports", Verdict.WRONG, told, "Import less, one at a time.")
        return
    finally:
        bot.close()
    for each, why in absent:
        if "failed to map segment" in why:
            why = "a part of it in C can't be loaded"
        told = f"{each.file}, line {each.line}: `{each.told}` fails there: {why}"
        if each.guarded:
            yield Finding("imports", Verdict.NOTE, f"{told}; it goes on without.")
        else:
            yield Finding("imports", Verdict.WRONG, told, _import_remedy(path, source, each.module))
    if not absent:
        names = sorted({each.module for each in imports})
        yield Finding("imports", Verdict.OK, ", ".join(names))


def _import_remedy(path: Path, source: Source, module: str) -> str:
    top = module.partition(".")[0]
    beside = path.parent
    if not source.files and (
        (beside / f"{top}.py").exists() or (beside / top / "__init__.py").exists()
    ):
        return (
            f"It is beside the file: make an archive with it, your file as bot.py in it "
            f"(`cp {path.name} bot.py; zip -r bot.zip bot.py {top}*`)."
        )
    return (
        "There is Python's standard library, without what needs the network, processes or "
        "files, and engine and bots_sdk.reference; do without the rest."
    )


def of_loading(source: Source, place: Place, info: dict[str, Any]) -> Finding:
    """Return whether a bot can be loaded, and how long that takes."""
    began = time.perf_counter()
    bot = place.start(source, info, lambda: 60.0)
    try:
        bot.ready()
    except (BotCrashError, BotTimeoutError) as error:
        return Finding(
            "loading",
            Verdict.WRONG,
            f"It can't be loaded: {error}.",
            "Mend that first; an upload would be refused for it.",
            bot.printed[-MAX_EVIDENCE:],
        )
    finally:
        bot.close()
    took = time.perf_counter() - began
    told = f"{took:.2f} s of {place.start_seconds:g} s"
    if took * SLOWER > place.start_seconds:
        remedy = "Load less, or when it is first needed: a busy machine would be too slow."
        return Finding("loading", Verdict.WARNING, told, remedy)
    return Finding("loading", Verdict.OK, told)
