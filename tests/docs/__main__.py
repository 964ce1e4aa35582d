"""Writes anew what pages print: ``python -m tests.docs [--full] [PAGE ...]``, all by default.

What agrees with the page stays. With ``--full`` what stands for dots is written out too.
"""

import contextlib
import os
import sys
import tempfile

from tests.docs.pages import DOCS, pages, run_page, seeded, text_of

LONGEST = 30
"""Lines of a result that a page can show."""


def rewritten(page: str, full: bool) -> str:
    text, shift = text_of(page), 0
    for block, runner, _ in run_page(page):
        lines = block[2].splitlines(keepends=True)
        for example, got, agrees in reversed(runner.printed):
            dots = full and "..." in example.want and got.count("\n") <= LONGEST
            if example.exc_msg is None and (dots or not agrees):
                start = example.lineno + example.source.count("\n")
                lines[start : start + example.want.count("\n")] = [got]
        code = "".join(lines)
        start, end = block.span(2)
        text = text[: start + shift] + code + text[end + shift :]
        shift += len(code) - (end - start)
    return text


def main(arguments: list[str]) -> None:
    chosen = [each for each in arguments if each != "--full"]
    for page in chosen or pages():
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder), seeded(page):
            new = rewritten(page, "--full" in arguments)
        if new != text_of(page):
            (DOCS / f"{page}.md").write_text(new, "utf-8")
            sys.stdout.write(f"{page}{os.linesep}")


if __name__ == "__main__":
    main(sys.argv[1:])
