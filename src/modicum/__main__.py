"""``python -m modicum`` is the command ``modicum``."""

import sys

from modicum.cli import main

if __name__ == "__main__":
    sys.exit(main())
