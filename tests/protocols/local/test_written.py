"""Protocols as text: what is read is what was written, and nothing else is taken."""

import json
from collections.abc import Callable

import pytest

from modicum import local, shuffle
from modicum.errors import InvalidArgument
from modicum.protocols.local.wire import Written

SESSION = "00112233445566778899aabbccddeeff"
COMMON = {"within": (0, 8), "step": 1, "session": SESSION}
PROTOCOLS: dict[str, tuple[Written, Callable[[str], Written]]] = {
    "histogram": (local.histogram(**COMMON, epsilon="0.7"), local.from_json),
    "mean": (local.mean(**COMMON, rho=2), local.from_json),
    "vector": (
        local.mean_vector(dimension=3, radius=2, rho="0.5", session=SESSION),
        local.from_json,
    ),
    "sum": (
        shuffle.split_sum(within=(0, 8), epsilon="1/3", clients=400, session=SESSION),
        shuffle.Sum.from_json,
    ),
    "single": (
        shuffle.mean(**COMMON, epsilon=2, delta="1e-6", clients=2000),
        shuffle.Single.from_json,
    ),
    "shuffled vector": (
        shuffle.mean_vector(
            dimension=3, radius=9, epsilon=4, delta="1e-6", clients=3000, session=SESSION
        ),
        shuffle.MeanVector.from_json,
    ),
}
every = pytest.mark.parametrize(("protocol", "read"), PROTOCOLS.values(), ids=PROTOCOLS)


@every
def test_a_protocol_comes_back_from_its_text(protocol, read) -> None:
    text = protocol.to_json()
    assert read(text) == protocol
    assert read(text).tag == protocol.tag
    other = read(text.replace("0011", "1100"))
    assert other != protocol
    assert other.tag != protocol.tag


@every
def test_text_that_was_cut_off_or_has_more_or_less_in_it(protocol, read) -> None:
    text = protocol.to_json()
    said = json.loads(text)
    wrong = [text[:i] for i in range(len(text))]
    wrong += ["[]", "null", "5", "[" * 100_000, json.dumps([said]), json.dumps(said | {"more": 1})]
    wrong += [json.dumps({k: v for k, v in said.items() if k != name}) for name in said]
    for one in wrong:
        with pytest.raises(InvalidArgument):
            read(one)


@every
def test_values_that_no_protocol_has(protocol, read) -> None:
    said = json.loads(protocol.to_json())
    huge = 10**400
    nonsense = (None, False, "x", "1/0", "1e999999999", "", [], {}, [1], huge, -huge, 1e400, "nan")
    for name in said:
        for value in nonsense:
            with pytest.raises(InvalidArgument):
                read(json.dumps(said | {name: value}))


@every
def test_another_version_is_not_read(protocol, read) -> None:
    said = json.loads(protocol.to_json())
    name, version = said["schema"].split("/")
    for schema in ("modicum/1", f"{name}/{int(version) + 1}", said["schema"] + "0"):
        with pytest.raises(InvalidArgument):
            read(json.dumps(said | {"schema": schema}))


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("sum", {"shares": 9}),
        ("sum", {"bits": 16}),
        ("sum", {"precision": 32}),
        ("sum", {"step": 1.0}),
        ("sum", {"honest": 401}),
        ("sum", {"honest": 360.0001}),
        ("sum", {"epsilon": "11"}),
        ("sum", {"epsilon": "2/6"}),
        ("single", {"single": "9"}),
        ("single", {"kind": "mean_vector"}),
        ("shuffled vector", {"single": ["9", "9"]}),
        ("shuffled vector", {"honest": 3001}),
        ("histogram", {"currency": "bits"}),
        ("mean", {"currency": "pure", "amount": "21"}),
        ("mean", {"kind": "median"}),
        ("vector", {"amount": "5e-7"}),
    ],
)
def test_values_that_do_not_fit_the_others(name, changes) -> None:
    protocol, read = PROTOCOLS[name]
    said = json.loads(protocol.to_json())
    with pytest.raises(InvalidArgument):
        read(json.dumps(said | changes))


def test_a_text_is_read_by_its_own_reader_only() -> None:
    for name, (protocol, read) in PROTOCOLS.items():
        for other, (_, reads) in PROTOCOLS.items():
            if reads != read:
                with pytest.raises(InvalidArgument):
                    reads(protocol.to_json()), (name, other)
