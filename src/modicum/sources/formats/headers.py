"""Whether the first line of a text file names its columns: what messages may show of it.

A file of text declares nothing: its first line is a header if whoever wrote it meant so, and
somebody's row if not. Whether rows below it look alike would tell, and would depend on them. So the
line itself is judged, and nothing else. It is one of three:

- *data*: a cell is a number, a date, a time or an address, which a row has and a header rarely.
  Nothing of it is shown;
- *named*: enough of its cells are words by which columns are called. It is a header, and shown;
- anything else, such as ``Anna,Bern``, which may be either. Its cells are counted. One of them is
  shown to who has typed it nearly right, and so knows it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from importlib import import_module
from math import isnan

from modicum.errors import nearest

_LONGEST = 60  # letters of a name in a header that is shown
_NEARLY = 0.8  # how alike what was typed is: one letter in five may be missing or wrong
_DATA = {
    "dates": re.compile(
        r"\d{1,4}([-/.])\d{1,2}\1\d{1,4}.*|(?i:\d{1,2}[ -]?[a-z]{3,9}\.?[ -]?\d{2,4})"
    ),
    "times": re.compile(r"\d{1,2}:\d{2}(:\d{2}.*)?"),
    "addresses": re.compile(r"\S+@\S+\.\S+|(?i:https?://.*)|\d{1,3}(\.\d{1,3}){3}"),
    "numbers": re.compile(  # with a sign or a unit, and long codes
        r"([^\w\s]|[A-Z]{3})?\s?[+-]?\(?[\d.,' -]*\d[\d.,' ]*\)?\s?([^\w\s]|[a-zA-Z]{1,3})?"
        r"|(?i:[0-9a-f]{8}-[0-9a-f-]{10,})|(?i:(?=.*\d)[0-9a-f]{12,})"
    ),
}
_HUMP = re.compile(r"(?<=[a-zß-öø-ÿ])(?=[A-ZÀ-ÖØ-Þ])")  # visitDate
_APART = re.compile(r"[;|\t\r\n\ufffd]|,.*,|^\W")  # cells of another separator, comments
_WORD = re.compile(r"[^\W\d_]+")
_NAMES = frozenset(
    re.findall(
        r"\S+",
        """
        account address age amount area arm balance bill birth bmi bp category charge city
        class code column comment cost count country county course created currency customer
        date day days death delay department description diagnosis distance district dob
        dose duration earnings education email employee end event expenses family fee field
        file firm company first flag from gender grade group health height hospital hour hours house
        household id identifier income index insurance item job key kind label last lat
        latitude length level lon longitude market measure minute model month name
        nationality notes number occupation office order origin outcome pain patient pay
        percent period person phone place plan points population position postcode pressure
        price product profession quantity quarter rank rate rating ratio reason record
        region remark response result revenue row salary sales sample school score section
        sector serial sex share size smoker source speed spend spending start state status
        stay store street student sum surname target tax team temperature time timestamp
        title total treatment type unit updated user uuid value variable version visit
        visits volume wage week weekday weight x y year years z zip zone alter anzahl art
        beruf bestand betrag datum dauer einkommen ende ergebnis faktor farbe fläche geburt
        geschlecht gewicht größe groesse gruppe haushalt jahr kanton klasse kosten kunde
        land länge menge miete monat nachname nummer nr ort plz preis schlüssel staat stadt
        strasse straße stunde summe tag typ umsatz versicherung vorname wert zahl zeit
        zivilstand adresse annee année commune département duree durée jour libelle libellé
        mois montant naissance nom nombre numero numéro pays poids prenom prénom prix revenu
        sexe taille ville apellido año ciudad cliente edad estado fecha genero ingreso mes
        pais país peso precio sexo tipo valor
        """,
    )
)
_FILLERS = frozenset(re.findall(r"\S+", "a by de der des du in la le no of per the to von"))


def data_in(cells: Sequence[str], number: Callable[[str], float]) -> str:
    """Name what a line holds that a header does not; empty if there is no such thing.

    Examples
    --------
    >>> from modicum.sources.formats.numerals import Numbers
    >>> number = Numbers().reader()
    >>> data_in(["Anna", "1985-03-02"], number), data_in(["7", "a"], number)
    ('dates', 'numbers')
    >>> data_in(["id", "x1"], number)
    ''
    """
    for cell in map(str.strip, cells):
        if not isnan(number(cell)):
            return "numbers"
        for kind, pattern in _DATA.items():
            if pattern.fullmatch(cell):
                return kind
    return ""


def are_names(cells: Sequence[str]) -> bool:
    """Whether a line is surely a header.

    Half of its cells at least, and two unless there is but one, are made of words that name
    columns; none is repeated or long.

    Examples
    --------
    >>> are_names(["patient_id", "Date of birth", "hb"]), are_names(["Anna", "Bern", "A41"])
    (True, False)
    """
    there = [cell for cell in cells if cell]
    if any(_APART.search(cell) for cell in there):
        return False
    named = sum(map(_is_name, there))
    return (
        len(set(there)) == len(there)
        and max(map(len, there), default=0) <= _LONGEST
        and 2 * named >= len(there)
        and named >= min(2, len(there)) > 0
    )


def _is_name(cell: str) -> bool:
    """Whether a cell is made of words that name columns; in an identifier one is enough.

    >>> [_is_name(each) for each in ("hh_income", "visitDate", "Ann Hill", "Total cost", "A41")]
    [True, True, False, True, False]
    """
    words = [each.lower() for each in _WORD.findall(_HUMP.sub(" ", cell))]
    words = [each for each in words if each not in _FILLERS]
    joined = re.fullmatch(r"[^\W\d]\w*", cell) is not None and len(words) > 1
    known = [each in _NAMES for each in words]
    return any(known) if joined else bool(known) and all(known)


def nearly(typed: str, cells: Sequence[str]) -> str | None:
    """Return the cell that somebody typed nearly right.

    Examples
    --------
    >>> nearly("patientid", ["patient_id", "Bern"]), nearly("ber", ["patient_id", "Bern"])
    ('patient_id', None)
    """
    found = nearest(typed, cells)
    if found is None:
        return None
    one, other = typed.casefold(), found.casefold()
    ratio = import_module("difflib").SequenceMatcher(None, one, other).ratio()
    return found if one == other or (ratio >= _NEARLY and min(len(one), len(other)) > 3) else None
