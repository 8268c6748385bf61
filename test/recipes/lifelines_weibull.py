import pandas as pd
from lifelines import WeibullAFTFitter

table = pd.read_csv("datasets/nwtco/nwtco.csv")
held_out = table["seqno"] % 3 == 0
times = list(range(90, 2701, 90))

fit = WeibullAFTFitter()
columns = ["edrel", "rel", "age", "histol", "stage", "study"]
fit.fit(table.loc[~held_out, columns], "edrel", "rel", formula="age + C(histol) + C(stage) + C(study)")
people = table.loc[held_out, columns]
curves = fit.predict_survival_function(people, times=times).T.round(4)
curves.columns = [f"S({t})" for t in times]
pd.concat([people, curves], axis=1).to_csv("lifelines.csv", index=False)
