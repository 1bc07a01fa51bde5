"""``python -m bots_sdk`` is ``twelfth-night``."""

import sys

try:
    from bots_sdk.cli import main
except ModuleNotFoundError as error:
    package = (error.name or "").partition(".")[0]
    if package in ("", "bots_sdk", "engine"):
        raise
    print(
        f"twelfth-night: the package {package} is not installed in {sys.executable}. In a checkout "
        "of Twelfth Night, run `make venv`, which installs all packages, and then "
        "`source .venv/bin/activate`.",
        file=sys.stderr,
    )
    sys.exit(2)

main()
