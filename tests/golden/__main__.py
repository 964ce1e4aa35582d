"""Write the corpus anew: ``python -m tests.golden``. A line that moves is a change meant."""

import json

from tests.golden.corpus import CORPUS, cases, observed, tables

if __name__ == "__main__":
    data = tables()
    known = [json.loads(line)["case"] for line in CORPUS.read_text(encoding="utf-8").splitlines()]
    order = {name: place for place, name in enumerate(known)}  # new ones come last
    ordered = sorted(cases(), key=lambda case: order.get(case.name, len(order)))
    lines = [json.dumps(observed(case, case.released(data[case.table]))) for case in ordered]
    CORPUS.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{len(lines)} cases in {CORPUS}")
