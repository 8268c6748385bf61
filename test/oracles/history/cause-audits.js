// Audits by cause of a law that is known: how often a model that is right is said to disagree, how often one whose first
// cause is 30 % too low is found, and how often the bounds of all groups and causes hold. Everyone, two halves and a fifth
// of N people, two causes, 20 bins, about a quarter censored. Run from the repository root, after a build:
// node test/oracles/history/cause-audits.js [audits]   (1000 take some minutes; docs/concepts/causes.md has its lines)
import { createRandom } from "../../../dist/core/random.js";
import { auditCauses, causeCurves } from "../../../dist/index.js";

const T = 20;
const SHARE = 0.7;

/** The law of test/stats/simulated-causes.ts. */
function simulate(N, seed) {
  const random = createRandom(seed);
  const incidence = new Float64Array(N * 2 * T);
  const bin = new Int32Array(N);
  const cause = new Uint8Array(N);
  const half = new Uint8Array(N);
  for (let row = 0; row < N; row++) {
    const [x, z] = [random.uniform() < 0.5 ? 1 : 0, random.uniform()];
    half[row] = x;
    const hazard = (k, t) => (k === 0 ? (0.5 / T) * (0.5 + t / T) * (1 + x) : (0.7 / T) * (0.5 + z));
    let S = 1;
    for (let t = 1; t <= T; t++) {
      for (const k of [0, 1]) {
        const at = (row * 2 + k) * T + t - 1;
        incidence[at] = (t === 1 ? 0 : incidence[at - 1]) + S * hazard(k, t);
      }
      S *= 1 - hazard(0, t) - hazard(1, t);
    }
    bin[row] = T;
    for (let t = 1; t <= T && cause[row] === 0; t++) {
      const level = random.uniform();
      if (level < hazard(0, t)) cause[row] = 1;
      else if (level < hazard(0, t) + hazard(1, t)) cause[row] = 2;
      bin[row] = t;
      if (cause[row] === 0 && random.uniform() < 0.6 / T) break;
    }
  }
  const where = (holds) => Int32Array.from({ length: N }, (_, row) => row).filter(holds);
  return {
    curves: causeCurves({ N, T, causes: ["first", "second"], incidence }),
    outcomes: { T, bin, event: cause.map((one) => Math.min(one, 1)), cause },
    groups: [
      { name: "one half", rows: where((row) => half[row] === 0) },
      { name: "the other", rows: where((row) => half[row] === 1) },
      { name: "a fifth", rows: where((row) => row % 5 === 0) },
    ],
  };
}

const MANY = 100_000;
const law = simulate(MANY, 1);
const everyone = Int32Array.from({ length: MANY }, (_, row) => row);
/** The first cause's mean incidence in each group. */
const truth = [everyone, ...law.groups.map(({ rows }) => rows)].map((rows) => {
  const mean = new Float64Array(T + 1);
  for (const row of rows)
    for (let t = 1; t <= T; t++) mean[t] += law.curves.incidence[row * 2 * T + t - 1] / rows.length;
  return mean;
});

const audits = Number(process.argv[2] ?? 1000);
for (const N of [300, 1000]) {
  let [disagrees, found, held, bound] = [0, 0, 0, 0];
  for (let audit = 0; audit < audits; audit++) {
    const made = simulate(N, 1000 + audit);
    const right = await auditCauses(made, { draws: 99, seed: audit });
    const lines = right.causes.flatMap(({ overall, groups }) => [overall, ...groups]);
    if (lines.some(({ agreement }) => agreement === "disagrees")) disagrees++;
    bound += (right.causes[0].overall.bound ?? Number.NaN) / audits;
    const incidence = made.curves.incidence.map((F, at) => (Math.floor(at / T) % 2 === 0 ? SHARE * F : F));
    const off = await auditCauses({ ...made, curves: { ...made.curves, incidence } }, { draws: 99, seed: audit });
    if (off.causes[0].overall.agreement === "disagrees") found++;
    const first = [off.causes[0].overall, ...off.causes[0].groups];
    // The second cause is right: its distance is 0, and every bound holds.
    const isHeld = first.every((scores, g) => {
      const F = truth[g].subarray(1, scores.supported.bins + 1);
      const distance = (1 - SHARE) * Math.sqrt(F.reduce((sum, one) => sum + one * one, 0) / F.length);
      return scores.bound === null || scores.bound >= distance;
    });
    if (isHeld) held++;
  }
  const share = (count) => `${((100 * count) / audits).toFixed(1)} %`;
  console.log(
    `${N} people: right model disagrees ${share(disagrees)}, wrong one found ${share(found)}, all bounds hold ` +
      `${share(held)}, mean bound of everyone at a right model ${bound.toFixed(3)}`,
  );
}
