"""Summaries of cohorts that the reference law makes with numpy's own random numbers: marginals.json.
Usage: marginals.py FOLDER-OF-SIMULATE_EYE EYE_SIM.csv EYE-GROUPS.json > marginals.json
`cohort`: the 4374 people of seed 1, level 2, dependent censoring: every column's mean, variance, missing values and the share at or
below five of its own values; levels' shares; events and missing values per group. `rates`: events of 200,000 people
at every level and censoring, overall and in the groups that these change."""
import json, re, sys
import numpy as np, pandas as pd
sys.path.insert(0, sys.argv[1])
import simulate_eye

table = pd.read_csv(sys.argv[2])
groups = json.load(open(sys.argv[3]))["groups"]
def members(table, where): return table.query(re.sub(r"(?<![<>!=])=(?!=)", "==", where)).index
MISSING = ["fpg", "ldl", "hdl", "triglycerides", "bmi", "acr"]

numbers, categories = {}, {}
for name in table.columns:
    cells = table[name].dropna()
    if cells.dtype == object:
        categories[name] = {level: int((cells == level).sum()) for level in sorted(cells.unique())}
        continue
    at = sorted({float(v) for v in np.quantile(cells, [.05, .25, .5, .75, .95], method="lower")})
    numbers[name] = {
        "n": len(cells), "missing": len(table) - len(cells), "mean": float(cells.mean()), "variance": float(cells.var()),
        "below": [{"value": v, "count": int((cells <= v).sum())} for v in at],
    }
per_group = []
for group in groups:
    rows = table.loc[members(table, group["where"])]
    per_group.append({"name": group["name"], "where": group["where"], "n": len(rows), "events": int(rows.event.sum()), "missing": {name: int(rows[name].isna().sum()) for name in MISSING}})

N, SEED = 200_000, 2
CHANGED = {"all": "age > 0", "Malay in 1-2 rooms": "race = 'Malay' and housing = '1-2 room'", "age 75 and over": "age >= 75", "eye medication": "eye_medication = 1", "Indian": "race = 'Indian'", "1-2 room": "housing = '1-2 room'"}
rates = []
for level in (0, 1, 2):
    for censoring in ("independent", "dependent", "late"):
        columns, time, event, S = simulate_eye.cohort(SEED, N, level, censoring)
        frame = pd.DataFrame({**{name: columns[name] for name in ("age", "race", "housing", "eye_medication")}, "time": time, "event": event})
        within = {name: frame.loc[members(frame, where)] for name, where in CHANGED.items()}
        rates.append({"level": level, "censoring": censoring, "groups": [
            {"name": name, "where": CHANGED[name], "n": len(rows), "events": int(rows.event.sum()), "meanTime": float(rows.time.mean()), "varianceTime": float(rows.time.var())}
            for name, rows in within.items()]})
json.dump({
    "about": "numpy " + np.__version__ + "; see marginals.py",
    "cohort": {"rows": len(table), "numbers": numbers, "categories": categories, "groups": per_group},
    "rates": rates,
}, sys.stdout, indent=1)
print()
