"""The engine at the command line: simulate, verify, observe, show, bench."""

import sys

from engine.cli import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
