// The audit by cause: a model of one cause has the audit of survival, a wrong cause is found and no other, everything is
// by person, and what is not defined under late entry is absent with the reason.
import { describe, expect, test } from "vitest";
import { auditCauses, causeCurves } from "../../src/index.ts";
import { survivalOf } from "../../src/data/curves/cause-curves.ts";
import { audit } from "../../src/verbs/audit.ts";
import type { AuditPhase } from "../../src/verbs/audit.ts";
import { simulateCauses } from "../stats/simulated-causes.ts";

const options = { draws: 99, seed: 3 };

/** Cause 1 predicted too low by a share, for all or for some. */
function distort(made: ReturnType<typeof simulateCauses>, share: number, isOff: (row: number) => boolean) {
  const { K, T, incidence } = made.curves;
  const values = incidence.map((F, at) => {
    const cause = Math.floor(at / T) % K;
    return cause === 0 && isOff(Math.floor(at / (K * T))) ? share * F : F;
  });
  return { ...made.curves, incidence: values };
}

describe("auditCauses", () => {
  test("of one cause says what the audit of survival says", async () => {
    const { curves, outcomes, groups } = simulateCauses(400, 12, 21, { causes: 1 });
    const named = groups.slice(1);
    const { T, bin, event } = outcomes;
    const plain = await audit(
      { curves: survivalOf(curves), outcomes: { T, bin, event }, groups: named },
      options,
    );
    const table = await auditCauses({ curves, outcomes, groups: named }, options);
    expect(table.bounds).toEqual(plain.bounds);
    expect(table.causes.map(({ name }) => name)).toEqual(["disease"]);
    const [{ overall, groups: found }] = table.causes;
    [overall, ...found].forEach((one, g) => {
      const other = [plain.overall, ...plain.groups][g];
      expect(one).toMatchObject({
        name: other.name,
        n: other.n,
        events: other.events,
        agreement: other.agreement,
        supported: { bins: other.supported.bins },
      });
      const close = (a: number | null, b: number | null) => expect(a).toBeCloseTo(b ?? Number.NaN, 11);
      for (const field of ["ece", "distanceL2", "ibs", "bound"] as const) close(one[field], other[field]);
      for (const field of ["ece", "eceCritical", "p", "adjustedP"] as const)
        close(one.noiseFloor?.[field] ?? null, other.noiseFloor?.[field] ?? null);
      for (const field of ["observed", "expected", "variance", "chi2", "p", "adjustedP"] as const)
        close(one.logrankIndividual[field], other.logrankIndividual[field]);
    });
  });

  test("a cause that is wrong in one group is found there, and the other cause agrees", async () => {
    const made = simulateCauses(1500, 12, 22);
    const [, low, high] = made.groups;
    const off = distort(made, 0.5, (row) => high.rows.includes(row));
    const { causes } = await auditCauses({ ...made, curves: off, groups: [low, high] }, options);
    const said = causes.map(({ groups }) => groups.map(({ agreement }) => agreement));
    expect(said).toEqual([
      ["noDisagreementShown", "disagrees"],
      ["noDisagreementShown", "noDisagreementShown"],
    ]);
    const { overall, groups } = causes[0];
    const { observed, expected } = groups[1].logrankIndividual;
    expect((expected ?? 0) / (observed ?? 1)).toBeLessThan(0.65);
    expect(groups[1].bound ?? 0).toBeGreaterThan(Math.sqrt(groups[1].distanceL2 ?? 1));
    // Curves of groups and everyone run from 0 at the start over all bins.
    expect(overall.incidence?.predicted).toHaveLength(13);
    expect([overall.incidence?.observed[0], overall.incidence?.lower[0]]).toEqual([0, null]);
    expect(overall.at.map(({ bin }) => bin)).toEqual([3, 6, 9]);
    for (const { brier, auc, concordance } of overall.at)
      for (const score of [brier, auc, concordance])
        expect(score !== null && score > 0 && score < 1).toBe(true);
  });

  test("people who are there twice are judged once", async () => {
    const made = simulateCauses(300, 10, 23, { perPerson: 1 });
    const { curves, outcomes } = made;
    const twice = Int32Array.from({ length: 600 }, (_, row) => row >> 1);
    const { K, T, causes } = curves;
    const incidence = Float64Array.from({ length: 600 * K * T }, (_, at) => {
      return curves.incidence[twice[Math.floor(at / (K * T))] * K * T + (at % (K * T))];
    });
    const pick = (values: Int32Array | Uint8Array) => Array.from(twice, (row) => values[row]);
    const doubled = { T, bin: pick(outcomes.bin), event: pick(outcomes.event), cause: pick(outcomes.cause) };
    const both = causeCurves({ N: 600, T, causes, incidence });
    const one = await auditCauses({ curves, outcomes }, options);
    const two = await auditCauses(
      { curves: both, outcomes: doubled, people: { count: 300, of: twice } },
      options,
    );
    one.causes.forEach(({ overall }, k) => {
      const other = two.causes[k].overall;
      expect(other.peopleWithEvents).toBe(overall.events);
      expect(other.events).toBe(2 * overall.events);
      expect(other.bound).toBeCloseTo(overall.bound ?? Number.NaN, 12);
      expect(other.noiseFloor?.p).toBe(overall.noiseFloor?.p);
      // By person the variance doubles twice over, as it must; by row it would double once.
      const [mine, theirs] = [overall.logrankIndividual, other.logrankIndividual];
      expect((theirs.variance ?? 0) / (mine.variance ?? 1)).toBeGreaterThan(3);
      expect(overall.peopleWithEvents).toBeUndefined();
    });
  });

  test("under late entry observed and expected events remain, the rest says why it is absent", async () => {
    const { curves, outcomes, groups } = simulateCauses(800, 10, 24);
    const firstBin = outcomes.bin.map((bin, row) => (row % 3 === 0 ? Math.min(bin + 1, 3) : 1));
    const table = await auditCauses(
      { curves, outcomes: { ...outcomes, firstBin }, groups: [groups[1]] },
      options,
    );
    expect(table.unjudged).toBe(
      outcomes.bin.reduce((sum, bin, row) => sum + (firstBin[row] > bin ? 1 : 0), 0),
    );
    expect(table.unjudged).toBeGreaterThan(0);
    const { overall } = table.causes[0];
    const why =
      "means of predicted curves over people who entered late are not comparable with Aalen-Johansen";
    for (const field of ["ece", "distanceL2", "bound", "incidence", "noiseFloor"] as const) {
      expect(overall[field], field).toBeNull();
      expect(overall.absent[field], field).toBe(why);
    }
    expect(overall.absent.ibs).toContain("not defined under late entry");
    expect([overall.concordance, overall.ibs, overall.at[0].auc]).toEqual([null, null, null]);
    const { observed, expected, p, adjustedP } = overall.logrankIndividual;
    expect(Math.abs((observed ?? 0) - (expected ?? 0)) / (expected ?? 1)).toBeLessThan(0.25);
    expect((adjustedP ?? 0) >= (p ?? 1)).toBe(true);
    expect(overall.agreement).toBe("noDisagreementShown");
  });

  test("everything that is null says why, and nothing else does", async () => {
    const { curves, outcomes } = simulateCauses(60, 6, 25);
    const some = { name: "five", rows: [0, 1, 2, 3, 4] };
    const none = { name: "nobody", rows: [] };
    const table = await auditCauses({ curves, outcomes, groups: [some, none] }, options);
    for (const { overall, groups } of table.causes)
      for (const { absent, ...scores } of [overall, ...groups]) {
        const nulls = findNulls(scores).filter((path) => !/^incidence\.|^noiseFloor\./.test(path));
        const reasons = Object.keys(absent);
        const covers = (path: string) => reasons.some((reason) => `${path}.`.startsWith(`${reason}.`));
        expect(
          nulls.filter((path) => !covers(path)),
          scores.name,
        ).toEqual([]);
        const isNull = (reason: string) => nulls.some((path) => `${path}.`.startsWith(`${reason}.`));
        expect(
          reasons.filter((reason) => !isNull(reason)),
          scores.name,
        ).toEqual([]);
      }
    expect(table.causes[0].groups.map(({ agreement }) => agreement)).toEqual([
      "tooFewEvents",
      "tooFewEvents",
    ]);
  });

  test("phases are told; rows a model has seen bound nothing; what does not fit is refused", async () => {
    const { curves, outcomes } = simulateCauses(80, 6, 26);
    const phases = new Set<AuditPhase>();
    const table = await auditCauses(
      { curves, outcomes },
      { draws: 5, unbounded: "seen", bins: [2], onProgress: (phase) => phases.add(phase) },
    );
    expect([...phases]).toEqual(["scoring", "drawing the noise floor", "bounding"]);
    expect(table.causes[0].overall).toMatchObject({
      bound: null,
      absent: { bound: "seen" },
      at: [{ bin: 2 }],
    });
    const { cause: _, ...plain } = outcomes;
    await expect(auditCauses({ curves, outcomes: plain })).rejects.toThrow("no causes are given");
    await expect(auditCauses({ curves, outcomes: { ...outcomes, T: 7 } })).rejects.toThrow("different grids");
    await expect(auditCauses({ curves, outcomes }, { bins: [7] })).rejects.toThrow("outside 1…6: 7");
    const third = { ...outcomes, cause: outcomes.cause.map((one) => 3 * Math.min(one, 1)) };
    await expect(auditCauses({ curves, outcomes: third })).rejects.toThrow(
      "a cause beyond the last: 3 (of 2)",
    );
  });
});

/** Paths of what is null, with dots. */
function findNulls(value: unknown, path = ""): readonly string[] {
  if (value === null) return [path.slice(1)];
  if (typeof value !== "object") return [];
  return Object.entries(value as object).flatMap(([key, one]) => findNulls(one, `${path}.${key}`));
}
