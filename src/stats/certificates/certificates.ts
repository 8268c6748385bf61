/**
 * Certificates: for every group an upper bound on d_g, the r.m.s. distance over t ≤ τ_g between the mean predicted
 * curve and the true survival curve S_g of the people the rows were drawn from. The bounds hold for all groups together
 * with probability 1 − α: `exact` for any sample size (exact.ts, α/G per group), `tight` for large groups (tight.ts).
 * τ_g is the last bin with ten of its rows at risk, as for every other distance of an audit: the exact band holds in
 * all bins, and so for a norm over any of them. λ comes from the follow-up of training rows where it is given,
 * otherwise from the size of the group alone. `boundGroups` gives the tight bounds alone, which every audit has. What
 * the paper's Theorem 1 promises is reported once, beside the certificates.
 */

import { log, log2 } from "../../core/elementary.ts";
import { InputError } from "../../core/errors.ts";
import { absent, isAbsent, type Measured } from "../../core/measured.ts";
import { present } from "../../core/present.ts";
import { countPeopleWithEvents, haveSeveralRows, type People } from "../../data/outcomes/people.ts";
import { type BinnedRightCensoredInput, type CurvesInput, toInt32 } from "../../data/plain-input.ts";
import { matchOutcomes, meanCurve } from "../calibration/calibration.ts";
import { groupSupport, kaplanMeierBinned, MINIMUM_AT_RISK, MINIMUM_EVENTS } from "../kaplan-meier.ts";
import { boundExactly, expectedSupport, type FollowUp } from "./exact.ts";
import { boundByMultipliers, rootGap, type TightGroup } from "./tight.ts";

/** Which rows' follow-up a group's λ or τ_g comes from. */
export type CertificateBasis = "training rows" | "audited rows";

/** The certificate of one group; distances are r.m.s. gaps of survival over 1…bins. */
export interface GroupCertificate {
  readonly name: string;
  readonly n: number;
  readonly events: number;
  /** τ_g. */
  readonly bins: number;
  readonly basis: CertificateBasis;
  /** Distance of the mean curve from Kaplan-Meier, chance included. */
  readonly distance: number | null;
  /** Bound for the mean curve of these very rows. */
  readonly exact: number | null;
  /** Bound for the mean curve of the people they were drawn from. */
  readonly exactPopulation: number | null;
  /** The same for large groups. */
  readonly tight: number | null;
  /** Name of a null field → why it is null. */
  readonly absent: Readonly<Record<string, string>>;
}

/** What the paper's Theorem 1 adds to the slack of a mean squared gap. */
export interface TheoremBound {
  /** Independent copies of the whole data set, the 𝒩 of the theorem. */
  readonly copies: number;
  /** ρ in units of B, the most a squared gap or a row's loss can be; at the smallest VC dimension, so ρ is no less. */
  readonly rhoOverB: number;
  /** Whether it exceeds the bound that holds for any model. */
  readonly vacuous: boolean;
}

/** The certificates of an audit. */
export interface Certificates {
  readonly alpha: number;
  readonly draws: number;
  readonly seed: number;
  /** Everyone first, then the groups in the order of the audit. */
  readonly groups: readonly GroupCertificate[];
  readonly theorem1: TheoremBound;
  /** What must be true for the bounds to hold. */
  readonly assumes: readonly string[];
}

/** The level of the bounds, and what was fixed before the rows were seen. */
export interface CertifyOptions {
  /** The probability with which any of the bounds may fail. */
  readonly alpha: number;
  /** Draws of the multiplier bootstrap: a power of two. */
  readonly draws?: number;
  /** Seed of the draws. */
  readonly seed?: number;
  /** Follow-up of the training rows: everyone, then each group; null for a group that was not known then. */
  readonly followUp?: readonly (FollowUp | null)[];
  /**
   * Whose follow-up sets τ_g: the audited rows', as in the rest of an audit, or that of the training rows given here,
   * so that the bins too are fixed before an audited row is seen.
   */
  readonly support?: CertificateBasis;
  /** The person of each row. Exact bounds need independent rows: there are none where people have several rows. */
  readonly people?: People;
  /** Groups whose draws are done, and all. */
  readonly onProgress?: (done: number, total: number) => void;
}

/** The tight bounds alone of an audit's groups. */
export interface GroupBounds extends Pick<Certificates, "alpha" | "draws" | "seed"> {
  /** Bounds on ‖E[Ŝ|g] − S_g‖ over the group's support, in the order of the groups. */
  readonly groups: readonly Measured[];
}

/** Draws of the multiplier bootstrap unless others are asked for. */
export const DEFAULT_BOUND_DRAWS = 1024;
const DEFAULT_SEED = 1;
/** No learnable class of curves has a smaller one. */
const SMALLEST_VC_DIMENSION = 1;

/** Bounds on every group's distance, at level 1 − α for all of them together. */
export function certify(
  predicted: CurvesInput,
  observed: BinnedRightCensoredInput,
  named: readonly { readonly name: string; readonly rows: ArrayLike<number> }[],
  options: CertifyOptions,
): Certificates {
  const groups = named.map(({ name, rows }) => ({ name, rows: toInt32(rows) }));
  const {
    alpha,
    draws = DEFAULT_BOUND_DRAWS,
    seed = DEFAULT_SEED,
    followUp,
    support = "audited rows",
  } = options;
  checkOptions(alpha, draws, followUp, groups.length);
  const { curves, binned: outcomes } = matchOutcomes(predicted, observed, "a certificate");
  const people = options.people && haveSeveralRows(options.people) ? options.people : undefined;
  const dependent = people && `${people.of.length} rows of ${people.count} people are not independent`;
  const tightGroups: TightGroup[] = [];
  const tightOf: (number | string)[] = [];
  const certified = groups.map(({ name, rows }, g): Omit<GroupCertificate, "tight"> => {
    const n = rows.length;
    const km = kaplanMeierBinned(outcomes, undefined, rows);
    const mean = meanCurve(curves, undefined, rows);
    const events = km.events.reduce((sum, e) => sum + e, 0);
    const trained = followUp?.[g] ?? null;
    const basis = trained === null ? "audited rows" : "training rows";
    const isExpected = trained !== null && support === "training rows";
    const last = isExpected ? expectedSupport(trained, n) : groupSupport(outcomes, { rows });
    const about = { name, n, events, bins: last, basis } as const;
    if (isAbsent(mean) || last === 0) {
      const where = isExpected ? " by the follow-up of the training rows" : "";
      const reason = n === 0 ? "no rows" : `no time bin has ${MINIMUM_AT_RISK} rows at risk${where}`;
      tightOf[g] = reason;
      const none = { distance: null, exact: null, exactPopulation: null };
      return {
        ...about,
        ...none,
        absent: Object.fromEntries(Object.keys(none).map((key) => [key, reason])),
      };
    }
    const { sample, population } = boundExactly(
      mean,
      { n, ...km },
      { alpha: alpha / groups.length, trained, last },
    );
    const whoHadEvents = people === undefined ? events : countPeopleWithEvents(people, outcomes.event, rows);
    tightOf[g] = whyNotTight(whoHadEvents, km.atRisk[last]) ?? tightGroups.push({ rows, mean, km, last }) - 1;
    return {
      ...about,
      distance: rootGap(mean, km.survival, last),
      exact: dependent === undefined ? sample : null,
      exactPopulation: dependent === undefined ? population : null,
      absent: dependent === undefined ? {} : { exact: dependent, exactPopulation: dependent },
    };
  });
  const together = { alpha, draws, seed, ...present({ people, onProgress: options.onProgress }) };
  const tight = boundByMultipliers(curves, outcomes, tightGroups, together);
  return {
    alpha,
    draws,
    seed,
    groups: certified.map((one, g) => {
      const place = tightOf[g];
      if (typeof place === "number") return { ...one, tight: tight.groups[place].upper };
      return { ...one, tight: null, absent: { ...one.absent, tight: place } };
    }),
    theorem1: boundOfTheorem(alpha, groups.length, curves.T),
    assumes: listAssumptions(
      support === "training rows" && certified.every(({ basis }) => basis === "training rows"),
      people !== undefined,
    ),
  };
}

/**
 * Tight bounds for all groups together, each over its own support; absent, with a reason, for a group that is too
 * small.
 */
export function boundGroups(
  predicted: CurvesInput,
  observed: BinnedRightCensoredInput,
  groups: readonly { readonly rows: Int32Array }[],
  options: Omit<CertifyOptions, "followUp" | "support">,
): GroupBounds {
  const { alpha, draws = DEFAULT_BOUND_DRAWS, seed = DEFAULT_SEED } = options;
  checkOptions(alpha, draws, undefined, groups.length);
  const { curves, binned: outcomes } = matchOutcomes(predicted, observed, "a bound");
  const people = options.people && haveSeveralRows(options.people) ? options.people : undefined;
  const bounded: TightGroup[] = [];
  const places = groups.map(({ rows }): number | string => {
    const km = kaplanMeierBinned(outcomes, undefined, rows);
    const mean = meanCurve(curves, undefined, rows);
    const last = groupSupport(outcomes, { rows });
    if (isAbsent(mean)) return "no rows";
    if (last === 0) return `no time bin has ${MINIMUM_AT_RISK} rows at risk`;
    const events =
      people === undefined
        ? km.events.reduce((sum, e) => sum + e, 0)
        : countPeopleWithEvents(people, outcomes.event, rows);
    return whyNotTight(events, km.atRisk[last]) ?? bounded.push({ rows, mean, km, last }) - 1;
  });
  const together = { alpha, draws, seed, ...present({ people, onProgress: options.onProgress }) };
  const tight = boundByMultipliers(curves, outcomes, bounded, together);
  return {
    alpha,
    draws,
    seed,
    groups: places.map((place) => (typeof place === "number" ? tight.groups[place].upper : absent(place))),
  };
}

/** Refuses a level that is none, and draws that are not a power of two. */
export function checkBoundOptions(alpha: number, draws: number): void {
  if (!(alpha > 0 && alpha < 1)) {
    throw new InputError(`the share of certificates that may fail is outside (0, 1): ${alpha}`, {
      code: "option.invalid",
      hint: "0.05 gives bounds that hold for all groups together in 95 of 100 audits",
    });
  }
  if (!(draws >= 2 && Number.isInteger(log2(draws)))) {
    throw new InputError(`draws of the certificates are not a power of two: ${draws}`, {
      code: "option.invalid",
    });
  }
}

function checkOptions(alpha: number, draws: number, followUp: CertifyOptions["followUp"], G: number): void {
  checkBoundOptions(alpha, draws);
  if (followUp !== undefined && followUp.length !== G) {
    throw new InputError(`training follow-up is given for ${followUp.length} groups, and ${G} were audited`, {
      code: "groups.mismatch",
      hint: "give one for everyone and one for each group in the order of the audit, null where there is none",
    });
  }
}

/** Why a group has no tight bound; null where it has one. */
export function whyNotTight(events: number, atRisk: number): string | null {
  if (events < MINIMUM_EVENTS) return `fewer than ${MINIMUM_EVENTS} events: ${events}`;
  return atRisk > 0 ? null : "nobody is at risk in the last bin";
}

/**
 * ρ = B √((1 + log(4 (2𝒩)^d / (δ/τ))) / 𝒩), with probability 1 − (3m+2)δ for m groups (Proposition 3): a constraint is
 * a mean over τ times, each of which holds with probability 1 − δ/τ. 𝒩 counts independent copies of the whole data set,
 * and there is only one: ρ exceeds B whatever d, δ and τ are, and B bounds the squared gap without any theorem.
 */
export function boundOfTheorem(alpha: number, groups: number, bins: number): TheoremBound {
  const copies = 1;
  const delta = alpha / (3 * groups + 2) / bins;
  const shatter = SMALLEST_VC_DIMENSION * log(2 * copies);
  const rhoOverB = Math.sqrt((1 + log(4 / delta) + shatter) / copies);
  return { copies, rhoOverB, vacuous: rhoOverB >= 1 };
}

function listAssumptions(binsWereFixed: boolean, byPerson: boolean): readonly string[] {
  return [
    "model and groups were fixed before these rows were seen: rows that chose the model do not count",
    byPerson
      ? "the people are independent draws from those the bounds are about; rows of one person may hang together"
      : "the rows are independent draws from the people the bounds are about",
    "within each group censoring is independent of when the event comes, " +
      "and inside a time bin it comes after the events",
    binsWereFixed
      ? "the bins were fixed by the training rows"
      : "the bins were read off these rows: exact bounds hold for any choice of bins, tight ones then for large groups",
    `tight bounds are for large groups: they rest on the normal limit, and are left out below ${MINIMUM_EVENTS} events`,
  ];
}
