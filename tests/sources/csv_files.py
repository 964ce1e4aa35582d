"""Generated CSV files of all sorts, and a reader of them that is slow and plain to see."""

import random

LONG = 131_073  # beyond the standard library's limit of a cell
BITS = [
    *"abxyz0123456789", "1.5", "-2e3", "NA", " ", "\t", ";", "|", ",", "é", "١", "\u2028", "\x0b",
    "\x85", "\x00", "\ufeff", "#", "'", "\\", "1,5", "1.234,5", "1 234", "inf", "nan",
]  # fmt: skip
WILD = [
    b'"',
    b'""',
    b'"',
    b"\r",
    b"\n",
    b"\r\n",
    b"\xff",
    b"\xe2\x82",
    b"\xed\xa0\x80",
    b"\xf0\x9f",
]


def _text(rng: random.Random) -> bytes:
    return "".join(rng.choice(BITS) for _ in range(rng.choice([0, 1, 1, 2, 3]))).encode()


def sound_cell(rng: random.Random, mark: bytes) -> bytes:
    """A cell as a program writes it: in quotes where it has to be."""
    text = rng.choice([b"", b"5", b"-1.5", _text(rng), _text(rng)])
    if rng.random() < 0.3:
        text += rng.choice(WILD) + _text(rng)
    if rng.random() < 0.002:
        text += rng.choice([b"n", b"1\n", b'"', b"\xff,"]) * LONG
    if any(each in text for each in (b'"', b"\r", b"\n", mark)) or rng.random() < 0.2:
        return b'"' + text.replace(b'"', b'""') + b'"'
    return text


def odd_cell(rng: random.Random, mark: bytes) -> bytes:
    """A cell with anything in it."""
    wild = [rng.choice([_text(rng), rng.choice(WILD), mark]) for _ in range(rng.randrange(4))]
    if rng.random() < 0.002:
        wild.append(rng.choice([b"n", b"1\n", b'"', b'""x']) * LONG)
    return b"".join(wild)


def row(rng: random.Random, cell, mark: bytes) -> bytes:
    return mark.join(cell(rng, mark) for _ in range(rng.choice([0, 1, 2, 2, 2, 3])))


def csv_file(seed: int, mark: bytes = b",") -> bytes:
    """A file with the header g, x; whether its rows are sound, and how many, is left to chance."""
    rng = random.Random(seed)
    odd = rng.choice([0.0, 0.0, 0.0, 0.1, 1.0])
    ends = rng.choice([[b"\n"], [b"\r\n"], [b"\n", b"\r\n"], [b"\r"], [b"\n", b"\r"]])
    head = rng.choice([b"", b"", b"\xef\xbb\xbf"]) + mark.join(
        rng.choice([[b"g", b"x"], [b'"g"', b"x"]])
    )
    rows = [
        row(rng, odd_cell if rng.random() < odd else sound_cell, mark)
        for _ in range(rng.randrange(12))
    ]
    text = b"".join(each + rng.choice(ends) for each in [head, *rows])
    return text if rng.random() < 0.6 else text[: len(text) - rng.randrange(3)]


def reference(data: bytes, mark: str = ",", *, multiline: bool = True) -> list[list[str]]:
    """The rows of a file by the definition, one character after the other."""
    text = data.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace")
    rows: list[list[str]] = []
    at = 0
    while at < len(text):
        cells: list[str] = []
        blank = text[at] in "\r\n"
        more = True
        while more:
            end = _closed(text, at, mark, multiline=multiline)
            if end is None:
                end = at
                while end < len(text) and text[end] not in (mark, "\r", "\n"):
                    end += 1
                cells.append(text[at:end])
            else:
                blanks = end - at - len(text[at:end].rstrip(" \t".replace(mark, "")))
                inner = text[at + 1 : end - blanks - 1].replace('""', '"')
                cells.append(inner + text[end - blanks : end])
            more = text[end : end + 1] == mark
            at = end + more
        at += 2 if text[at : at + 2] == "\r\n" else 1
        rows.append([] if blank else cells)
    return rows


def _closed(text: str, at: int, mark: str, *, multiline: bool) -> int | None:
    """Where the quoted cell at a place ends, None if there is none."""
    if text[at : at + 1] != '"':
        return None
    at += 1
    while at < len(text):
        if text[at] in "\r\n" and not multiline:
            return None
        if text[at] != '"':
            at += 1
        elif text[at : at + 2] == '""':
            at += 2
        else:
            at += 1
            while at < len(text) and text[at] in " \t" and text[at] != mark:
                at += 1
            return at if at == len(text) or text[at] in (mark, "\r", "\n") else None
    return None
