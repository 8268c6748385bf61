"""Concordance and Kaplan-Meier by scikit-survival, lifelines and pycox on the bundled tables, written to peers.json.

    python test/oracles/peers/peers.py          (from the repository root; no PyTorch needed)

Scored rows: every 8th of nwtco and every 15th of flchain, counted from the first, with a whole-number score that has many ties;
the censoring distribution of Uno's index comes from all rows. And 80 rows at 6 distinct times, stored with their
survival curves on a grid of 6 bins, rounded to 2 decimals so that curves tie.
"""
import json
import sys
import types
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pandas as pd
from lifelines import KaplanMeierFitter
from lifelines.utils import concordance_index
from sksurv.metrics import concordance_index_censored, concordance_index_ipcw
from sksurv.util import Surv

# Only pycox.evaluation is wanted, and only its parts that need no network: keep the packages' own imports from running.
for name in ("torch", "torchtuples"):
    sys.modules[name] = types.ModuleType(name)
for name in ("pycox", "pycox.evaluation"):
    package = types.ModuleType(name)
    package.__path__ = [str(Path(p, *name.split("."))) for p in sys.path if Path(p, *name.split(".")).is_dir()]
    sys.modules[name] = package
from pycox.evaluation.eval_surv import EvalSurv  # noqa: E402

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]


def score(time, event, risk, all_time, all_event, taus, km_times):
    harrell = concordance_index_censored(event == 1, time, risk)
    training, test = Surv.from_arrays(all_event == 1, all_time), Surv.from_arrays(event == 1, time)
    km = KaplanMeierFitter().fit(time, event)
    return {
        "rows": len(time),
        "sksurvHarrell": {"c": float(harrell[0]), "concordant": int(harrell[1]), "discordant": int(harrell[2]), "tiedRisk": int(harrell[3])},
        "lifelinesHarrell": float(concordance_index(time, -risk, event)),
        "sksurvUno": [{"tau": tau, "c": float(concordance_index_ipcw(training, test, risk, tau=tau)[0])} for tau in taus],
        "lifelinesKaplanMeier": [{"time": t, "survival": float(km.survival_function_at_times(t).iloc[0])} for t in km_times],
    }


def tied_table():
    random = np.random.default_rng(20)
    n, T = 80, 6
    time, event = random.integers(1, T + 1, n).astype(float), random.integers(0, 2, n)
    x = random.integers(-2, 3, n)
    survival = np.round(np.exp(-np.outer(np.exp(0.4 * x), np.cumsum([0.1, 0.1, 0.2, 0.1, 0.3, 0.2]))), 2)
    time[:2], event[:2] = [T, T], [0, 1]
    curves = EvalSurv(pd.DataFrame(survival.T, index=np.arange(1, T + 1)), time, event)
    return {
        "time": time.tolist(), "event": event.tolist(), "risk": x.tolist(), "T": T, "survival": survival.ravel().tolist(),
        "antolini": float(curves.concordance_td("antolini")), "adj_antolini": float(curves.concordance_td("adj_antolini")),
        **score(time, event, x.astype(float), time, event, [3.0, 5.0], [0.5, 1.0, 2.0, 3.5, 6.0, 7.0]),
    }


if __name__ == "__main__":
    nwtco = pd.read_csv(ROOT / "datasets/nwtco/nwtco.csv")
    flchain = pd.read_csv(ROOT / "datasets/flchain/flchain.csv")
    tables = {}
    for name, stride, time, event, risk, taus, km_times in [
        ("nwtco", 8, nwtco["edrel"], nwtco["rel"], 100 * nwtco["histol"] + 20 * nwtco["stage"] + nwtco["age"] // 12, [365.0, 3000.0, None], [100, 365, 1000, 4000]),
        ("flchain", 15, flchain["futime"], flchain["death"], 10 * flchain["age"] + 3 * flchain["flc.grp"], [1000.0, 4000.0, None], [0, 30, 365, 1000, 4500]),
    ]:
        all_time, all_event = time.to_numpy(float), event.to_numpy(int)
        rows = slice(0, None, stride)
        tables[name] = {"stride": stride, **score(all_time[rows], all_event[rows], risk.to_numpy(float)[rows], all_time, all_event, taus, [float(t) for t in km_times])}
    result = {"versions": {p: version(p) for p in ("scikit-survival", "lifelines", "pycox", "numpy", "pandas")}, **tables, "tied": tied_table()}
    (HERE / "peers.json").write_text(json.dumps(result, separators=(",", ":")) + "\n")
