"""What kind of file it is, by its first bytes: for files whose name says that they are text.

Only the beginning is looked at, and only of a file that is to name its columns in its first line:
that line counts as public. Nothing else is looked at unless that line holds control characters, as
no text does, so that no row decides. What is found is the kind alone; no byte of the file is shown.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

MOST_READ = 4096
"""How many of the first bytes say what a file is."""

_UNPACK = "unpack it first"
_RENAME = "give it a name that ends in {0}"
_BINARY = rb"(?=[^\n\r]{0,64}[\0-\x08\x0e-\x1f])"  # a name may begin with the same letters
_SIGNATURES: Sequence[tuple[bytes, str, str]] = (
    (rb"PAR[1E]" + _BINARY, "a Parquet file", _RENAME.format(".parquet")),
    (rb"ARROW1\0|FEA1\0|\xff{4}...\0", "an Arrow file", _RENAME.format(".arrow")),
    (rb"ORC(?:\n|" + _BINARY + rb")", "an ORC file", _RENAME.format(".orc")),
    (rb"\x1f\x8b", "compressed by gzip", _RENAME.format(".csv.gz")),
    (rb"BZh[1-9]1AY&SY", "compressed by bzip2", _RENAME.format(".csv.bz2")),
    (rb"\xfd7zXZ\0", "compressed by xz", _RENAME.format(".csv.xz")),
    (rb"[\x22-\x28]\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18", "compressed by zstd", _UNPACK),
    (rb"\x04\x22\x4d\x18|\x02\x21\x4c\x18", "compressed by lz4", _UNPACK),
    (rb"\x1f[\x9d\xa0]", "compressed", _UNPACK),
    (rb"7z\xbc\xaf|Rar!\x1a|PK\x05\x06", "an archive", _UNPACK),
    (
        rb"PK\x03\x04.{0,4000}?(?:\[Content_Types\]\.xml|xl/)",
        "a workbook of Excel",
        _RENAME.format(".xlsx"),
    ),
    (rb"PK\x03\x04.{26}mimetypeapplication/vnd\.oasis", "an open spreadsheet", "save it as .xlsx"),
    (rb"PK\x03\x04", "a zip archive", _UNPACK),
    (rb"\xd0\xcf\x11\xe0", "an old file of Excel or Office", "save it as .xlsx"),
    (
        rb"SQLite format 3\0",
        "a database of SQLite",
        "in Python pass ibis.sqlite.connect(PATH).table(NAME)",
    ),
    (rb".{8}DUCK.\0{7}", "a database of DuckDB", "in Python pass duckdb.connect(PATH).table(NAME)"),
    (rb"<stata_dta>|[\x66-\x73][\x01\x02]\x01\x00", "a file of Stata", _RENAME.format(".dta")),
    (rb"\$FL[23]@", "a file of SPSS", _RENAME.format(".sav")),
    (rb"\0{12}\xc2\xea\x81\x60", "a file of SAS", _RENAME.format(".sas7bdat")),
    (rb"HEADER RECORD\*{7}", "a file of SAS", _RENAME.format(".xpt")),
    (rb"RDX[23]\n", "a file of R", "write it with write.csv there"),
    (
        rb"\x89HDF|CDF[\x01\x02\x05]|MATLAB 5\.0 MAT-file",
        "a file of arrays (HDF5, NetCDF or MATLAB)",
        "",
    ),
    (rb"\x89PNG|\xff\xd8\xff|GIF8[79]a", "a picture", ""),
    (rb"\x93NUMPY", "an array of NumPy", "in Python pass numpy.load(PATH)"),
    (rb"\x80[\x02-\x05].{9}|\x80[\x02-\x05]\x7d", "a pickle of Python", "pass what is in it"),
    (rb"Obj\x01", "an Avro file", "write it to Parquet"),
)
_WORDS: Sequence[tuple[bytes, str, str]] = (
    (rb"%PDF-", "a PDF", "export the table as CSV"),
    (rb"\{\\rtf1|%!PS-", "a document", "export the table as CSV"),
    (rb"-----BEGIN [A-Z]|age-encryption\.org/", "encrypted", "decrypt it first"),
    (
        rb"version https://git-lfs",
        "a pointer of Git LFS and not the file itself",
        "fetch the file with git lfs pull",
    ),
    (
        rb"(?i)<(?:!doctype html|html|head|body|table|script|meta|div)\b",
        "a page of HTML",
        "perhaps a login page was downloaded in place of the file",
    ),
    (
        rb"(?i)<(?:\?xml|!--|[a-z][\w:.-]*(?:\s[^<>]*)?>\s*(?:<|$))",
        "an XML file",
        "export the table as CSV",
    ),
    (
        rb"\{\s*(?:\}|\"(?:[^\"\\]|\\.)*\"\s*:|$)|\[\s*(?:[\[{\]\"]|-?\d|true|false|null|$)",
        "a JSON file",
        "in Python pass pandas.read_json(PATH), or polars.scan_ndjson(PATH) if each line is a row",
    ),
)
_KINDS, _OF_TEXT = (
    [(re.compile(each, re.DOTALL), kind, how) for each, kind, how in kinds]
    for kinds in (_SIGNATURES, _WORDS)
)
_MARKS = {
    b"\xff\xfe\0\0": "UTF-32",
    b"\0\0\xfe\xff": "UTF-32",
    b"\xff\xfe": "UTF-16",
    b"\xfe\xff": "UTF-16",
}
_BOM = b"\xef\xbb\xbf"
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x19\x1c-\x1f\x7f]")
_HALVES = re.compile(rb"(?:[^\0]\0){4}|(?:\0[^\0]){4}")


def other_kind(start: bytes, separator: str = ",") -> str | None:
    """Return what a file is that begins with some bytes and is no text, and what to do.

    Examples
    --------
    >>> other_kind(b"PAR1" + bytes(8))
    'is a Parquet file: give it a name that ends in .parquet'
    >>> other_kind(b"id,income" + bytes([10])) is None
    True
    """
    start = start[:MOST_READ]
    for mark, encoding in _MARKS.items():
        if start.startswith(mark):
            return f"is in {encoding}: save it as UTF-8"
    text = start.removeprefix(_BOM)
    line = re.split(rb"[\r\n]", text.lstrip(), maxsplit=1)[0]
    binary = _CONTROL.search(line.replace(separator.encode(), b"")) is not None
    for found, kinds in ((text if binary else line + b"\n", _KINDS), (line, _OF_TEXT)):
        for pattern, kind, how in kinds:
            if pattern.match(found):
                return f"is {kind}" + (f": {how}" if how else "")
    if binary and _HALVES.match(text):
        return "is in UTF-16: save it as UTF-8"
    if binary:
        return "is no text: its first line holds control characters"
    return None
