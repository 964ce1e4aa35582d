"""``python -m modicum`` is the command ``modicum``."""

import sys
from importlib import import_module


def main() -> int:
    """Run the command line; an interrupt is handled from the first import on."""
    try:
        status: int = import_module("modicum.cli").main()
    except KeyboardInterrupt:
        return 130
    return status


if __name__ == "__main__":
    sys.exit(main())
