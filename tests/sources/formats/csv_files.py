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


def csv_file(seed: int, mark: bytes = b",", before: bytes = b"", odd_bit: bytes = b"") -> bytes:
    """A file with the header g, x; whether its rows are sound, and how many, is left to chance.

    It begins with ``before``, and ``odd_bit`` stands here and there in its rows.
    """
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
    if odd_bit:
        rows = [_strewn(rng, each, odd_bit) for each in rows]
    text = before + b"".join(each + rng.choice(ends) for each in [head, *rows])
    return text if rng.random() < 0.6 else text[: len(text) - rng.randrange(3)]


def _strewn(rng: random.Random, text: bytes, bit: bytes) -> bytes:
    """Put a piece at some places, mostly before a character that means something."""
    places = [place for place, each in enumerate(text) if each in b'",;\t|\r\n\\']
    for place in sorted(rng.sample(places, min(len(places), rng.randrange(3))), reverse=True):
        text = text[:place] + bit + text[place:]
    return bit + text if rng.random() < 0.2 else text


def reference(
    data: bytes,
    mark: str = ",",
    *,
    multiline: bool = True,
    escape: str | None = None,
    comment: str | None = None,
    skip: int = 0,
) -> list[list[str]]:
    """The rows of a file by the definition, one character after the other."""
    text = data.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace")
    rows: list[list[str]] = []
    at = 0
    while at < len(text):
        if skip or (comment is not None and text[at] == comment):
            skip -= skip > 0
            while at < len(text) and text[at] not in "\r\n":
                at += 1
            at += 2 if text[at : at + 2] == "\r\n" else 1
            continue
        cells: list[str] = []
        blank = text[at] in "\r\n"
        more = True
        while more:
            end = _closed(text, at, mark, multiline=multiline, escape=escape)
            if end is None:
                end = at
                while end < len(text) and text[end] not in (mark, "\r", "\n"):
                    end = _behind(text, end, escape, multiline=multiline)
                cells.append(_meant(text[at:end], mark, escape, multiline=multiline))
            else:
                blanks = end - at - len(text[at:end].rstrip(" \t".replace(mark, "")))
                inner = text[at + 1 : end - blanks - 1]
                cells.append(
                    _meant(inner, mark, escape, multiline=multiline, quoted=True)
                    + text[end - blanks : end]
                )
            more = text[end : end + 1] == mark
            at = end + more
        at += 2 if text[at : at + 2] == "\r\n" else 1
        rows.append([] if blank else cells)
    return rows


def _behind(text: str, at: int, escape: str | None, *, multiline: bool) -> int:
    """The place behind a character, and behind what it escapes."""
    if text[at] != escape or at + 1 == len(text):
        return at + 1
    if text[at + 1] in "\r\n" and not multiline:
        return at + 1
    return at + (3 if text[at + 1 : at + 3] == "\r\n" else 2)


def _meant(
    text: str, mark: str, escape: str | None, *, multiline: bool, quoted: bool = False
) -> str:
    """A cell without its escapes and, if it is quoted, with single quotes for doubled ones."""
    found, at = "", 0
    while at < len(text):
        end = _behind(text, at, escape, multiline=multiline)
        piece = text[at:end]
        if len(piece) > 1 and piece[1] in (mark, '"', "\r", "\n", escape):
            piece = piece[1:]
        elif quoted and text[at : at + 2] == '""':
            piece, end = '"', at + 2
        found, at = found + piece, end
    return found


def _closed(text: str, at: int, mark: str, *, multiline: bool, escape: str | None) -> int | None:
    """Where the quoted cell at a place ends, None if there is none."""
    if text[at : at + 1] != '"':
        return None
    at += 1
    while at < len(text):
        if text[at] in "\r\n" and not multiline:
            return None
        if text[at] == escape:
            at = _behind(text, at, escape, multiline=multiline)
        elif text[at] != '"':
            at += 1
        elif text[at : at + 2] == '""':
            at += 2
        else:
            at += 1
            while at < len(text) and text[at] in " \t" and text[at] != mark:
                at += 1
            return at if at == len(text) or text[at] in (mark, "\r", "\n") else None
    return None
