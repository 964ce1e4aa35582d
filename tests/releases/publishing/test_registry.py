"""Entries of the deployments registry: its fields, and what the release says."""

import json
from datetime import date
from pathlib import Path

import jsonschema
import numpy as np
import pandas as pd
import pytest

import modicum as mo
from modicum.exact.entropy import SeededEntropy

FIELDS = json.loads(Path(__file__).with_name("registry_fields.json").read_text("utf-8"))
CHECK = jsonschema.Draft202012Validator(FIELDS, format_checker=jsonschema.FormatChecker())
WHO = {
    "data_curators": ["Statistics Office"],
    "registry_authors": ["A. Steward"],
    "intended_use": "Planning of schools",
    "data_product_region": "Utopia",
}
N = 6000
TABLE = pd.DataFrame(
    {
        "x": np.random.default_rng(1).lognormal(3, 1, N),
        "place": ["North", "Süd & <Ost>"] * (N // 2),
        "sex": ["f", "f", "m"] * (N // 3),
        "who": np.arange(N) // 3,
    }
)
BOTH = {"place": ["North", "Süd & <Ost>"], "sex": ["f", "m"]}
KINDS = {
    "mean": lambda c: c.mean("x", epsilon=1),
    "quantiles": lambda c: c.where("sex == 'f'").quantiles("x", q=[0.1], epsilon=1),
    "groups": lambda c: c.group_by("place", keys=BOTH["place"]).mean("x", epsilon=1),
    "drawn": lambda c: c.group_by("place", key_budget=mo.approx(1, "1e-6")).count(epsilon=1),
    "crosstab": lambda c: c.crosstab("place", "sex", keys=BOTH, epsilon=1),
    "description": lambda c: c.describe(budget=mo.approx(2, "1e-6")),
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_has_an_entry(kind) -> None:
    release = KINDS[kind](mo.Curator(TABLE, budget=mo.approx(50, "1e-5")))
    entry = release.to_registry(**WHO)
    CHECK.validate(entry)
    said = entry["deployment"]
    assert said["basic"]["data_curators"] == ["Statistics Office"]
    assert "modicum" in said["implementation"]["mechanisms"]
    assert said["basic"]["publication_date"] >= "2020-01-01"
    approximate = kind in {"drawn", "description"}
    parameters = {"epsilon": 2.0, "delta": 1e-6} if approximate else {"epsilon": 1.0}
    assert said["privacy_loss"]["privacy_parameters"] == parameters
    variant = "Approximate DP" if approximate else "Pure DP"
    assert said["dp_variant"]["variant_name"] == variant
    assert json.loads(json.dumps(entry)) == entry


def test_persons_and_zcdp() -> None:
    curator = mo.Curator(TABLE, unit=mo.unit_of("who"), budget=mo.zcdp(9))
    entry = curator.mean("x", rho="1/3").to_registry(
        **WHO,
        name="Größe: x & y",
        description="Means",
        publication_date=date(2026, 1, 2),
        data_product_sector="Education",
        sources="https://example.org",
        notes="None",
    )
    CHECK.validate(entry)
    assert entry["url_slug"] == "groe-x-y-2026"
    loss = entry["deployment"]["privacy_loss"]
    assert loss["privacy_unit"] == "one person (who) with all their rows"
    assert loss["privacy_parameters"] == {"rho": pytest.approx(1 / 3)}
    assert "1/3" in loss["privacy_parameters_details"]
    assert entry["deployment"]["basic"]["publication_date"] == "2026-01-02"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"data_curators": "Office"}, "data_curators must be a list"),
        ({"registry_authors": []}, "registry_authors must be a list"),
        ({"intended_use": " "}, "intended_use must be text"),
        ({"notes": 3}, "notes must be text"),
        ({"publication_date": "yesterday"}, "must be a date"),
    ],
)
def test_bad_arguments(change, words) -> None:
    with pytest.raises(mo.InvalidArgument, match=words):
        mo.count([1.0] * 99, epsilon=1).to_registry(**(WHO | change))


def test_test_randomness_has_no_entry() -> None:
    curator = mo.Curator([1.0] * 99, budget=mo.pure(2), entropy=SeededEntropy("entry"))
    with pytest.raises(mo.InvalidArgument, match="protects nobody"):
        curator.count(epsilon=1).to_registry(**WHO)
