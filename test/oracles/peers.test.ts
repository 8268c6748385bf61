// Concordance and Kaplan-Meier against scikit-survival, lifelines and pycox (test/oracles/peers/peers.py) on the
// bundled tables.
import { describe, expect, test } from "vitest";
import { isAbsent, type Measured } from "../../src/core/measured.ts";
import type { RightCensored } from "../../src/data/outcomes/outcomes.ts";
import { stepValue } from "../../src/stats/censoring.ts";
import { concordanceHarrell, concordanceUno } from "../../src/stats/concordance/concordance.ts";
import { concordanceAntolini, timeDependentPairs } from "../../src/stats/concordance/time-dependent.ts";
import { kaplanMeier } from "../../src/stats/kaplan-meier.ts";
import { loadDataset, numbers, readOracle } from "../stats/oracle-tables.ts";

interface PeerScores {
  readonly rows: number;
  readonly sksurvHarrell: {
    readonly c: number;
    readonly concordant: number;
    readonly discordant: number;
    readonly tiedRisk: number;
  };
  readonly lifelinesHarrell: number;
  readonly sksurvUno: readonly { readonly tau: number | null; readonly c: number }[];
  readonly lifelinesKaplanMeier: readonly { readonly time: number; readonly survival: number }[];
}

interface TiedTable extends PeerScores {
  readonly time: readonly number[];
  readonly event: readonly number[];
  readonly risk: readonly number[];
  readonly T: number;
  readonly survival: readonly number[];
  readonly antolini: number;
  readonly adj_antolini: number;
}

interface Peers {
  readonly nwtco: PeerScores & { readonly stride: number };
  readonly flchain: PeerScores & { readonly stride: number };
  readonly tied: TiedTable;
}

const peers = readOracle<Peers>("peers/peers.json");
const TOLERANCE = 1e-12;

function near(actual: Measured, expected: number, what: string): void {
  if (isAbsent(actual)) throw new Error(`${what}: ${actual.absent}`);
  expect(Math.abs(actual - expected), `${what}: ${actual} against ${expected}`).toBeLessThan(TOLERANCE);
}

function expectPeers(
  outcomes: RightCensored,
  risk: Float64Array,
  censoring: RightCensored,
  expected: PeerScores,
): void {
  expect(risk.length).toBe(expected.rows);
  const harrell = concordanceHarrell(outcomes, risk);
  expect(harrell).toMatchObject({
    concordant: expected.sksurvHarrell.concordant,
    discordant: expected.sksurvHarrell.discordant,
    tiedRisk: expected.sksurvHarrell.tiedRisk,
  });
  near(harrell.c, expected.sksurvHarrell.c, "Harrell, scikit-survival");
  near(harrell.c, expected.lifelinesHarrell, "Harrell, lifelines");
  for (const { tau, c } of expected.sksurvUno) {
    const limit = tau === null ? {} : { tau };
    const uno = concordanceUno(outcomes, risk, { convention: "scikit-survival", censoring, ...limit });
    near(uno.c, c, `Uno up to ${tau}`);
  }
  const curve = kaplanMeier(outcomes);
  for (const { time, survival } of expected.lifelinesKaplanMeier)
    near(stepValue(curve.time, curve.survival, time), survival, `Kaplan-Meier at ${time}`);
}

/** The whole-number scores of peers.py. */
const SCORES = {
  nwtco: (of: (column: string) => Float64Array) => {
    const [histol, stage, age] = ["histol", "stage", "age"].map(of);
    return age.map((months, row) => 100 * histol[row] + 20 * stage[row] + Math.floor(months / 12));
  },
  flchain: (of: (column: string) => Float64Array) => {
    const [age, group] = ["age", "flc.grp"].map(of);
    return age.map((years, row) => 10 * years + 3 * group[row]);
  },
};

describe.each(["nwtco", "flchain"] as const)("%s", (name) => {
  test("Harrell, Uno and Kaplan-Meier of every few rows", async () => {
    const { outcomes: all, table } = await loadDataset(name);
    const risk = SCORES[name]((column) => numbers(table, column));
    const keep = (_: number, row: number) => row % peers[name].stride === 0;
    const outcomes = { time: all.time.filter(keep), event: all.event.filter(keep) };
    expectPeers(outcomes, risk.filter(keep), all, peers[name]);
  });
});

describe("80 rows at 6 distinct times", () => {
  const { tied } = peers;
  const outcomes = { time: Float64Array.from(tied.time), event: Uint8Array.from(tied.event) };

  test("Harrell, Uno and Kaplan-Meier", () => {
    expectPeers(outcomes, Float64Array.from(tied.risk), outcomes, tied);
  });

  test.each(["antolini", "adj_antolini"] as const)("pycox's %s", (variant) => {
    const { T } = tied;
    const curves = { N: tied.time.length, T, survival: Float64Array.from(tied.survival) };
    const counts = timeDependentPairs(curves, { T, bin: Int32Array.from(tied.time), event: outcomes.event });
    near(concordanceAntolini(counts, variant), tied[variant], variant);
  });
});
