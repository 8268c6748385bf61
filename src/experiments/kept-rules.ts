/**
 * Baselines under both rules for keeping weights: the best C-index on the validation rows, and graduate's own, the averaged weights of
 * the least validation loss. How much of graduate's lead in calibration is the rule: the baseline's error by C-index less its
 * error by loss, over its error by C-index less graduate's, on the repeats that have all three.
 */
import type { SystemName } from "./plan.ts";
import { compareRuns, LEVEL, type Read, readGroupEce, readMetric, spreadOf } from "./summary.ts";
import { type CohortRuns, formatMarkdown, formatSigned, runsOf, SYSTEM_LABELS } from "./tables.ts";

interface RulePair {
  readonly name: string;
  readonly byConcordance: SystemName;
  readonly byLoss: SystemName;
}

const PAIRS: readonly RulePair[] = [
  { name: SYSTEM_LABELS.drsa, byConcordance: "drsa", byLoss: "drsa kept by loss" },
  {
    name: SYSTEM_LABELS["drsa without tail"],
    byConcordance: "drsa without tail kept by concordance",
    byLoss: "drsa without tail",
  },
  { name: SYSTEM_LABELS.xcal, byConcordance: "xcal", byLoss: "xcal kept by loss" },
  { name: SYSTEM_LABELS.rps, byConcordance: "rps", byLoss: "rps kept by loss" },
];

/** What the rule explains of a lead in one score. */
export interface RuleShare {
  readonly byConcordance: number;
  readonly byLoss: number;
  readonly own: number;
  readonly repeats: number;
  /** The baseline by C-index less graduate, paired. */
  readonly lead: number;
  readonly leadP: number;
  /** Of the lead; null where that is not above 0 at 5 %. */
  readonly share: number | null;
  /** Graduate less the baseline by loss, paired. */
  readonly left: number;
  readonly p: number;
}

export function shareOfRule({ runs, repeats }: CohortRuns, pair: RulePair, read: Read): RuleShare | null {
  const systems: readonly SystemName[] = [pair.byConcordance, pair.byLoss, "graduate"];
  const all = systems.map((system) => runsOf(runs, system));
  const seeds = all.map((list) => new Set(list.map(({ run }) => run.seed)));
  const [first, second, own] = all.map((list) =>
    list.filter(({ run }) => seeds.every((one) => one.has(run.seed))),
  );
  const [c, loss, ours] = [first, second, own].map((list) => spreadOf(list, read)?.mean ?? null);
  const [led, test] = [compareRuns(first, own, read, repeats), compareRuns(own, second, read, repeats)];
  if (c === null || loss === null || ours === null || led === null || test === null) return null;
  return {
    byConcordance: c,
    byLoss: loss,
    own: ours,
    repeats: own.length,
    lead: led.mean,
    leadP: led.p,
    share: led.mean > 0 && led.p < LEVEL ? (c - loss) / (c - ours) : null,
    left: test.mean,
    p: test.p,
  };
}

/** A table and a sentence a baseline; nothing where no baseline has runs by both rules. */
export function keptRulesSection(cohort: CohortRuns): string[] {
  const scores = [
    { title: "ECE", read: readMetric("ece", 0) },
    { title: "subgroup ECE", read: readGroupEce(cohort.groups) },
  ];
  const found = PAIRS.flatMap((pair) => {
    const shares = scores.map(({ title, read }) => ({ title, share: shareOfRule(cohort, pair, read) }));
    const present = shares.flatMap(({ title, share }) => (share === null ? [] : [{ title, ...share }]));
    return present.length === shares.length ? [{ pair, shares: present }] : [];
  });
  if (found.length === 0) return [];
  const concordance = (system: SystemName) =>
    spreadOf(runsOf(cohort.runs, system), readMetric("concordance", 0))?.mean.toFixed(3) ?? "–";
  const rows = found.map(({ pair, shares }) => [
    pair.name,
    concordance(pair.byConcordance),
    concordance(pair.byLoss),
    ...shares.flatMap(({ byConcordance, byLoss }) => [byConcordance.toFixed(4), byLoss.toFixed(4)]),
  ]);
  const [{ shares: first }] = found;
  return [
    `**How weights are kept.** DRSA, X-Cal and RPS keep the weights of the best C-index on the validation rows, GRADUATE and *DRSA without tail* the averaged weights of the least validation loss. Each under both rules, over the ${first[0].repeats} repeats that have all of them:`,
    formatMarkdown(
      [
        "system",
        "C, by C-index",
        "by loss",
        ...scores.flatMap(({ title }) => [`${title}, by C-index`, "by loss"]),
      ],
      [
        ...rows,
        [
          SYSTEM_LABELS.graduate,
          "–",
          concordance("graduate"),
          ...first.flatMap(({ own }) => ["–", own.toFixed(4)]),
        ],
      ],
    ),
    found.map(({ pair, shares }) => `- ${sayShares(pair, shares)}`).join("\n"),
  ];
}

function sayShares({ name }: RulePair, shares: readonly (RuleShare & { readonly title: string })[]): string {
  const sayP = (p: number) => `p ${p < 0.001 ? "<.001" : p.toFixed(3)}`;
  const said = shares.map(({ title, lead, leadP, share, left, p }) => {
    const led = `${formatSigned(lead, 4)} (${sayP(leadP)})`;
    const explained =
      share === null ? "is not above 0 at 5 %" : `is explained to ${Math.round(100 * share)} % by the rule`;
    return `GRADUATE's lead in ${title}, ${led}, ${explained}; with both kept by loss ${formatSigned(-left, 4)} is left (${sayP(p)})`;
  });
  return `${name}: ${said.join(". ")}.`;
}
