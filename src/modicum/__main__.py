"""``python -m modicum`` is the command ``modicum``."""

import sys
import warnings


def main() -> int:
    """Run the command line; an interrupt is handled from the first import on."""
    warnings.formatwarning = lambda message, *_: f"modicum: {message}\n"
    try:
        from modicum import cli

        status = cli.main()
    except KeyboardInterrupt:
        return 130
    return status


if __name__ == "__main__":
    sys.exit(main())
