"""``python -m bots_sdk`` is ``twelfth-night``."""

from bots_sdk.cli import main

main()
