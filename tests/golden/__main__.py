"""Write the corpus anew: ``python -m tests.golden``. A line that moves is a change meant."""

import json

from tests.golden.corpus import CORPUS, cases, observed, tables

if __name__ == "__main__":
    data = tables()
    lines = [json.dumps(observed(case, data[case.table])) for case in cases()]
    CORPUS.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{len(lines)} cases in {CORPUS}")
