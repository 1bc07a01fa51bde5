"""The imports of a bot, and whether the sandbox has them.

No list of modules decides. The sandbox contains the standard library and the packages of
`bots_sdk.sandbox.jail`, and `bots_sdk.sandbox.harness` lists the C extensions that load.
"""

import ast
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

from bots_sdk.sandbox.sources import Source

_MISSES = {"ImportError", "ModuleNotFoundError", "Exception", "BaseException"}
_BINDS_ANYTHING = {"globals", "exec", "vars", "setattr"}
_AS_PROGRAM = {"__name__", "'__main__'"}
"""The sides of ``if __name__ == "__main__"``, a condition that never holds in a bot."""

PROBE = b"""
import json
import re

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
_LACKS_OF_BOT = re.compile(r"(?:cannot import name|module 'bot' has no attribute) '(\w+)'")
"""The error of an import if bot.py lacks a name. The probe, which replaces bot.py, has none."""


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


def missing(answer: str, imports: list[Import], main: bytes) -> list[tuple[Import, str]]:
    """Return the imports that fail, each with the reason.

    Args:
        answer: the probe's answer.
        imports: all imports of the bot.
        main: the content of bot.py. The probe has none of its names.
    """
    reasons = json.loads(answer)
    names = _names_in(main)
    found = []
    for each in imports:
        reason = reasons.get(f"{each.module} {each.name}")
        if reason is not None and not _lacks_only_the_probe(reason, names):
            found.append((each, reason))
    return found


def _lacks_only_the_probe(reason: str, names: set[str]) -> bool:
    """Return whether an import fails only because the probe replaces bot.py."""
    lack = _LACKS_OF_BOT.search(reason)
    if lack is None or "'bot'" not in reason:
        return False
    is_of_modules = lack[1].startswith("__") and lack[1].endswith("__")
    return is_of_modules or lack[1] in names or "*" in names


def _names_in(main: bytes) -> set[str]:
    """Return all names that a file binds; ``*`` is among them if it may bind others."""
    try:
        tree = ast.parse(main)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return {"*"}
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            names.add(node.id)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add("*" if node.name == "__getattr__" else node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            names.update(alias.asname or alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.MatchAs | ast.MatchStar) and node.name:
            names.add(node.name)
        elif isinstance(node, ast.MatchMapping) and node.rest:
            names.add(node.rest)
        elif isinstance(node, ast.Name) and node.id in _BINDS_ANYTHING:
            names.add("*")
    return names


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
