import pandas as pd
from sksurv.ensemble import RandomSurvivalForest
from sksurv.util import Surv

table = pd.read_csv("datasets/nwtco/nwtco.csv")
held_out = table["seqno"] % 3 == 0
times = list(range(90, 2701, 90))

x = pd.get_dummies(table[["age", "histol", "stage", "study"]], columns=["histol", "stage", "study"], dtype=float)
y = Surv.from_dataframe("rel", "edrel", table)
forest = RandomSurvivalForest(n_estimators=200, min_samples_leaf=15, random_state=1)
forest.fit(x[~held_out], y[~held_out])
steps = forest.predict_survival_function(x[held_out])
people = table.loc[held_out, ["edrel", "rel", "age", "histol", "stage", "study"]]
curves = pd.DataFrame([step(times).round(4) for step in steps], people.index, [f"S({t})" for t in times])
pd.concat([people, curves], axis=1).to_csv("scikit-survival.csv", index=False)
