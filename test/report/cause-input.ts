// An audit by cause for the report's tests: one cause predicted too low, one named as somebody hostile would, and a group
// of four people.
import { parseHTML } from "linkedom";
import { type CauseReportInput, gatherCauseReport } from "../../src/report/data/cause-report.ts";
import { renderCauseReport } from "../../src/report/page/render-cause-report.ts";
import { auditCauses } from "../../src/verbs/causes/audit-causes.ts";
import { simulateCauses } from "../stats/simulated-causes.ts";

export const HOSTILE = '<img src=x onerror="alert(1)">';

/** What the report is of, and the same people's audit where they enter late. */
export async function makeCauseInput() {
  const made = simulateCauses(700, 12, 31);
  const { T, K, incidence } = made.curves;
  const off = incidence.map((F, at) => (Math.floor(at / T) % K === 0 ? 0.6 * F : F));
  const curves = { ...made.curves, causes: ["disease", HOSTILE], incidence: off };
  const groups = [
    made.groups[1],
    { name: HOSTILE, rows: made.groups[2].rows },
    { name: "four", rows: [1, 2, 3, 4] },
  ];
  const audit = await auditCauses({ curves, outcomes: made.outcomes, groups }, { draws: 50 });
  const firstBin = made.outcomes.bin.map((_, row) => 1 + (row % 2));
  const late = await auditCauses({ curves, outcomes: { ...made.outcomes, firstBin } }, { draws: 0 });
  const input: CauseReportInput = {
    title: "somebody's curves",
    audit,
    grid: { edges: Array.from({ length: T + 1 }, (_, t) => 365.25 * t) },
    timeLabel: "days",
    groups: [{ name: "x = 0", expression: "x < 1" }, { name: HOSTILE }, { name: "four" }],
    outcome: { event: "status", time: "days" },
    table: "people.csv",
    provenance: { program: "graduate", command: "graduate audit", files: [], settings: { seed: 1 } },
  };
  return { input, audit, late };
}

export function renderCauses(given: CauseReportInput): string {
  return renderCauseReport(gatherCauseReport(given), { document: parseHTML("<html></html>").document });
}
