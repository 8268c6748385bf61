import { createRandom } from "../dist/core/random.js";
import { drawOutcomes } from "../dist/stats/calibration/drawn-outcomes.js";
import { createValues, measureCurves } from "../dist/stats/calibration/measure-draws.js";
import { rankDepartures } from "../dist/stats/calibration/departures.js";
import { scaleOf, surpriseOfLargest, surpriseOfSquare } from "../dist/stats/calibration/null-scale.js";
import { logChiSquareUpperTail } from "../dist/core/distributions.js";
import { rankTogether } from "../dist/stats/calibration/noise-floor.js";
import { holm } from "../dist/stats/comparison.js";
import { meanCurve, modelVariance } from "../dist/stats/calibration/calibration.js";
import { kaplanMeierBinned, groupSupport } from "../dist/stats/kaplan-meier.js";

const T = 30, N = 1000;
export function cohort(seed, scenario, censoring) {
  const r = createRandom(seed, 5);
  const a = new Int32Array(N), b = new Int32Array(N), c = new Int32Array(N);
  const survival = new Float64Array(N * T), bin = new Int32Array(N), event = new Uint8Array(N);
  const lam = new Float64Array(N);
  for (let i = 0; i < N; i++) {
    a[i] = i % 2; b[i] = r.integer(3); const u = r.uniform(); c[i] = u < .1 ? 0 : u < .4 ? 1 : 2;
    lam[i] = Math.exp(.6 * r.normal() + .3 * (a[i] - .5) + .2 * (b[i] - 1));
    for (let t = 1; t <= T; t++) survival[i * T + t - 1] = Math.exp(-.6 * lam[i] * (t / T) ** 1.1);
  }
  const groups = [Int32Array.from({ length: N }, (_, i) => i)];
  for (const [col, L] of [[a, 2], [b, 3], [c, 3]]) for (let l = 0; l < L; l++) groups.push(Int32Array.from([...col.keys()].filter((i) => col[i] === l)));
  const off = { perfect: () => false, late: (i) => a[i] === 0, early: (i) => a[i] === 0, all5: () => true, ph: (i) => a[i] === 0, small: (i) => c[i] === 0, smalllate: (i) => c[i] === 0, allph: () => true }[scenario];
  const mean = new Float64Array(T + 1); const who = [...Array(N).keys()].filter(off);
  for (let t = 1; t <= T; t++) { for (const i of who) mean[t] += survival[i * T + t - 1] / who.length; }
  const shift = (t) => scenario === "late" ? .1 * Math.max(0, (t - T / 2) / (T / 2)) : scenario === "smalllate" ? .25 * Math.max(0, (t - T / 2) / (T / 2)) : scenario === "early" ? (t <= T / 4 ? .08 * t / (T / 4) : .08 * (1 - (t - T / 4) / (T * .75))) : scenario === "all5" ? .05 * Math.min(1, t / (T / 4)) : 0;
  const hr = scenario === "ph" ? 1.3 : scenario === "small" ? 1.8 : scenario === "allph" ? 1.2 : 1;
  for (let i = 0; i < N; i++) {
    const level = r.uniform(); let dies = 1;
    const S = (t) => { const s = survival[i * T + t - 1]; if (!off(i)) return s; return hr !== 1 ? s ** hr : s * (1 - shift(t) / mean[t]); };
    let run = 1;
    for (; dies <= T; dies++) { run = Math.min(run, S(dies)); if (run <= level) break; }
    const cu = r.uniform();
    const leaves = censoring === "light" ? Math.min(T, 1 + Math.floor(cu * 3 * T)) : Math.min(T, 1 + Math.floor(T * (cu ** 1.3) * 1.05));
    event[i] = dies <= leaves ? 1 : 0; bin[i] = Math.min(dies, leaves, T);
  }
  return { curves: { N, T, survival }, binned: { T, bin, event }, groups };
}
export function audit({ curves, binned, groups }, seed, draws) {
  const { survival } = curves;
  const table = { N, K: 1, T, survival, bin: binned.bin, cause: binned.event };
  const drawn = drawOutcomes(table, groups, { draws, seed, knots: [T] });
  const cells = groups.map((rows, g) => {
    const mean = meanCurve(curves, undefined, rows);
    const km = kaplanMeierBinned(binned, undefined, rows);
    const last = groupSupport(binned, { rows });
    const h = mean.map((m, t) => t === 0 ? 0 : 1 - m / mean[t - 1]);
    let e = 0, I = 0;
    const expected = h.map((x, t) => (e += x * km.atRisk[t])), information = h.map((x, t) => t === 0 ? 0 : (I += x / (km.atRisk[t] * (1 - x))));
    const scale = scaleOf(modelVariance(mean, km.atRisk), information, expected, last);
    const values = createValues(1 + draws);
    measureCurves(drawn[g], { K: 1, T, last, means: [mean], scales: [scale] }, [values], { first: 0, from: 0, draws: 1 + draws });
    const chi = Float64Array.from({ length: 1 + draws }, (_, d) => {
      let o = 0; for (let t = 1; t <= T; t++) o += drawn[g].counts[d * 2 * (T + 1) + t];
      return (o - drawn[g].expected[d]) ** 2 / drawn[g].variance[d];
    });
    return { values, chi, sq: values.square.map((v) => surpriseOfSquare(v, scale)), z: values.largest.map((v) => surpriseOfLargest(v, scale)), lr: chi.map((v) => -logChiSquareUpperTail(v, 1)) };
  });
  return cells;
}
const rankAll = (v) => { // share at least as large
  const order = [...v.keys()].sort((x, y) => v[y] - v[x]); const out = new Float64Array(v.length);
  for (let k = 0; k < order.length;) { let e = k; while (e < order.length && v[order[e]] === v[order[k]]) e++; for (let j = k; j < e; j++) out[order[j]] = e / v.length; k = e; }
  return out;
};
export function verdicts(cells) {
  const any = (list) => list.some(({ adjustedP }) => adjustedP <= .05);
  const judge = (pick) => any(rankDepartures(cells.map((c) => ({ statistics: pick(c) }))));
  const ece = rankTogether(cells.map(({ values }) => values.ece.slice(0, 201)), 200).groups;
  const lp = holm(cells.map(({ chi }) => Math.exp(logChiSquareUpperTail(chi[0], 1))));
  return {
    "0.2.0": ece.some(({ adjustedP }) => adjustedP <= .025) || lp.some((p) => p <= .025),
    gap: judge((c) => [c.sq]), z: judge((c) => [c.z]), "gap+z": judge((c) => [c.sq, c.z]), "gap+z+lr": judge((c) => [c.sq, c.z, c.lr]), "z+lr": judge((c)=>[c.z,c.lr]),
    "ranks": judge((c) => [rankAll(c.values.square).map((p) => -Math.log(p)), rankAll(c.values.largest).map((p) => -Math.log(p))]),
  };
}
if (process.argv[2]) {
  const [, , scenario, censoring, count, draws = 999] = process.argv;
  const hits = {}; let ev = 0;
  const t0 = performance.now();
  for (let k = 0; k < Number(count); k++) {
    const one = cohort(1000 + k, scenario, censoring);
    ev += one.binned.event.reduce((s, e) => s + e, 0);
    for (const [name, is] of Object.entries(verdicts(audit(one, k, Number(draws))))) hits[name] = (hits[name] ?? 0) + (is ? 1 : 0);
  }
  console.log(scenario, censoring, count, "events", (ev / count).toFixed(0), Object.entries(hits).map(([n, h]) => `${n} ${(h / count).toFixed(3)}`).join("  "), `${((performance.now() - t0) / count).toFixed(0)} ms`);
}
