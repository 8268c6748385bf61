/** What `graduate cox --json` prints (schemas/cox.schema.json) and its text is made from. */

import type { PlainFinding } from "../../data/checks/findings.ts";

/** A chi-square test; where it is impossible, everything but the reason is null. */
export interface CoxTestEntry {
  readonly chi2: number | null;
  readonly df: number | null;
  readonly p: number | null;
  readonly absent: string | null;
}

/** The test of proportional hazards, for each term and for all together. */
export interface CoxHazardsEntry {
  readonly terms: readonly (CoxTestEntry & { readonly term: string })[];
  readonly global: CoxTestEntry;
}

/** A Cox fit as `graduate cox --json` prints it. */
export interface CoxDocument {
  readonly coefficients: readonly {
    readonly name: string;
    readonly estimate: number | null;
    readonly standardError: number | null;
    readonly robustStandardError: number | null;
    readonly hazardRatio: number | null;
    readonly lower: number | null;
    readonly upper: number | null;
    readonly z: number | null;
    readonly p: number | null;
    /** Field that is null → why. */
    readonly absent: Readonly<Record<string, string>>;
  }[];
  readonly loglik: number;
  readonly loglikNull: number;
  readonly tests: {
    readonly likelihoodRatio: CoxTestEntry;
    readonly wald: CoxTestEntry;
    readonly score: CoxTestEntry;
    /** Only with an id. */
    readonly robustScore: CoxTestEntry | null;
  };
  readonly proportionalHazards: { readonly km: CoxHazardsEntry; readonly identity: CoxHazardsEntry };
  readonly n: number;
  readonly events: number;
  readonly omitted: number;
  readonly ties: "efron" | "breslow";
  readonly timefix: boolean;
  readonly iterations: number;
  /** Coefficients that diverge to infinity. */
  readonly infinite: readonly string[];
  readonly references: readonly { readonly column: string; readonly level: string }[];
  readonly strata: { readonly columns: readonly string[]; readonly count: number } | null;
  readonly id: { readonly column: string; readonly people: number } | null;
  /** The columns of entries (or starts) and of weights; absent where neither is named. */
  readonly observed?: { readonly entry: string | null; readonly weights: string | null };
  /** The cause that was modelled, where one is named. */
  readonly cause?: {
    readonly value: string;
    readonly model: "cause-specific" | "subdistribution";
    /** Of a subdistribution, the values that compete with it; every other value is censored. */
    readonly competing: readonly string[] | null;
  };
  readonly concordance: {
    readonly c: number | null;
    readonly concordant: number;
    readonly discordant: number;
    readonly tiedRisk: number;
    readonly tiedTime: number;
    readonly tiedBoth: number;
  };
  /** What should be said of the outcome; the warnings have the same as sentences. */
  readonly findings: readonly PlainFinding[];
  readonly warnings: readonly string[];
}
