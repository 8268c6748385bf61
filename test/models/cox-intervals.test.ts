// Cox's model with late entry, start–stop rows, weights and clusters against R's coxph and cox.zph.
import { describe, expect, test } from "vitest";
import { isAbsent, type Measured } from "../../src/core/measured.ts";
import { robustCox } from "../../src/models/cox/coefficients.ts";
import {
  type ChiSquareTest,
  type CoxInput,
  type CoxTies,
  cumulativeHazardAtZero,
  fitCox,
} from "../../src/models/cox/cox.ts";
import { testProportionalHazards } from "../../src/models/cox/proportional.ts";
import { type CoxOracle, historyTables, intervalOracle, plainNumber } from "../stats/history-oracles.ts";

const { mgus2, lung, heart, cgd } = historyTables;

function design(columns: readonly (readonly number[])[]): Pick<CoxInput, "x" | "D"> {
  const D = columns.length;
  return { D, x: columns[0].flatMap((_, row) => columns.map((column) => column[row])) };
}

const is = (values: readonly string[], wanted: string) => values.map((value) => (value === wanted ? 1 : 0));
const late = {
  time: mgus2.number("exitMonths"),
  event: is(mgus2.text("event"), "death"),
  entry: mgus2.number("ageMonths"),
};
const male = is(mgus2.text("sex"), "M");
const [hgb, creat, mspike] = ["hgb", "creat", "mspike"].map((name) => mgus2.number(name));
const rows = { time: cgd.number("tstop"), event: cgd.number("status"), entry: cgd.number("tstart") };
const treated = is(cgd.text("treat"), "rIFN-g");
const cgdId = cgd.number("id");
const [heartAge, year, surgery, transplant] = ["age", "year", "surgery", "transplant"].map((name) =>
  heart.number(name),
);
const stay = { time: heart.number("stop"), event: heart.number("event"), entry: heart.number("start") };
const lungWeight = lung.number("time").map((_, row) => 0.5 + (((row + 1) * 7) % 5));
const lungTied = {
  time: lung.number("time").map((time) => Math.ceil(time / 91)),
  event: lung.number("status").map((status) => (status === 2 ? 1 : 0)),
  weight: lungWeight,
};

interface Case {
  readonly input: CoxInput & { readonly strata?: undefined };
  readonly strata?: readonly number[];
  readonly cluster?: readonly number[];
}

const CASES: Readonly<Record<keyof typeof intervalOracle.cox, Case>> = {
  entry: { input: { ...late, ...design([male, hgb, creat, mspike]) } },
  entry_weights: {
    input: { ...late, weight: mgus2.number("weight"), ...design([male, hgb, creat]) },
    cluster: mgus2.number("id"),
  },
  entry_strata: { input: { ...late, ...design([hgb, creat]) }, strata: male },
  start_stop: {
    input: { ...stay, ...design([heartAge, year, surgery, transplant]) },
    cluster: heart.number("id"),
  },
  recurrent: {
    input: { ...rows, ...design([treated, cgd.number("age"), cgd.number("steroids")]) },
    cluster: cgdId,
  },
  recurrent_weights: {
    input: { ...rows, weight: cgdId.map((id) => 1 + (id % 3) / 2), ...design([treated, cgd.number("age")]) },
    cluster: cgdId,
  },
  weights_tied: {
    input: { ...lungTied, ...design([lung.number("age"), lung.number("sex")]) },
    cluster: lungTied.time.map((_, row) => row),
  },
};

const chi2 = (test: Measured<ChiSquareTest>) => (isAbsent(test) ? Number.NaN : test.chiSquare);
const near = (actual: ArrayLike<number>, expected: readonly number[], digits = 10) =>
  expected.forEach((one, k) => {
    expect(actual[k] / one, String(k)).toBeCloseTo(1, digits);
  });

const names = Object.keys(CASES) as (keyof typeof CASES)[];
describe.each(names)("%s", (name) => {
  const { input, strata, cluster } = CASES[name];
  test.each(["efron", "breslow"] as const)("%s", (ties: CoxTies) => {
    const expected: CoxOracle = intervalOracle.cox[name][ties];
    const whole = strata === undefined ? input : { ...input, strata };
    const fit = strata === undefined ? fitCox(input, { ties }) : fitCox({ ...input, strata }, { ties });
    near(fit.coefficients, expected.coef);
    near(fit.standardErrors, expected.se);
    near([fit.logLikelihoodNull, fit.logLikelihood], expected.loglik, 11);
    near([chi2(fit.tests.score)], [expected.score]);
    if (strata === undefined) {
      const model = fitCox(input, { ties });
      const at = expected.hazard_time.flatMap((time, k) => (model.baseline.time.includes(time) ? [k] : []));
      near(
        cumulativeHazardAtZero(model),
        at.map((k) => expected.hazard[k]),
      );
    }
    if (cluster !== undefined) {
      const robust = robustCox(whole, fit, cluster, input.weight);
      near(robust.standardErrors, expected.robust);
      near(
        [chi2(robust.wald), chi2(robust.score)],
        [expected.wald, plainNumber(expected.rscore ?? Number.NaN)],
      );
    }
    const terms = Array.from(fit.coefficients, (_, j) => ({ name: String(j), columns: [j] }));
    for (const transform of ["km", "identity"] as const) {
      const tested = testProportionalHazards(whole, fit, terms, transform, input.weight);
      near(
        [...tested.terms.map(({ test }) => chi2(test)), chi2(tested.global)],
        expected[transform].chi2,
        10,
      );
    }
  });
});

describe("rows at risk over intervals", () => {
  test("are the plain rows where everyone enters at 0", () => {
    const { entry: _, ...plain } = CASES.entry.input;
    const time = late.time.map((end, row) => end - late.entry[row]);
    const expected = fitCox({ ...plain, time } as CoxInput);
    const fit = fitCox({ ...plain, time, entry: time.map(() => 0) } as CoxInput);
    near(fit.coefficients, [...expected.coefficients], 10);
    near(fit.covariance, [...expected.covariance], 10);
  });

  test("a row that enters after it leaves is refused by name", () => {
    const input = { ...CASES.entry.input, entry: late.time };
    expect(() => fitCox(input)).toThrow("entry is not before time");
  });
});
