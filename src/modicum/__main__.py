"""``python -m modicum`` is the command ``modicum``."""

import sys
import warnings
from importlib import import_module


def main() -> int:
    """Run the command line; an interrupt is handled from the first import on."""
    warnings.formatwarning = lambda message, *_: f"modicum: {message}\n"
    try:
        status: int = import_module("modicum.cli").main()
    except KeyboardInterrupt:
        return 130
    return status


if __name__ == "__main__":
    sys.exit(main())
