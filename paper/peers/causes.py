"""Incidences of competing causes by models of Python, for the study in paper/src/causes, files as in causes.R.

survivalboost: SurvivalBoost of hazardous, as its documentation begins, no option set but the seed.
forest: CompetingRiskForest of comprisk, as its documentation begins, no option set but the seed.
Words are one column a value. Missing numbers have the median of the rows learnt from, missing words the commonest.
    python causes.py survivalboost|forest FOLDER SEED
"""

import sys
from pathlib import Path

import numpy as np
import pandas as pd

system, folder, seed = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
learn = pd.read_csv(folder / "learn.csv")
people = pd.read_csv(folder / "people.csv")
times = np.loadtxt(folder / "times.csv", ndmin=1)
time = learn.pop("time").to_numpy(float)
cause = learn.pop("cause").to_numpy(int)
for name in learn.columns:
    is_number = pd.api.types.is_numeric_dtype(learn[name])
    value = learn[name].median() if is_number else learn[name].mode()[0]
    learn[name] = learn[name].fillna(value)
    people[name] = people[name].fillna(value)
both = pd.get_dummies(pd.concat([learn, people], keys=["learn", "people"])).astype(float)
X, new = both.loc["learn"].to_numpy(), both.loc["people"].to_numpy()

if system == "survivalboost":
    from hazardous import SurvivalBoost

    y = pd.DataFrame({"event": cause, "duration": time})
    model = SurvivalBoost(show_progressbar=False, random_state=seed).fit(X, y)
    F = np.asarray(model.predict_cumulative_incidence(new, times=times))[:, 1:, :]
elif system == "forest":
    from comprisk import CompetingRiskForest

    model = CompetingRiskForest(random_state=seed).fit(X, time, cause)
    F = model.predict_cif(new, times=times)
else:
    raise SystemExit(f"no such system: {system}")
if F.shape != (len(new), cause.max(), len(times)):
    raise SystemExit(f"incidences have the shape {F.shape}")
np.savetxt(folder / "F.csv", F.reshape(len(new), -1), delimiter=",", fmt="%.7f")
