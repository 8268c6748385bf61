"""Two overlapping groups held by the at-risk constraint, solved with SciPy: python3 solve.py > solve.json

min  sum softplus(z) - y z + prior   subject to  sqrt(dist_g / c_g) - 1 <= 0
with z = base + w x + sum_j s_j (l_j + d_jb) + beta_b, every bin a block and a free bin of its own, and
dist_g = mean_b (sum (y - h))^2 / sum h (1 - h) over the group's rows at risk. Parameters in the order of
src/training/solve/layout.ts: [w, l], then for each block [beta, d]. SLSQP from several starts; the multipliers
are those of least squares on the gradient at the solution.
"""
import json
import numpy as np
from scipy.optimize import minimize

rng = np.random.default_rng(7)
N, T = 90, 3
x = np.round(rng.normal(size=N), 3)
member = np.stack([rng.random(N) < 0.5, rng.random(N) < 0.4]).astype(float)
base = np.round(-1.2 + 0.3 * rng.normal(size=(N, T)), 3)
true = base + 0.8 * x[:, None] + 1.5 * member[0][:, None] - 1.8 * member[1][:, None] * np.array([0, 1, 1])
bins, event = [], []
for n in range(N):
    stop = rng.integers(1, T + 1)
    for t in range(1, T + 1):
        if rng.random() < 1 / (1 + np.exp(-true[n, t - 1])):
            bins.append(t); event.append(1); break
        if t == stop or t == T:
            bins.append(t); event.append(0); break
bins, event = np.array(bins), np.array(event)
atrisk = np.arange(1, T + 1)[None, :] <= bins[:, None]
y = (np.arange(1, T + 1)[None, :] == bins[:, None]) & (event[:, None] == 1)

P = 3 + T * 3
precision = np.concatenate([[1.0], [40.0, 40.0], np.tile([0.01, 60.0, 60.0], T)])
groups = [np.ones(N, bool), member[0] > 0, member[1] > 0]
slack = np.array([0.5, 0.1, 0.2])

def logits(theta):
    w, level = theta[0], theta[1:3]
    z = base + w * x[:, None] + (level[0] * member[0] + level[1] * member[1])[:, None]
    for b in range(T):
        beta, d = theta[3 + 3 * b], theta[4 + 3 * b:6 + 3 * b]
        z[:, b] += beta + d[0] * member[0] + d[1] * member[1]
    return z

def value(theta):
    z = logits(theta)
    loss = np.where(atrisk, np.logaddexp(0, z) - y * z, 0).sum()
    return loss + 0.5 * (precision * theta ** 2).sum()

def distances(theta):
    h = 1 / (1 + np.exp(-logits(theta)))
    out = []
    for rows in groups:
        m = rows[:, None] & atrisk
        D = np.where(m, y - h, 0).sum(0)
        V = np.where(m, h * (1 - h), 0).sum(0)
        out.append(np.mean(D ** 2 / V))
    return np.array(out)

def numeric(f, theta, eps=1e-6):
    theta = np.asarray(theta, float)
    return np.stack([(f(theta + eps * e) - f(theta - eps * e)) / (2 * eps) for e in np.eye(len(theta))], -1)

r = lambda theta: np.sqrt(distances(theta) / slack) - 1
best = None
for start in range(6):
    t0 = np.zeros(P) if start == 0 else 0.3 * rng.normal(size=P)
    fit = minimize(value, t0, jac=lambda t: numeric(value, t), method="SLSQP",
                   constraints={"type": "ineq", "fun": lambda t: -r(t), "jac": lambda t: -numeric(r, t)},
                   options={"maxiter": 2000, "ftol": 1e-15})
    if best is None or fit.fun < best.fun: best = fit
free = minimize(value, np.zeros(P), jac=lambda t: numeric(value, t), method="BFGS", options={"gtol": 1e-9})
J = numeric(r, best.x)
active = r(best.x) > -1e-5
mu = np.zeros(3)
mu[active] = np.linalg.lstsq(J[active].T, -numeric(value, best.x), rcond=None)[0]
print(json.dumps({
    "about": "made by solve.py with SciPy's SLSQP", "N": N, "T": T, "x": x.tolist(), "base": base.ravel().tolist(),
    "bin": bins.tolist(), "event": event.tolist(),
    "groups": [np.flatnonzero(g).tolist() for g in groups], "member": [np.flatnonzero(m).tolist() for m in member],
    "precision": precision.tolist(), "slack": slack.tolist(),
    "free": {"value": free.fun, "distance": distances(free.x).tolist()},
    "held": {"value": best.fun, "distance": distances(best.x).tolist(), "theta": best.x.tolist(), "multipliers": mu.tolist()},
}))
