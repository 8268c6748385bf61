// A report's input with everything in it: the bundled example curves, 25 groups of which one is off, one tiny and one
// empty, names that try to break out of the page, and a training record of the shape a model carries.
import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { named, say } from "../../src/core/sentence.ts";
import { createNotice } from "../../src/data/checks/findings.ts";
import { readCurves } from "../../src/data/curves/read-curves.ts";
import { equalTimeGrid } from "../../src/data/outcomes/time-grid.ts";
import { readTable, tableSourceFromBytes } from "../../src/data/reading/read-table.ts";
import type { ReportedModel } from "../../src/report/data/describe-model.ts";
import type { GatherInput } from "../../src/report/data/gather-report.ts";
import type { SolveReport } from "../../src/training/solve/hold.ts";
import { type AuditOptions, type AuditTable, audit } from "../../src/verbs/audit.ts";

export const HOSTILE = [
  "<script>window.broken = 1</script>",
  '"><img src=x onerror="window.broken = 2">',
  "</style></script><svg onload='window.broken = 3'>",
  "a & b < c 'd' \"e\" \u202e\u0000",
] as const;

export const GROUPS = 25;
const T = 102;

export interface ReportInput extends GatherInput {
  readonly audit: AuditTable;
}

export async function readExampleCurves() {
  const bytes = readFileSync(new URL("../../datasets/nwtco/example-curves.csv.gz", import.meta.url));
  const table = await readTable(tableSourceFromBytes("example-curves.csv", gunzipSync(bytes)));
  return readCurves(table, {});
}

export async function makeInput(
  options: AuditOptions = { draws: 40, replicates: 20 },
  count: number = GROUPS,
): Promise<ReportInput> {
  const { curves, outcomes } = await readExampleCurves();
  const pick = (belongs: (row: number) => boolean) =>
    Int32Array.from(Array.from({ length: curves.N }, (_, row) => row).filter(belongs));
  const groups = [
    // Everybody who had the event early, and as many others: no model of the whole cohort is right for them.
    {
      name: HOSTILE[0],
      rows: pick((row) => (outcomes.event[row] === 1 && outcomes.bin[row] < 20) || row % 9 === 0),
    },
    { name: HOSTILE[1], expression: HOSTILE[1], rows: pick((row) => row % 2 === 0) },
    { name: HOSTILE[2], rows: pick((row) => row < 12) },
    { name: HOSTILE[3], rows: Int32Array.of() },
    ...Array.from({ length: count - 4 }, (_, k) => ({
      name: `every ${k + 2}th, from row ${k + 1}`,
      rows: pick((row) => row % (k + 2) === k % 2),
    })),
  ];
  return {
    title: `Audit of ${HOSTILE[0]}.csv`,
    curves,
    binned: outcomes,
    grid: equalTimeGrid(T, 6209),
    timeLabel: "days",
    outcome: { event: HOSTILE[1], rule: "1 = event, 0 = censored", time: HOSTILE[0] },
    groups,
    audit: await audit({ curves, outcomes, groups }, options),
    findings: [
      createNotice("warning", `${HOSTILE[1]} counts rows`),
      createNotice("note", say`time is 0 in ${named([3, 8, 12])}: legal, counted in the first bin`),
    ],
    cohort: {
      table: HOSTILE[2],
      rows: 520,
      excluded: [{ reason: "no time", rows: 20 }],
      which: "rows of the file",
    },
    model: makeModel(groups.map(({ name }) => name)),
    provenance: {
      program: "graduate 0.1.0",
      command: `graduate audit '${HOSTILE[0]}.csv' --report report.html`,
      created: "2026-01-01",
      files: [{ role: "table", name: HOSTILE[1], sha256: "0".repeat(64) }],
      settings: { seed: 1, draws: 40, replicates: 20, note: HOSTILE[0] },
    },
  };
}

/** A group that is held along a frontier, one that nothing tells, and two targets, of which one has few events. */
function makeSolve(names: readonly string[]): SolveReport {
  const shares = [1, 0.85, 0.7, 0.5, 0.35];
  return {
    solvedOn: "training and validation rows",
    iterations: 12,
    residuals: { stationarity: 0, violation: 0, complementarity: 0 },
    mixture: { share: 0.5, losses: [{ share: 0, loss: 0.5 }], gain: 0.0123, standardError: 0.0045 },
    hold: "balanced",
    blind: [
      {
        group: names[1],
        auc: 0.861,
        explained: 0.4,
        features: [
          { name: HOSTILE[0], slope: 1.25 },
          { name: "age", slope: -0.5 },
        ],
        frontier: shares.map((share, k) => ({
          share,
          distance: 3.6 * share * share,
          others: 0.62 + 0.01 * k,
          lost: 0.4 * k,
          concordance: 0.678 - 0.001 * k,
          ibs: 0.104 + 0.0005 * k,
        })),
        budget: 1.76,
      },
      { group: names[3], auc: 0.57, explained: 0.01, features: [], frontier: [], budget: null },
    ],
    targets: [
      {
        group: names[0],
        time: [1000, 3000, 5000],
        target: [0.9, 0.86, 0.84],
        standardError: [0.01, 0.015, 0.02],
        local: [0.89, 0.85, null],
        model: [0.895, 0.856, 0.835],
        clash: { observed: 62, expected: 55.25, z: 0.9, p: 0.37, adjusted: 0.74 },
      },
      {
        group: names[2],
        time: [2000],
        target: [0.95],
        standardError: [0.03],
        local: [0.92],
        model: [0.94],
        clash: { observed: 3, expected: 1.75, z: null, p: 0.5, adjusted: 0.74 },
      },
    ],
  };
}

function makeModel(names: readonly string[]): ReportedModel {
  const steps = Array.from({ length: 21 }, (_, k) => 50 * k);
  return {
    method: "graduate",
    predictor: {
      kind: "network",
      network: { kind: "anchored", H: 50, baselineHazard: new Array(T).fill(0.01) },
    },
    options: { constraint: { distance: "l2", slack: "auto" }, steps: 1000, patience: null },
    training: {
      seed: 1,
      backend: "wasm",
      rows: { train: 2416, validation: 806, test: 806 },
      parameters: 12345,
      steps: 1000,
      bestStep: 800,
      history: steps.map((step) => ({
        step,
        loss: 0.7 + 0.1 * Math.exp(-step / 200),
        concordance: step === 0 ? null : 0.72 - 0.05 * Math.exp(-step / 100),
        distances: names.map((_, g) => 1e-4 * (g + 1) * (0.5 + Math.exp(-step / 300))),
        multipliers: names.map((_, g) => Math.max(0, 0.01 * (g - 5) * (1 - Math.exp(-step / 400)))),
      })),
      verdict: names.map((group, g) => ({
        group,
        told: g !== 11,
        n: 100,
        events: 20,
        slack: 5e-4,
        distance: { solve: 1e-4 * (g + 1) * 0.5, fresh: g === 3 ? null : 1.25 },
        fresh: g === 3 ? null : { p: 0.25, adjusted: 1 },
        status: g === 3 ? "unsupported" : g === 11 ? "infeasible" : g < 10 ? "met" : "unmet",
        reachable: g === 11 ? 5.5e-4 : null,
        price: g === 3 ? null : 0.125 * g,
        reason: g === 3 ? "no rows" : g === 11 ? "its features give membership away" : null,
      })),
      solve: makeSolve(names),
      multipliers: { fixedPenalty: false },
      warnings: ["102 time bins raise Kaplan-Meier at the end"],
      notices: [createNotice("warning", "102 time bins raise Kaplan-Meier at the end")],
    },
  };
}
