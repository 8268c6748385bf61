"""What the reference law of the simulated eye cohort makes of known random draws: replay.json.
Usage: replay.py FOLDER-OF-SIMULATE_EYE > replay.json
Runs the law itself with a random generator that writes down the standard draw behind every number it hands out (z of a
normal, a uniform, a gamma of scale 1, an exponential of mean 1, a Poisson count), then keeps 30 of 600 people: eight each of
the three minorities whose hazards differ, and others."""
import json, sys
import numpy as np
sys.path.insert(0, sys.argv[1])
import simulate_eye

SEED, N, KEPT = 20, 600, 30
YEARS = [0.0, 0.01, 0.7, 2.5, 3.0, 3.1, 5.0, 8.0, 12.0]

class Recorder:
    def __init__(self, seed):
        self.source, self.draws, self.means = Source(seed), [], []
        Recorder.last = self
    def note(self, kind, values):
        self.draws.append((kind, np.asarray(values, float)))
        return values
    def rand(self, n): return self.note("uniform", self.source.random_sample(n))
    def normal(self, loc=0.0, scale=1.0, size=None): return loc + scale * self.note("normal", self.source.standard_normal(size))
    def uniform(self, low, high, n): return low + (high - low) * self.note("uniform", self.source.random_sample(n))
    def gamma(self, shape, scale, n): return scale * self.note("gamma", self.source.standard_gamma(shape, n))
    def exponential(self, scale=1.0, size=None): return scale * self.note("exponential", self.source.standard_exponential(size))
    def poisson(self, mean, size=None):
        self.means.append(mean)
        return self.note("poisson", self.source.poisson(mean, size))

Source = np.random.RandomState
np.random.RandomState = Recorder

outcomes, people = [], None
for level in (0, 1, 2):
    for censoring in ("independent", "dependent", "late"):
        columns, time, event, S = simulate_eye.cohort(SEED, N, level, censoring)
        if people is None:
            poor = (columns["race"] == "Malay") & (columns["housing"] == "1-2 room")
            special, old = columns["eye_medication"] == 1, columns["age"] >= 75
            groups = [np.flatnonzero(mask)[:8] for mask in (poor, special, old)]
            first = sorted({int(i) for group in groups for i in group})
            people = sorted(first + [i for i in range(N) if i not in first][: KEPT - len(first)])
            draws, means = Recorder.last.draws, Recorder.last.means
            value = lambda v: v.item() if not (isinstance(v, float) and np.isnan(v)) else None
            result = {
                "about": "simulate_eye.cohort on recorded draws; made by replay.py with numpy " + np.__version__,
                "kinds": [kind for kind, _ in draws],
                "draws": [[float(values[i]) for _, values in draws] for i in people],
                "poissonMeans": [[float(mean[i]) for mean in means] for i in people],
                "columns": {name: [value(v) for v in cells[people]] for name, cells in columns.items()},
                "years": YEARS,
            }
        survival = np.stack([S(y) for y in YEARS], 1)[people]
        outcomes.append({"level": level, "censoring": censoring, "time": time[people].tolist(), "event": event[people].tolist(), "survival": survival.tolist()})
# The curves do not depend on the censoring: kept once per level.
for outcome in outcomes:
    if outcome["censoring"] != "independent": del outcome["survival"]
result["outcomes"] = outcomes
json.dump(result, sys.stdout, separators=(",", ":"))
print()
