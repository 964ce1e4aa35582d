"""Files of questions: what is asked of a table, for whom and at what cost, for others to read.

A file is TOML. It is checked as a whole, planned without data, and run against an account of a
ledger: each question once, however often the file is run.

>>> import modicum as mo, pathlib, tempfile
>>> folder = pathlib.Path(tempfile.mkdtemp())
>>> text = '''
... account = "people"
... [[question]]
... name = "mean age"
... statistic = "mean"
... column = "age"
... epsilon = 0.5
... '''
>>> _ = (folder / "survey.toml").write_text(text)
>>> url = f"sqlite:///{folder}/budget.db"
>>> account = mo.Ledger.create(url).open_account("people", mo.pure(1))
>>> table = {"age": [30.0, 40.0, 50.0] * 3000}
>>> import pandas as pd
>>> survey = mo.questions.read(folder / "survey.toml")
>>> done = survey.run(pd.DataFrame(table), ledger=url, out=folder / "answers")
>>> 39 < done.answers["mean age"].value < 41, sorted(each.name for each in done.folder.iterdir())[0]
(True, 'mean age.csv')
"""

from modicum.questions.costs import QuestionCosts
from modicum.questions.file import QuestionFile, read
from modicum.questions.planning import QuestionPlans
from modicum.questions.running import QuestionAnswers

__all__ = ["QuestionAnswers", "QuestionCosts", "QuestionFile", "QuestionPlans", "read"]
