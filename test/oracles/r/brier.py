"""Packs what the Brier test needs of the R results (scripts/05_oracle.R: one NAME.json and NAME_lp.csv per data set) into brier.json.

    python test/oracles/r/brier.py FOLDER_WITH_THE_R_RESULTS

For nwtco and flchain, whose tables are in datasets/, the coefficients are kept and the test multiplies them out; for the others the
linear predictor, time and event of every row used. Numbers keep all their digits.
"""
import csv
import json
import sys
from pathlib import Path

folder = Path(sys.argv[1])
packed = {}
for name in ("nwtco", "flchain", "pbc", "lung", "gbsg"):
    result = json.loads((folder / f"{name}.json").read_text())
    brier = result["brier"]
    keep = ("times", "brier_G_reverse", "tstar", "ibs_G_reverse", "riskRegression_brier", "pec_brier")
    packed[name] = {
        "eventTime": result["breslow_baseline"]["event_time"],
        "H0": result["breslow_baseline"]["H0"],
        "brier": {key: brier[key] for key in keep if key in brier},
    }
    if name in ("nwtco", "flchain"):
        packed[name]["coef"] = result["cox"]["breslow"]["coef"]
    else:
        rows = list(csv.DictReader((folder / f"{name}_lp.csv").open()))
        packed[name]["time"] = [float(row["time"]) for row in rows]
        packed[name]["event"] = [int(row["status"]) for row in rows]
        packed[name]["lp"] = [float(row["lp"]) for row in rows]
(Path(__file__).resolve().parent / "brier.json").write_text(json.dumps(packed, separators=(",", ":")) + "\n")
