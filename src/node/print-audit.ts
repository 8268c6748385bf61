/** The audit in a terminal: the table of scores, the verdict on each group, intervals, and what could not be computed. */
import type { AuditTable } from "../audit.ts";
import { countOf } from "../data/findings.ts";
import { formatNumber, formatP, formatRange, formatTable, wrapText } from "../report/text-table.ts";
import { judgeGroups, type VerdictKind } from "../report/verdict.ts";
import type { Certificates } from "../stats/certificates.ts";
import type { Scores } from "../stats/scores.ts";
import { print, terminalWidth } from "./output.ts";

export function printAudit({ overall, groups, certificates }: AuditTable, T: number): void {
  const width = terminalWidth();
  const all = [overall, ...groups];
  print(
    formatTable(
      [
        { title: "group", flexible: true },
        { title: "n", align: "right" },
        { title: "events", align: "right" },
        { title: "C", align: "right" },
        { title: "ECE", align: "right" },
        { title: "floor", align: "right" },
        { title: "p", align: "right" },
        { title: "L2", align: "right" },
        { title: "max z", align: "right" },
        { title: "IBS", align: "right" },
        { title: "indiv. p", align: "right" },
        { title: "bins", align: "right" },
      ],
      all.map((scores) => [
        scores.name,
        String(scores.n),
        String(scores.events),
        formatNumber(scores.concordance, 3),
        formatNumber(scores.ece),
        formatNumber(scores.noiseFloor?.ece),
        formatP(scores.noiseFloor?.p),
        scores.distanceL2 === null ? "–" : scores.distanceL2.toExponential(1),
        formatNumber(scores.distanceVariance, 2),
        formatNumber(scores.ibs),
        formatP(scores.logrankIndividual.p),
        `${scores.supported.bins}/${T}`,
      ]),
      width,
    ),
  );
  const note =
    "C: the paper's concordance, ties scoring 0. ECE, L2, max z: distance of the mean curve to Kaplan-Meier over all bins; " +
    "floor and p: what a perfect model shows on these rows, and how often it shows this much. indiv. p: logrank of the events " +
    "against the sum of everyone's own hazards (logrankIndividual). bins: those with at least ten people at risk.";
  print(`\n${wrapText(note, width)}`);
  print("");
  for (const line of sayVerdicts(all, T)) print(wrapText(line, width, "  "));
  if (overall.intervals !== undefined) printIntervals(all, width);
  if (certificates !== undefined) printCertificates(certificates, width);
  const missing = all.flatMap(sayAbsent);
  if (missing.length > 0) print(`\n${missing.map((line) => wrapText(line, width, "  ")).join("\n")}`);
}

const VERDICTS: readonly { readonly kind: VerdictKind; readonly says: string }[] = [
  { kind: "off", says: "further from the observed than chance explains" },
  { kind: "uncertain", says: "doubtful by itself, but among so many groups chance may explain it" },
  { kind: "few", says: "too few events or too little follow-up to say" },
  { kind: "untested", says: "not tested" },
];

/** "12 of 12 agree with the observed", then who does not, as the report's verdicts have it. */
function sayVerdicts(all: readonly Scores[], T: number): string[] {
  const verdicts = judgeGroups(
    all.map((scores) => ({ scores, gap: null })),
    T,
  );
  const agreeing = verdicts.filter(({ kind }) => kind === "agrees").length;
  const counted =
    all.length === 1
      ? `everyone together: ${agreeing === 1 ? "no departure from the observed beyond chance" : verdicts[0].reason}`
      : `${agreeing} of ${countOf(all.length, "group")}, everyone included: no departure from the observed beyond chance`;
  if (all.length === 1) return [counted];
  return [
    counted,
    ...VERDICTS.flatMap(({ kind, says }) => {
      const names = all.filter((_, g) => verdicts[g].kind === kind).map(({ name }) => name);
      return names.length === 0 ? [] : [`${says}: ${names.join("; ")}`];
    }),
  ];
}

/** One line a reason: the fields of the JSON document that are null for it. */
function sayAbsent({ name, absent }: Scores): string[] {
  const fields = new Map<string, string[]>();
  for (const [field, reason] of Object.entries(absent)) {
    fields.set(reason, [...(fields.get(reason) ?? []), field]);
  }
  return Array.from(fields, ([reason, list]) => `${name}: no ${list.join(", ")} (${reason})`);
}

function printIntervals(all: readonly Scores[], width: number): void {
  const between = (interval: { lower: number | null; upper: number | null } | undefined) =>
    formatRange(interval?.lower, interval?.upper, 3);
  const level = Math.round(100 * (all[0].intervals?.level ?? 0));
  const title = `${level} % bootstrap intervals, ${all[0].intervals?.replicates} replicates; for distances the upper bound alone`;
  print(`\n${wrapText(title, width)}\n`);
  print(
    formatTable(
      [
        { title: "group", flexible: true },
        { title: "C", align: "right" },
        { title: "IBS", align: "right" },
        { title: "ECE below", align: "right" },
        { title: "r.m.s. gap", align: "right" },
        { title: "below", align: "right" },
      ],
      all.map(({ name, intervals }) => [
        name,
        between(intervals?.concordance),
        between(intervals?.ibs),
        formatNumber(intervals?.ece.upper),
        formatNumber(intervals?.distanceL2Root.estimate),
        formatNumber(intervals?.distanceL2Root.upper),
      ]),
      width,
    ),
  );
}

function printCertificates({ alpha, groups, theorem1, assumes }: Certificates, width: number): void {
  const level = Number((100 * (1 - alpha)).toPrecision(4));
  const title = `certificates: r.m.s. distance of mean curve and true survival, below these for all groups together with ${level} % confidence`;
  print(`\n${wrapText(title, width)}\n`);
  print(
    formatTable(
      [
        { title: "group", flexible: true },
        { title: "n", align: "right" },
        { title: "bins", align: "right" },
        { title: "observed gap", align: "right" },
        { title: "exact", align: "right" },
        { title: "population", align: "right" },
        { title: "tight", align: "right" },
      ],
      groups.map(({ name, n, bins, distance, exact, exactPopulation, tight }) => [
        name,
        String(n),
        String(bins),
        formatNumber(distance),
        formatNumber(exact),
        formatNumber(exactPopulation),
        formatNumber(tight),
      ]),
      width,
    ),
  );
  const { rhoOverB, copies, vacuous } = theorem1;
  const lines = [
    "exact: for the mean curve of these people, at any sample size; population: for that of all people like them; tight: the same, for large groups.",
    ...assumes.map((one) => `assumes: ${one}.`),
    `Theorem 1 of the paper, with ${countOf(copies, "copy")} of the data: squared gap at most slack + ρ, ρ at least ${rhoOverB.toFixed(1)} B, where B is the most it can be${vacuous ? ": vacuous, it says nothing" : ""}.`,
  ];
  print(`\n${lines.map((line) => wrapText(line, width, "  ")).join("\n")}`);
  const missing = groups.flatMap(({ name, absent }) => {
    const reasons = [...new Set(Object.values(absent))];
    return reasons.map((reason) => `${name}: no ${listOf(absent, reason)} (${reason})`);
  });
  if (missing.length > 0) print(`\n${missing.map((line) => wrapText(line, width, "  ")).join("\n")}`);
}

/** The fields that one reason is given for. */
function listOf(absent: Readonly<Record<string, string>>, reason: string): string {
  return Object.keys(absent)
    .filter((key) => absent[key] === reason)
    .join(", ");
}
