/**
 * Do certificates hold? Audits of simulated people whose true curves are known: five yes/no features, each true of two in three
 * and each a group of its own, and everyone, so six overlapping groups; hazards are proportional in the features, 83 in
 * 100 are censored, by chance alone. The predicted curves are the true ones lowered by c in every bin: the true distance of
 * every group is c over any bins. λ and the bins come either from training rows (three times as many people) or not.
 *
 *   node paper/certificates.js [--sizes 50,200,800,5000] [--distances 0,0.02,0.04] [--audits 1000] [--seed 2000000] --out paper/certificates.jsonl
 *
 * One line a cell; cells already in --out are not run again. `node paper/certificates-table.js` makes the page of docs/results.
 */
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { createRandom } from "../dist/core/random.js";
import { meanCurve } from "../dist/stats/calibration/calibration.js";
import { certify } from "../dist/stats/certificates/certificates.js";
import { boundExactly, tallyFollowUp } from "../dist/stats/certificates/exact.js";
import { groupSupport } from "../dist/stats/kaplan-meier.js";

const { values: given } = parseArgs({
  options: {
    sizes: { type: "string", default: "50,200,800,5000" },
    distances: { type: "string", default: "0,0.02,0.04" },
    audits: { type: "string", default: "1000" },
    alpha: { type: "string", default: "0.05" },
    seed: { type: "string", default: "2000000" },
    out: { type: "string", default: "paper/certificates.jsonl" },
  },
});
const alpha = Number(given.alpha);

const T = 30;
const FEATURES = 5;
const TYPES = 2 ** FEATURES;
const SHARE = 2 / 3;
const EFFECTS = [0.5, -0.4, 0.3, 0.6, -0.3];
/** Cumulative hazard at T where all effects cancel, and its growth with time. */
const LEVEL = 0.32;
const POWER = 1.2;
/** Of those still watched, the share that leaves in each bin. */
const LEAVING = 0.04;
/** People trained on for each audited, and audits for each training. */
const TRAINING = 3;
const AUDITS_A_TRAINING = 20;
/** Apart from the streams of the audits. */
const TRAINING_STREAM = 1_000_000;

const has = (type, feature) => ((type >> feature) & 1) === 1;
const types = Array.from({ length: TYPES }, (_, type) => {
  let effect = 0;
  let probability = 1;
  for (let j = 0; j < FEATURES; j++) {
    effect += EFFECTS[j] * ((has(type, j) ? 1 : 0) - SHARE);
    probability *= has(type, j) ? SHARE : 1 - SHARE;
  }
  const survival = Float64Array.from({ length: T }, (_, t) =>
    Math.exp(-LEVEL * ((t + 1) / T) ** POWER * Math.exp(effect)),
  );
  return { probability, survival };
});
/** The true curves: everyone, then those with each feature; t = 0…T. */
const truths = Array.from({ length: FEATURES + 1 }, (_, g) => {
  const curve = new Float64Array(T + 1);
  let total = 0;
  types.forEach(({ probability, survival }, type) => {
    if (g > 0 && !has(type, g - 1)) return;
    total += probability;
    for (let t = 1; t <= T; t++) curve[t] += probability * survival[t - 1];
  });
  for (let t = 1; t <= T; t++) curve[t] /= total;
  curve[0] = 1;
  return curve;
});

function drawPeople(N, random) {
  const type = new Uint8Array(N);
  const bin = new Int32Array(N);
  const event = new Uint8Array(N);
  for (let i = 0; i < N; i++) {
    for (let j = 0; j < FEATURES; j++) if (random.uniform() < SHARE) type[i] |= 1 << j;
    const { survival } = types[type[i]];
    const u = random.uniform();
    let dies = 0;
    while (dies < T && survival[dies] >= u) dies++;
    const leaves = Math.floor(Math.log(1 - random.uniform()) / Math.log(1 - LEAVING));
    event[i] = dies <= leaves && dies < T ? 1 : 0;
    bin[i] = Math.min(dies, leaves, T - 1) + 1;
  }
  const groups = Array.from({ length: FEATURES + 1 }, (_, g) => ({
    name: g === 0 ? "all" : `feature ${g}`,
    rows: Int32Array.from({ length: N }, (_, i) => i).filter((i) => g === 0 || has(type[i], g - 1)),
  }));
  return { type, outcomes: { T, bin, event }, groups };
}

function predict(type, lowered) {
  const survival = new Float64Array(type.length * T);
  type.forEach((one, i) => {
    for (let t = 0; t < T; t++) survival[i * T + t] = types[one].survival[t] - lowered;
  });
  return { N: type.length, T, survival };
}

/** ‖m − S_g‖ over t ≤ last, m the mean curve of the group's rows: the same for all of a type. */
function sampleDistance(type, rows, lowered, truth, last) {
  const count = new Float64Array(TYPES);
  for (const row of rows) count[type[row]]++;
  let sum = 0;
  for (let t = 1; t <= last; t++) {
    const mean =
      types.reduce((total, { survival }, k) => total + count[k] * survival[t - 1], 0) / rows.length;
    sum += (mean - lowered - truth[t]) ** 2;
  }
  return Math.sqrt(sum / last);
}

const median = (values) => {
  const sorted = Float64Array.from(values).sort();
  return sorted.length === 0 ? null : Number(sorted[Math.floor(sorted.length / 2)].toPrecision(5));
};

function runCell(n, distance, audits, seed) {
  const N = Math.round(n / SHARE);
  const bases = { "training rows": [], "audited rows": [] };
  let censored = 0;
  let followUp = [];
  for (let audit = 0; audit < audits; audit++) {
    if (audit % AUDITS_A_TRAINING === 0) {
      const trained = drawPeople(TRAINING * N, createRandom(seed, TRAINING_STREAM + audit));
      followUp = trained.groups.map(({ rows }) => tallyFollowUp(trained.outcomes, rows));
    }
    const { type, outcomes, groups } = drawPeople(N, createRandom(seed, audit));
    const curves = predict(type, distance);
    censored += outcomes.event.reduce((sum, one) => sum + 1 - one, 0) / N;
    const options = { alpha, seed: seed + audit };
    const planned = certify(curves, outcomes, groups, {
      ...options,
      followUp,
      support: "training rows",
    }).groups;
    const bins = groups.map(({ rows }) => groupSupport(outcomes, { rows }));
    // Over the same bins the tight bounds are the same: they are not drawn again.
    const unplanned = planned.every((one, g) => one.bins === bins[g])
      ? planned.map((one, g) => {
          const { rows } = groups[g];
          const plan = { alpha: alpha / groups.length, trained: null, last: bins[g] };
          const mean = meanCurve(curves, undefined, rows);
          const { sample, population } = boundExactly(mean, tallyFollowUp(outcomes, rows), plan);
          return { ...one, basis: "audited rows", exact: sample, exactPopulation: population };
        })
      : certify(curves, outcomes, groups, options).groups;
    Object.values(bases).forEach((results, k) => {
      results.push(
        [planned, unplanned][k].map((one, g) => ({
          ...one,
          sample: one.bins === 0 ? null : sampleDistance(type, groups[g].rows, distance, truths[g], one.bins),
        })),
      );
    });
  }
  return Object.entries(bases).map(([basis, results]) => {
    const given = results.flat();
    const summarise = (key, truthOf) => {
      const stated = given.filter((one) => one[key] !== null);
      return {
        covered: results.filter((groups) =>
          groups.every((one) => one[key] === null || truthOf(one) <= one[key]),
        ).length,
        stated: Number((stated.length / given.length).toFixed(4)),
        bound: median(stated.map((one) => one[key])),
        ratio: distance === 0 ? null : median(stated.map((one) => one[key] / truthOf(one))),
      };
    };
    return {
      n,
      distance,
      basis,
      audits,
      seed,
      alpha,
      groups: FEATURES + 1,
      censored: Number((censored / audits).toFixed(4)),
      bins: median(given.map(({ bins }) => bins)),
      events: median(given.map(({ events }) => events)),
      observed: median(given.filter((one) => one.distance !== null).map((one) => one.distance)),
      exact: summarise("exact", ({ sample }) => sample),
      exactPopulation: summarise("exactPopulation", () => distance),
      tight: summarise("tight", () => distance),
    };
  });
}

const done = existsSync(given.out)
  ? readFileSync(given.out, "utf8")
      .split("\n")
      .filter(Boolean)
      .map((text) => JSON.parse(text))
  : [];
for (const n of given.sizes.split(",").map(Number)) {
  for (const distance of given.distances.split(",").map(Number)) {
    if (done.some((line) => line.n === n && line.distance === distance)) continue;
    // Each cell has its own people.
    const seed = Number(given.seed) + n * 1000 + Math.round(1000 * distance);
    const started = performance.now();
    const lines = runCell(n, distance, Number(given.audits), seed);
    appendFileSync(given.out, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
    const seconds = ((performance.now() - started) / 1000).toFixed(1);
    for (const { basis, exact, exactPopulation, tight } of lines) {
      console.log(
        `n ${n}, d ${distance}, ${basis}: exact ${exact.covered} (U ${exact.bound}), population ${exactPopulation.covered} (U ${exactPopulation.bound}), tight ${tight.covered} (U ${tight.bound}, stated ${tight.stated}); ${seconds} s`,
      );
    }
  }
}
