"""Concordance by scikit-survival (Uno) and pycox (Antolini), written to concordance.json beside this file.

    python test/oracles/peers/concordance.py            (scikit-survival 0.28, pycox 0.3.0, numba; no PyTorch needed)

The tables are random with few distinct times, scores and survival values, so that every kind of tie occurs; a case whose
score scikit-survival refuses (censoring survival zero at an event time) is stored as null.
"""
import json
import sys
import types
from pathlib import Path

import numpy as np
from sksurv.metrics import concordance_index_censored, concordance_index_ipcw
from sksurv.util import Surv

for name in ("torch", "torchtuples"):
    sys.modules[name] = types.ModuleType(name)
for name in ("pycox", "pycox.evaluation"):
    package = types.ModuleType(name)
    package.__path__ = [str(Path(p, *name.split("."))) for p in sys.path if Path(p, *name.split(".")).is_dir()]
    sys.modules[name] = package
from pycox.evaluation.concordance import concordance_td  # noqa: E402

HERE = Path(__file__).resolve().parent


def outcomes(random, n, times):
    return {"time": random.integers(1, times + 1, n).astype(float).tolist(), "event": random.integers(0, 2, n).tolist()}


def structured(rows):
    return Surv.from_arrays(np.array(rows["event"], bool), np.array(rows["time"]))


def uno(test, training, risk, tau):
    try:
        return float(concordance_index_ipcw(structured(training), structured(test), risk, tau=tau)[0])
    except ValueError as refusal:
        assert "censoring survival function is zero" in str(refusal), refusal
        return None


def uno_case(seed, n, times, scores, near):
    random = np.random.default_rng(seed)
    test = outcomes(random, n, times)
    training = outcomes(random, n, times)
    # Training reaches beyond every test time, else scikit-survival refuses.
    training["time"][:2] = [times + 1.0, times + 1.0]
    training["event"][:2] = [1, 0]
    risk = random.integers(0, scores, n).astype(float)
    if near:
        # Chains of scores 0.6e-8 apart: neighbours tie, the next but one does not.
        risk = risk * 0.6e-8 + 3.0
    tau = float(times // 2 + 1)
    harrell = concordance_index_censored(np.array(test["event"], bool), np.array(test["time"]), risk, tied_tol=0.0)
    return {
        "test": test, "training": training, "risk": risk.tolist(), "tau": tau,
        "harrell": {"c": float(harrell[0]), "concordant": int(harrell[1]), "discordant": int(harrell[2]), "tiedRisk": int(harrell[3])},
        "uno": uno(test, training, risk, None), "unoTau": uno(test, training, risk, tau),
        "unoSameRows": uno(test, test, risk, None), "unoSameRowsTau": uno(test, test, risk, tau),
    }


def antolini_case(seed, n, bins, levels):
    random = np.random.default_rng(seed)
    bin_ = random.integers(1, bins + 1, n)
    event = random.integers(0, 2, n)
    steps = random.integers(0, levels, (n, bins)).cumsum(axis=1)
    survival = np.round(np.exp(-0.25 * steps), 6)
    score = {m: float(concordance_td(bin_, event, np.ascontiguousarray(survival.T), bin_ - 1, m)) for m in ("antolini", "adj_antolini")}
    return {"T": bins, "bin": bin_.tolist(), "event": event.tolist(), "survival": survival.ravel().tolist(), **score}


if __name__ == "__main__":
    result = {
        "uno": [uno_case(s, n, t, k, near) for s, (n, t, k, near) in enumerate(
            [(12, 4, 3, False), (40, 6, 5, False), (60, 10, 60, False), (60, 3, 4, True), (80, 25, 12, True), (80, 40, 1000, False)])],
        "antolini": [antolini_case(100 + s, *size) for s, size in enumerate([(8, 3, 2), (30, 4, 2), (60, 8, 3), (60, 5, 2), (90, 12, 2)])],
    }
    fixture = {"time": [11.0, 11, 26, 89, 128, 299, 300], "event": [1, 0, 0, 1, 0, 1, 0]}
    risk = np.array([-0.02, 1.2, -0.56, -1.33, -0.81, 1.02, -1.29])
    result["sevenRows"] = {**fixture, "risk": risk.tolist(), "tau": 299.0, "uno": uno(fixture, fixture, risk, 299.0)}
    (HERE / "concordance.json").write_text(json.dumps(result, separators=(",", ":")) + "\n")
