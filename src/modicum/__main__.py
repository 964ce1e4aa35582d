"""``python -m modicum`` is the command ``modicum``."""

import os
import sys
import warnings


def main() -> int:
    """Run the command line; an interrupt is handled from the first import on."""
    # A command's products are small: threads for them take longer to start than they save.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    warnings.formatwarning = lambda message, *_: f"modicum: {message}\n"
    try:
        from modicum import cli

        status = cli.main()
    except KeyboardInterrupt:
        return 130
    return status


if __name__ == "__main__":
    sys.exit(main())
