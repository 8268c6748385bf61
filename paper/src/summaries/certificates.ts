/**
 * The contents of the certificates page: the cells of the simulation in order, and the smallest shares in which bounds
 * held.
 */
import type { Basis, CertificateLine } from "../studies/certificates.ts";
import { mean } from "./summary.ts";

type Bound = "exact" | "exactPopulation" | "tight";

/** Tight bounds should hold in this share of audits. */
const TIGHT_SHARE = 0.92;

export interface CertificatesSummary {
  readonly audits: number;
  readonly groups: number;
  /** Shares of people, and of audits in which the exact bounds should hold. */
  readonly censored: number;
  readonly level: number;
  /** By size, then by distance. */
  readonly cells: Readonly<Record<Basis, readonly CertificateLine[]>>;
  /** Three binomial standard errors below the required shares. */
  readonly least: { readonly exact: number; readonly tight: number };
  /** The smallest share of audits in which the bounds of all groups held. */
  readonly worst: Readonly<Record<Bound, number>>;
  /** The smallest groups, and the median exact bounds of a perfect model there. */
  readonly smallest: {
    readonly n: number;
    readonly bounds: readonly { readonly bound: number | null; readonly basis: Basis }[];
  };
  /** The first seed. */
  readonly firstSeed: number;
}

export function summariseCertificates(unordered: readonly CertificateLine[]): CertificatesSummary {
  const lines = [...unordered].sort((one, other) => one.n - other.n || one.distance - other.distance);
  const [{ audits, alpha, groups, seed, n }] = lines;
  const least = (share: number) => share - 3 * Math.sqrt((share * (1 - share)) / audits);
  const worst = (key: Bound) => Math.min(...lines.map((line) => line[key].covered / line.audits));
  const cellsOf = (basis: Basis) => lines.filter((line) => line.basis === basis);
  return {
    audits,
    groups,
    censored: mean(lines.map((line) => line.censored)),
    level: 1 - alpha,
    cells: { "training rows": cellsOf("training rows"), "audited rows": cellsOf("audited rows") },
    least: { exact: least(1 - alpha), tight: least(TIGHT_SHARE) },
    worst: {
      exact: worst("exact"),
      exactPopulation: worst("exactPopulation"),
      tight: worst("tight"),
    },
    smallest: {
      n,
      bounds: lines
        .filter((line) => line.n === n && line.distance === 0)
        .map(({ exact, basis }) => ({ bound: exact.bound, basis })),
    },
    firstSeed: Math.floor(seed / 1e6) * 1e6,
  };
}
