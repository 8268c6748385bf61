"""Values of exp, log, … to 60 digits by mpmath, as elementary.json: for every argument the nearest float64 and what is left of the
true value, in units of that float64's last bit. Arguments are drawn over the whole range, and at the edges of the tables.

    pip install mpmath==1.4.1 && python test/oracles/elementary.py > test/oracles/elementary.json
"""
import json, math, random
import mpmath as mp

mp.mp.dps = 60
random.seed(20)


def spread(low, high, n):
    """Evenly in the logarithm of the size."""
    return [math.exp(random.uniform(math.log(low), math.log(high))) for _ in range(n)]


def signed(values):
    return [v if random.random() < 0.5 else -v for v in values]


def beside(value):
    return [math.nextafter(value, -math.inf), value, math.nextafter(value, math.inf)]


steps = [v for k in range(-8, 9) for v in beside(float(mp.log(2) / 128 * (2 * k + 1)))]
small = signed(spread(1e-20, 0.3, 150))
mantissas = [v for j in range(-60, 128, 7) for v in beside(1 + (j + 0.5) / 128)]
near_one = [1 + v for v in signed(spread(1e-15, 0.5, 150))]

ARGUMENTS = {
    "exp": small + steps + [random.uniform(-745, 709.7) for _ in range(250)] + beside(709.782712893384)[:1],
    "expm1": small + steps + beside(0.125) + beside(-0.125) + [random.uniform(-40, 60) for _ in range(200)],
    "log": near_one + mantissas + spread(5e-324, 1.7e308, 250) + [5e-324, 2.2250738585072014e-308, 1.7976931348623157e308],
    "log1p": small + beside(0.00390625) + beside(-0.00390625) + [v - 1 for v in near_one] + spread(0.3, 1e300, 150),
    "log2": near_one + spread(5e-324, 1.7e308, 100) + [2.0**k for k in range(-1074, 1024, 97)],
    "log10": near_one + spread(5e-324, 1.7e308, 100) + [float(f"1e{k}") for k in range(0, 23)],
    "tanh": small + beside(0.125) + [random.uniform(-22, 22) for _ in range(100)] + signed(spread(0.1, 4, 200)),
}


def powers():
    pairs = [(0.9, float(k)) for k in range(1, 400, 7)] + [(0.999, float(k)) for k in range(1, 3000, 41)]
    pairs += [(x, random.uniform(-700, 700) / math.log(x)) for x in spread(1e-300, 1e300, 300)]
    pairs += [(x, random.uniform(-700, 700) / math.log(x)) for x in near_one if x != 1]
    pairs += [(random.random(), random.uniform(0, 5)) for _ in range(100)]
    pairs += [(-3.5, 7.0), (-1.1, 300.0), (10.0, -320.0), (2.0, -1074.0), (0.5, 1074.0), (1.5, 1750.0)]
    return pairs


def entry(arguments, value):
    nearest = float(value)
    unit = mp.mpf(math.ulp(nearest))
    return [*arguments, nearest, round(float((value - mp.mpf(nearest)) / unit), 6)]


FUNCTIONS = {"exp": mp.exp, "expm1": mp.expm1, "log": mp.log, "log1p": mp.log1p, "tanh": mp.tanh}
FUNCTIONS["log2"] = lambda x: mp.log(x) / mp.log(2)
FUNCTIONS["log10"] = lambda x: mp.log(x) / mp.log(10)

made = {name: [entry([x], FUNCTIONS[name](mp.mpf(x))) for x in xs if x != 0] for name, xs in ARGUMENTS.items()}
made["power"] = [entry([x, y], mp.power(mp.mpf(x), mp.mpf(y))) for x, y in powers()]
print(json.dumps(made, separators=(",", ":")))
