"""One-calibration, KM-calibration and D-calibration by SurvivalEVAL 0.8, on the matrices in ../pred, written to calibration.json.

    PYTHONPATH=folder/with/SurvivalEVAL python test/oracles/peers/calibration.py

torch and patsy are imported there for functions not used here and are stood in for. Its sort of the predicted risks is not stable;
it is made stable, so that rows of equal risk keep their order. Past a risk group's last observed time it extrapolates Kaplan-Meier
along a straight line, where graduate carries it flat; only times that every group reaches are used. p-values there are 1 − cdf, so
they are not stored.
"""
import functools
import json
import sys
import types
from pathlib import Path

import numpy as np
import pandas as pd

for name, attribute in (("torch", "Tensor"), ("patsy", "dmatrix")):
    sys.modules[name] = types.ModuleType(name)
    setattr(sys.modules[name], attribute, type(attribute, (), {}))
package = types.ModuleType("SurvivalEVAL")
package.__path__ = [str(Path(p) / "SurvivalEVAL") for p in sys.path if (Path(p) / "SurvivalEVAL").is_dir()]
sys.modules["SurvivalEVAL"] = package
np.argsort = functools.partial(np.argsort, kind="stable")
from SurvivalEVAL.Evaluations.DistributionCalibration import d_calibration, km_calibration  # noqa: E402
from SurvivalEVAL.Evaluations.SingleTimeCalibration import one_calibration  # noqa: E402

HERE = Path(__file__).resolve().parent
T = 102
out = {}
for file in sorted((HERE.parent / "pred").glob("*.csv.gz")):
    frame = pd.read_csv(file)
    survival = frame[[f"S{t}" for t in range(1, T + 1)]].to_numpy()
    time, event = frame["bin"].to_numpy(), frame["event"].to_numpy()
    one = []
    for t, groups in ((10, 10), (25, 10), (30, 7), (20, 18)):
        order = np.argsort(survival[:, t - 1])
        assert all(part.max() >= t for part in np.array_split(time[order], groups)), (file.name, t)
        _, chi2, observed, expected = one_calibration(1 - survival[:, t - 1], time, event, t, num_bins=groups)
        one.append({"t": t, "groups": groups, "chi2": float(chi2), "observed": [float(o) for o in observed],
                    "expected": [float(e) for e in expected]})
    own = survival[np.arange(len(time)), time - 1]
    chi2, _, histogram = d_calibration(own, event, 10)
    out[file.name.removesuffix(".csv.gz")] = {
        "one": one,
        "kmSquared": float(km_calibration(survival.mean(axis=0), np.arange(1, T + 1), time, event)),
        "dCalibration": {"chi2": float(chi2), "counts": [float(h) for h in histogram[::-1]]},
    }
(HERE / "calibration.json").write_text(json.dumps(out, separators=(",", ":")) + "\n")
for name, value in out.items():
    print(name, [round(o["chi2"], 4) for o in value["one"]], value["kmSquared"], value["dCalibration"]["chi2"])
