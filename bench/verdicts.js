// How often an audit's verdict is wrong where the model is right, and how often it finds a model that is not:
//   node bench/verdicts.js [audits] [draws] [scenario …]
// Simulated audits of 1,000 people and eight overlapping groups (two of 500, three of about 333, of 100, 300 and 600) with
// everyone as a ninth. Everybody has a hazard of their own, log-normal around a Weibull law, and the audited curves are
// these laws; in a scenario the outcomes of some people follow other ones. Two censorings: light (dropout even over three
// horizons) and heavy (by the horizon everyone). Audit k has the seed 1000 + k for its people and k for its draws, so
// every scenario and verdict sees the same people. Printed: the share of audits in which any group disagrees, with its
// standard error, by the verdict (stats/calibration/draw-noise.ts) and by the
// verdict of 0.2.0, ECE and individual logrank at half of 5 % each. Results: docs/decisions/023-verdicts-over-time.md.
import { createRandom } from "../dist/core/random.js";
import { drawNoise } from "../dist/stats/calibration/draw-noise.js";
import { drawnTable } from "../dist/stats/calibration/drawn-outcomes.js";
import { holm } from "../dist/stats/comparison.js";
import { logrankIndividual } from "../dist/stats/individual-logrank.js";

/** Which censorings, and the first seed, unless the environment names others. */
const CENSORINGS = process.env.CENSORING ? [process.env.CENSORING] : ["light", "heavy"];
const FIRST_SEED = Number(process.env.SEED ?? 1000);
const T = 30;
const N = 1000;

/** Who is off, how far the mean curve of these is too high by bin t, and by which factor their hazards are. */
const SCENARIOS = {
  right: { who: () => false },
  "late, one group of 500": { who: ({ a }) => a === 0, gap: (t) => 0.1 * Math.max(0, (2 * t) / T - 1) },
  "late, one group of 100": { who: ({ c }) => c === 0, gap: (t) => 0.25 * Math.max(0, (2 * t) / T - 1) },
  "early, one group of 500": {
    who: ({ a }) => a === 0,
    gap: (t) => 0.08 * Math.min((4 * t) / T, (4 / 3) * (1 - t / T)),
  },
  "5 points, everyone": { who: () => true, gap: (t) => 0.05 * Math.min(1, (4 * t) / T) },
  "hazards × 1.3, one group of 500": { who: ({ a }) => a === 0, ratio: 1.3 },
  "hazards × 1.8, one group of 100": { who: ({ c }) => c === 0, ratio: 1.8 },
  "hazards × 1.2, everyone": { who: () => true, ratio: 1.2 },
};

function simulate(seed, { who, gap = () => 0, ratio = 1 }, censoring) {
  const random = createRandom(seed, 5);
  const people = [];
  const survival = new Float64Array(N * T);
  for (let i = 0; i < N; i++) {
    const b = random.integer(3);
    const u = random.uniform();
    const one = { a: i % 2, b, c: u < 0.1 ? 0 : u < 0.4 ? 1 : 2 };
    const rate = Math.exp(0.6 * random.normal() + 0.3 * (one.a - 0.5) + 0.2 * (b - 1));
    for (let t = 1; t <= T; t++) survival[i * T + t - 1] = Math.exp(-0.6 * rate * (t / T) ** 1.1);
    people.push(one);
  }
  const off = people.map(who);
  const mean = new Float64Array(T + 1);
  const count = off.filter(Boolean).length;
  for (let i = 0; i < N; i++)
    if (off[i]) for (let t = 1; t <= T; t++) mean[t] += survival[i * T + t - 1] / count;
  const bin = new Int32Array(N);
  const event = new Uint8Array(N);
  for (let i = 0; i < N; i++) {
    const level = random.uniform();
    let dies = 1;
    for (let left = 1; dies <= T; dies++) {
      const S = survival[i * T + dies - 1];
      left = Math.min(left, off[i] ? S ** ratio * (1 - gap(dies) / mean[dies]) : S);
      if (left <= level) break;
    }
    const u = random.uniform();
    const leaves = Math.min(T, 1 + Math.floor(T * (censoring === "light" ? 3 * u : 1.05 * u ** 1.3)));
    event[i] = dies <= leaves ? 1 : 0;
    bin[i] = Math.min(dies, leaves);
  }
  const groups = [Int32Array.from(people.keys())];
  for (const [name, levels] of Object.entries({ a: 2, b: 3, c: 3 }))
    for (let level = 0; level < levels; level++)
      groups.push(Int32Array.from(people.keys()).filter((i) => people[i][name] === level));
  return { curves: { N, T, survival }, binned: { T, bin, event }, groups };
}

function judge({ curves, binned, groups }, seed, draws) {
  const judged = groups.map(() => [true]);
  const noise = drawNoise(drawnTable(curves, binned), groups, { draws, seed, judged }).map(([one]) => one);
  const logrank = holm(groups.map((rows) => logrankIndividual(curves, binned, rows).p));
  return {
    verdict: noise.some(({ departure }) => departure.adjustedP <= 0.05),
    "0.2.0": noise.some(({ eceAdjustedP }) => eceAdjustedP <= 0.025) || logrank.some((p) => p <= 0.025),
  };
}

const [, , audits = "200", draws = "998", ...wanted] = process.argv;
const count = Number(audits);
for (const [name, scenario] of Object.entries(SCENARIOS)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  for (const censoring of CENSORINGS) {
    const hits = new Map();
    let events = 0;
    const started = performance.now();
    for (let k = 0; k < count; k++) {
      const audit = simulate(FIRST_SEED + k, scenario, censoring);
      events += audit.binned.event.reduce((sum, one) => sum + one, 0) / count;
      for (const [which, disagrees] of Object.entries(judge(audit, FIRST_SEED - 1000 + k, Number(draws))))
        hits.set(which, (hits.get(which) ?? 0) + (disagrees ? 1 : 0));
    }
    const shares = [...hits].map(([which, n]) => {
      const share = n / count;
      return `${which} ${share.toFixed(3)} (${n} of ${count}) ± ${Math.sqrt((share * (1 - share)) / count).toFixed(3)}`;
    });
    const each = Math.round((performance.now() - started) / count);
    console.log(
      `${name}, ${censoring} (${Math.round(events)} events): ${shares.join(", ")}; ${each} ms an audit`,
    );
  }
}
