"""Where the wheels with programs are installed."""

from importlib.util import find_spec
from pathlib import Path

from devserver.place import ServersError


def wheel(package: str) -> Path:
    """Return the directory of an installed package.

    Raises:
        ServersError: the package is not installed.
    """
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        raise ServersError(missing_wheel(package))
    return Path(spec.origin).parent


def missing_wheel(package: str) -> str:
    """Return the message for a package without a program for this platform."""
    return (
        f"The package {package} is not installed for this platform. Install it, or set "
        "DATABASE_URL and REDIS_URL to servers that you run."
    )
