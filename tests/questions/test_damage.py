"""Files of questions that no program should have written."""

import pytest

import modicum as mo

QUESTION = '[[question]]\nname = "{}"\nstatistic = "count"\nepsilon = 1\n'


@pytest.mark.parametrize("name", ["con", "NUL", "CON.txt", "aux.v2", "Com1", "lpt9.x.y", "prn "])
def test_names_that_windows_keeps_are_refused(tmp_path, name) -> None:
    path = tmp_path / "questions.toml"
    path.write_text(QUESTION.format(name))
    with pytest.raises(mo.InvalidArgument, match="name"):
        mo.questions.read(path)


@pytest.mark.parametrize("name", ["console", "null", "com", "auxiliary.con", "lpt"])
def test_names_that_only_begin_like_them_are_not(tmp_path, name) -> None:
    path = tmp_path / "questions.toml"
    path.write_text(QUESTION.format(name))
    assert mo.questions.read(path).questions[0].name == name


@pytest.mark.parametrize(
    "value", ["[" * 5000 + "]" * 5000, "{a=" * 3000 + "1" + "}" * 3000, "9" * 5000]
)
def test_values_without_end_are_refused(tmp_path, value) -> None:
    path = tmp_path / "questions.toml"
    path.write_text(QUESTION.format("a") + f"expect = {value}\n")
    with pytest.raises(mo.ModicumError, match=r"questions\.toml"):
        mo.questions.read(path)
