"""Print a version with its check: its state, the bot's output, and a remedy for imports."""

import re
from pathlib import Path
from typing import Any

_PLACE = re.compile(
    r'(?<=\()bot\.py(?=, line \d)|(?<=File ")bot\.py(?=")|^bot\.py(?=, line \d)', re.M
)
"""The sandbox's name of an upload, where a message or a traceback names a line of it."""
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
    return (
        "A hosted bot may import NumPy and the standard library, but not the library's modules for "
        "the network and for processes. "
        f"`twelfth-night check {file}` lists all imports that fail. A bot that needs other "
        "packages can run on your machine, as a remote bot: `twelfth-night bot create NAME`."
    )


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
