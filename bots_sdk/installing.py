"""The command that installs a package in the present environment, which may have no pip."""

import shutil
from importlib.metadata import PackageNotFoundError, distribution


def install_command(python: str, *packages: str) -> str:
    """Return the command that installs packages for a Python.

    An environment that uv created has no pip; then uv installs, or ensurepip brings pip first.

    Args:
        python: the word that starts this Python.
        packages: the names of the packages.
    """
    names = " ".join(packages)
    try:
        distribution("pip")  # to look for its module would let setuptools replace distutils
        return f"{python} -m pip install {names}"
    except PackageNotFoundError:
        pass
    if shutil.which("uv"):
        return f"uv pip install --python {python} {names}"
    return f"{python} -m ensurepip && {python} -m pip install {names}"
