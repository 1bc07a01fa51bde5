"""The imports of a bot, and whether the sandbox has them.

No list of modules decides. The sandbox contains the standard library and the packages of
`bots_sdk.sandbox.jail`, and `bots_sdk.sandbox.harness` lists the C extensions that load.
"""

import ast
import json
from collections.abc import Iterator
from dataclasses import dataclass

from bots_sdk.sandbox.sources import Source

_MISSES = {"ImportError", "ModuleNotFoundError", "Exception", "BaseException"}
_AS_PROGRAM = {"__name__", "'__main__'"}
"""The sides of ``if __name__ == "__main__"``, a condition that never holds in a bot."""

PROBE = b"""
import json

def choose(observation):
    missing = {}
    for module, name in observation["imports"]:
        try:
            found = __import__(module, fromlist=[name] if name else [])
            if name and name != "*" and not hasattr(found, name):
                raise ImportError(f"cannot import name {name!r} from {module!r}")
        except BaseException as error:
            missing[f"{module} {name}"] = f"{type(error).__name__}: {error}"
    return json.dumps(missing)
"""
"""A bot that tries the imports of another bot."""
_LACKS_THE_BOT = ("from 'bot'", "module 'bot' has no attribute")
"""Reasons of imports that fail only because the probe stands in the place of bot.py."""


@dataclass(frozen=True, slots=True)
class Import:
    """An import of a module.

    Attributes:
        module: the dotted name of the module.
        name: the imported name; empty for a plain import.
        file: the file of the statement.
        line: the line of the statement.
        guarded: whether the file handles a failure of the import.
    """

    module: str
    name: str
    file: str
    line: int
    guarded: bool

    @property
    def statement(self) -> str:
        """The import statement."""
        if self.name:
            return f"from {self.module} import {self.name}"
        return f"import {self.module}"


def imports_of(source: Source) -> list[Import]:
    """Return the imports in a bot's files, in functions too; a file that is not Python has none."""
    files = dict(source.files) or {"bot.py": source.main}
    found = []
    for name in sorted(files):
        if not name.endswith(".py"):
            continue
        try:
            tree = ast.parse(files[name])
        except (SyntaxError, ValueError, RecursionError, MemoryError):  # nested too deeply
            continue
        found += list(_imports(tree, name))
    return found


def question(imports: list[Import]) -> dict[str, list[tuple[str, str]]]:
    """Return the observation for the probe."""
    return {"imports": sorted({(each.module, each.name) for each in imports})}


def missing(answer: str, imports: list[Import]) -> list[tuple[Import, str]]:
    """Return the imports that fail, each with the reason, from the probe's answer."""
    reasons = json.loads(answer)
    return [
        (each, reasons[f"{each.module} {each.name}"])
        for each in imports
        if f"{each.module} {each.name}" in reasons
        and not any(why in reasons[f"{each.module} {each.name}"] for why in _LACKS_THE_BOT)
    ]


def _imports(tree: ast.AST, file: str) -> Iterator[Import]:
    """Yield the imports in a file, without recursion: a long sum is a deep tree."""
    waiting = [(tree, False)]
    while waiting:
        node, guarded = waiting.pop()
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(alias.name, "", file, node.lineno, guarded)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                yield Import(node.module, alias.name, file, node.lineno, guarded)
        else:
            waiting += reversed(_below(node, guarded=guarded))


def _below(node: ast.AST, *, guarded: bool) -> list[tuple[ast.AST, bool]]:
    """Return the parts of a node that may run, and whether a missing module is handled there."""
    if isinstance(node, ast.If) and _never_holds(node.test):
        return [(each, guarded) for each in node.orelse]
    if isinstance(node, ast.Try):
        rest = (*node.handlers, *node.orelse, *node.finalbody)
        return [
            *((each, guarded or _catches(node)) for each in node.body),
            *((each, guarded) for each in rest),
        ]
    return [(each, guarded) for each in ast.iter_child_nodes(node)]


def _never_holds(test: ast.expr) -> bool:
    """Return whether a condition never holds when a bot plays, at the league or at home."""
    names = {
        each.id if isinstance(each, ast.Name) else each.attr
        for each in ast.walk(test)
        if isinstance(each, ast.Name | ast.Attribute)
    }
    if "TYPE_CHECKING" in names:
        return True
    if not isinstance(test, ast.Compare) or not isinstance(test.ops[0], ast.Eq):
        return False
    return {ast.unparse(test.left), *map(ast.unparse, test.comparators)} == _AS_PROGRAM


def _catches(node: ast.Try) -> bool:
    """Return whether a try statement handles a missing module."""
    for handler in node.handlers:
        if handler.type is None:
            return True
        names = {each.id for each in ast.walk(handler.type) if isinstance(each, ast.Name)}
        if names & _MISSES:
            return True
    return False
