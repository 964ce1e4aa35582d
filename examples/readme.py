import numpy as np
import pandas as pd

import modicum as mo

rng = np.random.default_rng(1)
people = pd.DataFrame({"income": rng.lognormal(10.5, 0.5, 100_000)})

curator = mo.Curator(people, budget=mo.pure(2))
print(curator.mean("income", epsilon=1))
print("left to spend:", curator.remaining)
print(f"without privacy: {people.income.mean():,.6g}")
