"""Brier scores by scikit-survival and pycox, written to brier.json beside this file.

    python test/oracles/peers/brier.py            (scikit-survival 0.28, pycox 0.3.0, SciPy 1.17, pandas; no PyTorch needed)

pycox.evaluation imports torch and torchtuples for nothing it uses here, and calls scipy.integrate.simps, which SciPy has since
renamed simpson: both are stood in for. The inputs are stored with the results, survival rounded to 6 decimals first, so
that the test reads exactly what was scored.
"""
import json
import sys
import types
from pathlib import Path

import numpy as np
import pandas as pd
import scipy.integrate
from sksurv.metrics import brier_score, integrated_brier_score
from sksurv.util import Surv

for name in ("torch", "torchtuples"):
    sys.modules[name] = types.ModuleType(name)
scipy.integrate.simps = lambda y, x: scipy.integrate.simpson(y, x=x)
package = types.ModuleType("pycox")
package.__path__ = [str(Path(p) / "pycox") for p in sys.path if (Path(p) / "pycox").is_dir()]
sys.modules["pycox"] = package
from pycox import utils  # noqa: E402
from pycox.evaluation.eval_surv import EvalSurv  # noqa: E402

HERE = Path(__file__).resolve().parent
DATASETS = HERE.parents[2] / "datasets"
MAX_WEIGHT = 1.5


def curves(time, times, seed):
    """Survival at `times`, roughly informative about `time`: exponential, with a noisy mean."""
    random = np.random.default_rng(seed)
    mean = np.median(time) * np.exp(0.3 * (np.log(time + 1) - np.log(np.median(time) + 1)) + 0.4 * random.normal(size=len(time)))
    return np.round(np.exp(-np.outer(1 / (2 * mean), times)), 6)


def column(values):
    return [float(v) for v in values]


def score_pycox(times, survival, test, censoring, max_weight):
    frame = pd.DataFrame(survival.T, index=np.asarray(times, float))
    evaluation = EvalSurv(frame, test["time"], test["event"], censor_surv=None)
    if censoring is None:
        evaluation.add_km_censor()
    else:
        km = utils.kaplan_meier(censoring["time"], 1 - censoring["event"])
        evaluation.add_censor_est(pd.DataFrame(np.repeat(km.values.reshape(-1, 1), len(test["time"]), axis=1), index=km.index))
    grid = np.asarray(times, float)
    return {
        "brier": column(evaluation.brier_score(grid, max_weight)),
        "ibs": float(evaluation.integrated_brier_score(grid, max_weight)),
    }


def case(name, test, training, times, seed):
    survival = curves(test["time"], np.asarray(times, float), seed)
    y_test = Surv.from_arrays(test["event"] == 1, test["time"])
    result = {
        "name": name,
        "times": column(times),
        "test": {"time": column(test["time"]), "event": [int(e) for e in test["event"]]},
        "training": {"time": column(training["time"]), "event": [int(e) for e in training["event"]]},
        "survival": [column(row) for row in survival],
        "pycox": score_pycox(times, survival, test, None, np.inf),
        "pycoxMaxWeight": score_pycox(times, survival, test, None, MAX_WEIGHT),
        "pycoxTraining": score_pycox(times, survival, test, training, np.inf),
    }
    for key, rows in (("scikitSurvival", training), ("scikitSurvivalSameRows", test)):
        y = Surv.from_arrays(rows["event"] == 1, rows["time"])
        try:
            result[key] = {
                "brier": column(brier_score(y, y_test, survival, times)[1]),
                "ibs": float(integrated_brier_score(y, y_test, survival, times)),
            }
        except ValueError as refusal:
            result[key] = {"refused": str(refusal)}
    return result


def tied(n, seed, censored_last):
    random = np.random.default_rng(seed)
    time = random.integers(1, 9, size=n).astype(float)
    event = (random.uniform(size=n) < 0.45).astype(int)
    if censored_last:  # everyone at the last time is censored, so G reaches 0 there
        event[time == time.max()] = 0
    else:
        event[np.argmax(time)] = 1
    return {"time": time, "event": event}


def table(dataset, time, event, start, stride, rows, extra=()):
    frame = pd.read_csv(DATASETS / dataset / f"{dataset}.csv")
    index = sorted(set(range(start, start + stride * rows, stride)) | set(extra))
    frame = frame.iloc[index]
    return {"time": frame[time].to_numpy(float), "event": frame[event].to_numpy(int)}


def main():
    flchain = pd.read_csv(DATASETS / "flchain" / "flchain.csv")
    at_zero = [int(i) for i in np.flatnonzero(flchain["futime"] == 0)]
    from_zero = tied(40, 9, False)
    from_zero["time"] -= 1
    short = tied(40, 11, False)  # follow-up ends before the scored rows' does, with G still positive
    short = {key: values[short["time"] <= 5] for key, values in short.items()}
    short["event"][short["time"] == short["time"].max()] = 1
    mixed = {key: values.copy() for key, values in short.items()}  # a censoring beside the events at the end
    mixed["event"][np.argmax(mixed["time"])] = 0
    cases = [
        case("tied", tied(60, 1, False), tied(50, 2, False), [1, 2, 3, 4, 5, 6, 7], 3),
        case("tied, G reaches 0", tied(60, 4, True), tied(50, 5, True), [1, 2, 3.5, 5, 6, 7.25], 6),
        case("nwtco", table("nwtco", "edrel", "rel", 0, 13, 300), table("nwtco", "edrel", "rel", 1, 13, 300),
             [200, 400, 800, 1500, 2500, 4000], 7),
        case("flchain with times 0", table("flchain", "futime", "death", 0, 26, 300, at_zero),
             table("flchain", "futime", "death", 1, 26, 300), [0, 500, 1000, 2000, 3000, 4000, 4900], 8),
        case("tied from 0, short training", from_zero, short, [0, 1, 2, 3, 4, 5.5, 6], 12),
        case("tied from 0, short training with ties at its end", from_zero, mixed, [0, 1, 2, 3, 4, 5.5, 6], 12),
    ]
    (HERE / "brier.json").write_text(json.dumps({"maxWeight": MAX_WEIGHT, "cases": cases}, separators=(",", ":")) + "\n")
    for c in cases:
        print(c["name"], c["scikitSurvival"], c["scikitSurvivalSameRows"].get("ibs"), c["pycox"], c["pycoxTraining"], sep="\n  ")


main()
