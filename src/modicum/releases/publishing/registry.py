"""An entry of the Differential Privacy Deployments Registry, as far as a release knows it.

The registry (its data are in opendp/deployments-registry-data on GitHub) describes data products by
nested fields of fixed names. What a release cannot know, who publishes it where and what for, is
said by who enters it; fields that nobody said are left out.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any

from modicum.errors import InvalidArgument, as_given
from modicum.privacy.event import Event
from modicum.releases.publishing.answers import Answered, AnswerRows
from modicum.version import VERSION

_TIER = 2  # of the three tiers of completeness: the variant, the unit and its parameters are there
_POST = (
    "Intervals, rounding and flags are computed from released numbers alone, at no cost. Released "
    "counts are cut at 0."
)
_NUMERICS = (
    "Data are rounded to a public lattice and summed as integers, so that sums are exact; all "
    "draws are exact samples of discrete distributions, from the operating system's randomness. "
    "No floating-point number is drawn or has noise added to it."
)


@dataclass(frozen=True, slots=True)
class RegistryEntry:
    """What who enters a release says of it; the names are those of the registry's fields."""

    data_curators: Sequence[str]
    registry_authors: Sequence[str]
    intended_use: str
    data_product_region: str
    name: str | None
    description: str | None
    publication_date: date | str | None
    data_product_sector: str | None
    sources: str | None
    notes: str | None

    def __post_init__(self) -> None:
        for field in ("data_curators", "registry_authors"):
            names = getattr(self, field)
            listed = isinstance(names, Sequence) and not isinstance(names, str)
            if not (listed and names and all(map(_is_text, names))):
                raise InvalidArgument(
                    f"{field} must be a list of at least one name, got {as_given(names)}"
                )
        for field in ("intended_use", "data_product_region"):
            if not _is_text(getattr(self, field)):
                raise InvalidArgument(f"{field} must be text, got {as_given(getattr(self, field))}")
        for field in ("name", "description", "data_product_sector", "sources", "notes"):
            text = getattr(self, field)
            if not (text is None or _is_text(text)):
                raise InvalidArgument(f"{field} must be text, got {as_given(text)}")

    def of(self, record: Answered) -> dict[str, object]:
        """Fill in the entry of a record."""
        answers, event = record.answers(), record.total_event
        terms = answers.terms
        if terms.get("private") is False:
            raise InvalidArgument("test randomness was used: this release protects nobody")
        name = self.name or answers.title[:1].upper() + answers.title[1:]
        published = self._date()
        more = {"data_product_sector": self.data_product_sector}
        about = {"sources": self.sources, "notes": self.notes}
        return {
            "url_slug": _slug(f"{name} {published[:4]}"),
            "status": "Draft",
            "tier": _TIER,
            "deployment": {
                "basic": {
                    "name": name,
                    "data_curators": [*self.data_curators],
                    "intended_use": self.intended_use,
                    "data_product_type": "Summary statistics",
                    "data_product_region": self.data_product_region,
                    "description": self.description or _described(answers),
                    "publication_date": published,
                    **{field: text for field, text in more.items() if text is not None},
                },
                "dp_variant": {"variant_name": _variant(event)},
                "privacy_loss": _loss(event, terms),
                "deployment_model": {"model_name": "Central", "release_type": "One release"},
                "accounting": {"post_processing": _POST, "composition": _composition(terms)},
                "implementation": {
                    "preprocessing_and_hyperparameter_tuning": _before(terms),
                    "mechanisms": _mechanisms(record, terms),
                },
                "administrative": {
                    **{field: text for field, text in about.items() if text is not None},
                    "registry_authors": [*self.registry_authors],
                },
            },
        }

    def _date(self) -> str:
        given = self.publication_date
        if given is None:
            return f"{datetime.now(UTC):%Y-%m-%d}"
        try:
            return (given if isinstance(given, date) else date.fromisoformat(given)).isoformat()[
                :10
            ]
        except (TypeError, ValueError):
            raise InvalidArgument(
                f"publication_date must be a date such as 2026-11-25, got {as_given(given)}"
            ) from None


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _slug(text: str) -> str:
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:80] or "release"


def _variant(event: Event) -> str:
    names = {
        frozenset({"epsilon"}): "Pure DP",
        frozenset({"epsilon", "delta"}): "Approximate DP",
        frozenset({"rho"}): "Zero-concentrated DP",
    }
    return names.get(frozenset(event.amounts), "Custom")


def _loss(event: Event, terms: Mapping[str, object]) -> dict[str, object]:
    exact = ", ".join(f"{name} = {amount}" for name, amount in event.amounts.items())
    return {
        "privacy_unit": str(terms["unit"]),
        "privacy_unit_details": (
            f"Adjacent data sets differ by the presence or absence of {terms['unit']} "
            f"({terms['neighbours']}). If a unit is replaced in place of removed, the cost is "
            f"{event.swapped()}."
        ),
        "privacy_parameters": {name: float(each) for name, each in event.amounts.items()},
        "privacy_parameters_details": f"Exactly {exact}.",
    }


def _composition(terms: Mapping[str, object]) -> str:
    parts = [
        "The costs of all draws of the release add up to its cost (sequential composition), which "
        "was charged to the account before the first draw."
    ]
    if "keys" in terms and terms.get("cost_covers"):
        parts.append(
            "Every record is in one group at most, so all groups together cost what one costs "
            "(parallel composition)."
        )
    if "keys_cost" in terms:
        parts.append(f"Drawing the labels cost {terms['keys_cost']}, which is included.")
    return " ".join(parts)


def _before(terms: Mapping[str, object]) -> str:
    parts = [f"Rows and columns: {view}." for view in _each(terms.get("view"))]
    if terms.get("within_from"):
        parts.append(
            f"The range of the values follows from {_said(terms['within_from'])}, which is public."
        )
    elif terms.get("within"):
        parts.append("The range of the values was given, and not taken from the data.")
    if terms.get("range_found"):
        parts.append("The range of the values was found privately, with a part of the cost.")
    parts += [f"Left out: {each}." for each in _each(terms.get("left_out"))]
    parts.append("Missing values were dropped. All else that depends on the data is a draw.")
    return " ".join(parts)


def _mechanisms(record: Any, terms: Mapping[str, object]) -> str:
    names = dict.fromkeys(each.mechanism for each in getattr(record, "transcript", ()))
    used = f" Draws: {', '.join(names)}." if names else ""
    method = f", method {_said(terms['method'])}" if terms.get("method") else ""
    return f"modicum {terms.get('version', VERSION)}{method}.{used} {_NUMERICS}"


def _described(answers: AnswerRows) -> str:
    count = len(answers.values)
    numbers = "One number" if count == 1 else f"{count:,} numbers"
    level = 100 * float(str(answers.terms.get("interval_level", 0.95)))
    return f"{numbers}: {answers.title}, with intervals of {level:g} %."


def _said(value: object) -> str:
    return ", ".join(str(each) for each in _each(value))


def _each(value: object) -> Sequence[Any]:
    if value is None:
        return ()
    return value if isinstance(value, list | tuple) else (value,)
