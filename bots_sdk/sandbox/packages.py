"""The packages that bots may import in addition to the standard library.

It runs inside the jail, so it needs only Python.
"""

import os
import sys
from collections.abc import Iterator
from importlib.machinery import ModuleSpec, SourceFileLoader
from typing import Any


class Packages:
    """Finds the packages that bots may import in addition to the standard library.

    In tier 2 these packages have other paths once the file broker answers. A zygote loads modules
    of them before; the modules then have the later paths.
    """

    def __init__(self, packages: dict[str, str], places: dict[str, str]) -> None:
        """Store where packages are.

        Args:
            packages: the paths of packages, by name.
            places: where the files below some of these paths are until the lock.
        """
        self._packages = packages
        self._places = places

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        """Return the place of a package or, before the lock, of its module; for ``meta_path``."""
        top, *below = name.split(".")
        if top not in self._packages or (below and self._packages[top] not in self._places):
            return None
        base = "/".join((self._packages[top], *below))
        is_package = not below or os.path.isdir(self.place(base))
        file = f"{base}/__init__.py" if is_package else f"{base}.py"
        if below and not os.path.isfile(self.place(file)):
            return None
        loader = Loader(name, file)
        loader.packages = self
        spec = ModuleSpec(name, loader, origin=file, is_package=is_package)
        if is_package:
            spec.submodule_search_locations = [base]
        spec.has_location = True
        return spec

    def __iter__(self) -> Iterator[str]:
        """Yield the paths of the packages."""
        return iter(self._packages.values())

    def place(self, path: str) -> str:
        """Return where a file is now."""
        for base, place in self._places.items():
            if path.startswith(base):
                return place + path[len(base) :]
        return path

    def forget_places(self) -> None:
        """Use the paths themselves from now on."""
        self._places = {}
        missing = [path for path, finder in sys.path_importer_cache.items() if finder is None]
        for path in missing:
            del sys.path_importer_cache[path]


class Loader(SourceFileLoader):
    """Loads a module of `Packages`."""

    packages: Packages

    def get_data(self, path: str) -> bytes:
        """Read a file from where it is now."""
        return super().get_data(self.packages.place(path))

    def path_stats(self, path: str) -> Any:
        """Return the time and size of a file."""
        return super().path_stats(self.packages.place(path))


def find_modules(path: list[str], packages: dict[str, str], places: dict[str, str]) -> None:
    """Search modules only in some directories, and packages in their places."""
    sys.path[:] = path
    sys.path_importer_cache.clear()
    sys.meta_path.append(Packages(packages, places))


def without_directories(text: str) -> str:
    """Return a traceback in which the files of Python and of packages have short paths.

    An author has no use for the directories of the league's machine, such as those above
    ``python3.11/socket.py``.
    """
    named = [path for finder in sys.meta_path if isinstance(finder, Packages) for path in finder]
    for path in sorted({*sys.path[:1], *named}, key=len, reverse=True):
        directory = path.rpartition("/")[0]
        if directory:
            text = text.replace(f"{directory}/", "")
    return text


def forget_places() -> None:
    """Use the later paths of packages from now on."""
    for finder in sys.meta_path:
        if isinstance(finder, Packages):
            finder.forget_places()
