import numpy as np
import pandas as pd
import torch
import torchtuples as tt
from pycox.models import LogisticHazard

table = pd.read_csv("datasets/nwtco/nwtco.csv")
held_out = table["seqno"] % 3 == 0
stops = table["seqno"] % 15 == 1  # a part of the training part, which says when to stop
times = list(range(90, 2701, 90))

x = pd.get_dummies(table[["age", "histol", "stage", "study"]], columns=["histol", "stage", "study"], dtype=float)
x = ((x - x[~held_out].mean()) / x[~held_out].std()).astype("float32").to_numpy()
grid = LogisticHazard.label_transform(np.array([0, *times], dtype="float64"))  # the network's times are the audit's


def outcomes(rows):
    return grid.transform(*table.loc[rows, ["edrel", "rel"]].to_numpy("float64").T)


torch.manual_seed(1)
np.random.seed(1)
net = tt.practical.MLPVanilla(x.shape[1], [32, 32], grid.out_features, batch_norm=True, dropout=0.1)
model = LogisticHazard(net, tt.optim.Adam(0.01), duration_index=grid.cuts)
fits = ~held_out & ~stops
until = {"callbacks": [tt.callbacks.EarlyStopping()], "val_data": (x[stops], outcomes(stops))}
model.fit(x[fits], outcomes(fits), batch_size=256, epochs=200, verbose=False, **until)
people = table.loc[held_out, ["edrel", "rel", "age", "histol", "stage", "study"]]
survival = model.predict_surv_df(x[held_out]).loc[times].T.round(4).to_numpy()
curves = pd.DataFrame(survival, people.index, [f"S({t})" for t in times])
pd.concat([people, curves], axis=1).to_csv("pycox.csv", index=False)
