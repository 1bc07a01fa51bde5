"""Print a version with its check: its state, the bot's output, and remedies."""

import re
import shlex
from pathlib import Path
from typing import Any

from bots_sdk.packing import how_to_pack

_PLACE = re.compile(
    r'(?<=\()bot\.py(?=, line \d)|(?<=File ")bot\.py(?=")|^bot\.py(?=, line \d)', re.M
)
"""The sandbox's name of an upload, where a message or a traceback names a line of it."""
_NO_FILE = re.compile(
    r"FileNotFoundError: \[Errno 2\] No such file or directory: "
    r"(?P<quote>['\"])(?:/\S*/bot-[a-z0-9_]{8}/)?(?P<path>[^'\"]+)(?P=quote)"
)
"""A file that a bot did not find; without a sandbox, a new directory stands before its path."""
_FAILED_IMPORTS = ("ModuleNotFoundError", "the sandbox has no module")


def with_name(text: str, file: Path) -> str:
    """Return a message that names a bot's Python file, which the sandbox calls ``bot.py``."""
    return _PLACE.sub(lambda _: file.name, text) if file.suffix == ".py" else text


def version_with_name(version: Any, file: Path) -> Any:
    """Return a version with its check, as the league describes it, with the file's own name."""
    named = {**version, "reason": with_name(version.get("reason", ""), file)}
    if "qualifying" in version:
        named["qualifying"] = [
            {
                **match,
                "reason": with_name(match["reason"], file),
                "printed": with_name(match["printed"], file),
            }
            for match in version["qualifying"]
        ]
    return named


def import_remedy(reason: str, file: Path) -> str:
    """Return what to do if an import failed at the league; empty for other reasons."""
    if not any(each in reason for each in _FAILED_IMPORTS):
        return ""
    # Imported here: the module loads the sandbox, which `logs` does not need.
    from bots_sdk.checking.loading import MAY_IMPORT

    return (
        f"{MAY_IMPORT}. It can't use the network, start processes or write files. "
        f"`twelfth-night check {shlex.quote(str(file))}` lists all imports that fail. A bot that "
        "needs other packages can run on your machine, as a remote bot: `twelfth-night bot create "
        "NAME`."
    )


def archive_remedy(reason: str, file: Path) -> str:
    """Return how to pack a bot with a file beside it that it did not find; else an empty text."""
    found = _NO_FILE.search(reason)
    missing = Path(found["path"]) if found else Path()
    if missing.is_absolute() or ".." in missing.parts or not missing.parts:
        return ""
    if file.suffix == ".zip" or not (file.parent / missing).exists():
        return ""
    return how_to_pack(file, [file.parent / missing.parts[0]])


def print_version(url: str, version: Any) -> None:
    """Print whether a version is ready, refused or not checked yet."""
    name, number, state = version["bot"], version["number"], version["state"]
    if state == "ready":
        print(f"Version {number} of {name} is ready: {url}/bots/{name}/")
    elif state == "refused":
        print(f"The league refused version {number} of {name}: {version['reason']}")
    else:
        print(f"Version {number} of {name} still waits for its check.")


def print_qualifying_matches(version: Any) -> None:
    """Print the matches of a check, and the bot's output in them."""
    outputs: dict[str, list[Any]] = {}
    for match in version["qualifying"]:
        result = f"{match['game']}: {'passed' if match['passed'] else match['reason']}"
        if result not in version["reason"]:  # which is printed already
            print(result)
        if match["printed"]:
            outputs.setdefault(match["printed"], []).append(match)
    for output, matches in outputs.items():
        games = " and ".join(match["game"] for match in matches)
        until = max(match["printed_until"] for match in matches)[:10]
        print(f"\nOutput at {games}, kept until {until} at the latest:")
        print(indented(output))


def indented(text: str, by: int = 2) -> str:
    """Return a text with spaces before each line."""
    return "\n".join(" " * by + line for line in text.rstrip("\n").split("\n"))
