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
        except (SyntaxError, ValueError):
            continue
        found += list(_imports(tree, name, guarded=False))
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
    ]


def _imports(node: ast.AST, file: str, *, guarded: bool) -> Iterator[Import]:
    if isinstance(node, ast.Import):
        for alias in node.names:
            yield Import(alias.name, "", file, node.lineno, guarded)
    elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
        for alias in node.names:
            yield Import(node.module, alias.name, file, node.lineno, guarded)
    elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
        for statement in node.orelse:
            yield from _imports(statement, file, guarded=guarded)
    elif isinstance(node, ast.Try):
        for statement in node.body:
            yield from _imports(statement, file, guarded=guarded or _catches(node))
        for part in (*node.handlers, *node.orelse, *node.finalbody):
            yield from _imports(part, file, guarded=guarded)
    else:
        for child in ast.iter_child_nodes(node):
            yield from _imports(child, file, guarded=guarded)


def _catches(node: ast.Try) -> bool:
    """Return whether a try statement handles a missing module."""
    for handler in node.handlers:
        if handler.type is None:
            return True
        names = {each.id for each in ast.walk(handler.type) if isinstance(each, ast.Name)}
        if names & _MISSES:
            return True
    return False
