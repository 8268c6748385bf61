// The report where people entered late: what cannot be compared is said once and not drawn.
import { parseHTML } from "linkedom";
import { describe, expect, test } from "vitest";
import { gatherReport } from "../../src/report/data/gather-report.ts";
import { renderReport } from "../../src/report/page/render-report.ts";
import { audit } from "../../src/verbs/audit.ts";

const N = 80;
const T = 6;
const hazardOf = (row: number) => 0.08 + 0.02 * (row % 5);
const curves = {
  N,
  T,
  survival: Float64Array.from(
    { length: N * T },
    (_, k) => (1 - hazardOf(Math.floor(k / T))) ** ((k % T) + 1),
  ),
};
const late = {
  T,
  bin: Int32Array.from({ length: N }, (_, row) => 2 + (row % 5)),
  event: Uint8Array.from({ length: N }, (_, row) => (row % 3 === 0 ? 1 : 0)),
  firstBin: Int32Array.from({ length: N }, (_, row) => 1 + (row % 2)),
};
const groups = [{ name: "first half", rows: Int32Array.from({ length: 40 }, (_, row) => row) }];

async function render(outcomes: typeof late | Omit<typeof late, "firstBin">): Promise<string> {
  const data = gatherReport({
    title: "late",
    curves,
    binned: outcomes,
    grid: { T, edges: Array.from({ length: T + 1 }, (_, t) => t) },
    groups,
    audit: await audit({ curves, outcomes, groups }, { draws: 10 }),
    cohort: { table: "late.csv", which: "test rows" },
    provenance: { program: "graduate", command: "", files: [], settings: {} },
  });
  return renderReport(data, { document: parseHTML("<html></html>").document });
}

describe("late entry", () => {
  test("no curve beside Kaplan-Meier is drawn, and no column of empty scores", async () => {
    const page = await render(late);
    expect(page).toContain("People came under observation late");
    expect(page).toContain("Observed over predicted events: ");
    expect(page).not.toContain("Mean predicted survival beside the Kaplan-Meier curve");
    expect(page).not.toContain("Calibration error (ECE)");
    expect(page).not.toContain('data-key="ece"');
    expect(page).toContain('data-key="ratio"');
    expect(page).not.toContain("how far off it could be cannot be said");
  });

  test("the same people from the start have them", async () => {
    const { firstBin: _, ...plain } = late;
    const page = await render(plain);
    expect(page).toContain("Mean predicted survival beside the Kaplan-Meier curve");
    expect(page).toContain('data-key="ece"');
  });
});
