// The tables and numbers that statistics beyond right censoring are held against (test/oracles/history).
import { readFileSync } from "node:fs";

const rootFile = (path: string) => readFileSync(new URL(`../${path}`, import.meta.url), "utf8");

/** A table of the test folder by column. */
export function readTestTable(name: string) {
  const [header, ...lines] = rootFile(`tables/${name}.csv`).trim().split("\n");
  const clean = (cell: string) => cell.trim().replace(/^"|"$/g, "");
  const names = header.split(",").map(clean);
  const rows = lines.map((line) => line.split(",").map(clean));
  const text = (column: string) => {
    const at = names.indexOf(column);
    if (at < 0) throw new Error(`${name} has no column ${column}`);
    return rows.map((cells) => cells[at]);
  };
  return {
    text,
    number: (column: string) =>
      text(column).map((cell) => (cell === "NA" || cell === "" ? Number.NaN : Number(cell))),
  };
}

export const historyTables = {
  mgus2: readTestTable("mgus2"),
  lung: readTestTable("lung"),
  retinopathy: readTestTable("retinopathy"),
  heart: readTestTable("heart"),
  cgd: readTestTable("cgd"),
  transplant: readTestTable("transplant"),
};

type Numbers = readonly number[];

interface Curve extends Readonly<Record<"time" | "atRisk" | "events" | "survival" | "hazard", Numbers>> {
  readonly error: readonly (number | null)[];
  readonly lower: readonly (number | null)[];
  readonly upper: readonly (number | null)[];
}

interface Tested {
  readonly observed?: Numbers;
  readonly expected?: Numbers;
  readonly chi2: number | readonly Numbers[];
}

export interface CoxOracle
  extends Readonly<
    Record<"coef" | "se" | "robust" | "loglik" | "hazard_time" | "hazard" | "concordance", Numbers>
  > {
  readonly score: number;
  readonly wald: number;
  readonly rscore: number | readonly Numbers[] | null;
  readonly km: Readonly<Record<"chi2" | "df", Numbers>>;
  readonly identity: Readonly<Record<"chi2" | "df", Numbers>>;
  readonly n: number;
  readonly events: number;
}

type Named<Value, Names extends string> = Readonly<Record<Names, Value>>;

export const intervalOracle = JSON.parse(rootFile("oracles/history/intervals.json")) as {
  readonly km: Named<
    Curve,
    "entry" | "entry_loglog" | "weights" | "cluster" | "entry_weights" | "start_stop" | "start_stop_greenwood"
  >;
  readonly means: Named<{ until: number; error: number }, "cluster" | "entry_weights">;
  readonly logrank: Named<Tested, "entry" | "weights" | "cluster" | "entry_weights">;
  readonly cox: Named<
    Named<CoxOracle, "efron" | "breslow">,
    | "entry"
    | "entry_weights"
    | "entry_strata"
    | "start_stop"
    | "recurrent"
    | "recurrent_weights"
    | "weights_tied"
  >;
  readonly pairs: Named<{ count: Numbers; c: number }, "entry" | "entry_weights" | "weights" | "start_stop">;
};

type Matrix = readonly Numbers[];

interface FineOracle
  extends Readonly<Record<"coef" | "se" | "robust" | "loglik" | "hazard_time" | "hazard", Numbers>> {}

/** Scores of one cause at the times of `score_times`. */
interface ScoreOracle extends Readonly<Record<"brier" | "ibs" | "auc" | "wolbers", Numbers>> {
  readonly risk: Matrix;
}

export const causeOracle = JSON.parse(rootFile("oracles/history/causes.json")) as {
  readonly aj: Named<
    Readonly<Record<"time" | "atRisk", Numbers>> & {
      readonly pstate: Matrix;
      readonly error: Matrix;
      readonly lower: readonly (readonly (number | null)[])[];
      readonly upper: readonly (readonly (number | null)[])[];
    },
    "plain" | "loglog" | "weights" | "entry" | "transplant"
  >;
  readonly gray: Named<Matrix, "sex" | "band" | "tied" | "abo">;
  readonly fine: Named<Named<FineOracle, "efron" | "breslow">, "pcm" | "death"> & {
    readonly crr: Readonly<Record<"time" | "coef" | "predicted_time" | "predicted", Numbers>>;
  };
  readonly specific: {
    readonly times: Numbers;
    readonly pcm: Matrix;
    readonly death: Matrix;
    readonly coef: Readonly<Record<string, Numbers>>;
  };
  readonly score_times: Numbers;
  readonly scores: Named<ScoreOracle, "pcm" | "death">;
};

/** A number that R gave as a 1 × 1 matrix. */
export function plainNumber(value: number | readonly Numbers[]): number {
  return typeof value === "number" ? value : value[0][0];
}
