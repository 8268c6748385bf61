/**
 * The page docs/results/tables.md: tables on which nothing was tuned, with means, differences and the outcome of every
 * command (summaries/unseen-tables.ts has the numbers).
 */
import { DEFAULT_BINS } from "graduate-survival/data";
import { UNSEEN_COMMANDS } from "../studies/unseen-commands.ts";
import {
  compareWorstOfCox,
  countHeld,
  differencesOf,
  findUnheld,
  LEVEL,
  listStandings,
  PAIRS,
  rangeOverFloor,
  SCORE_DIGITS,
  SCORES,
  type ScoreDifference,
  type SeparatedTable,
  type Separation,
  separatePairs,
  type TableSummary,
  type UnseenSummary,
} from "../summaries/unseen-tables.ts";
import { formatMarkdown, listOf } from "./markdown.ts";

const fixed = (value: number | null, digits = SCORE_DIGITS) => (value === null ? "–" : value.toFixed(digits));
const signed = (value: number) => `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(SCORE_DIGITS)}`;
const percent = (part: number, whole: number) => Math.round((100 * part) / whole);

export function tablesPage(summary: UnseenSummary): string {
  const { splits, tables } = summary;
  return `# Seven other tables

Made by \`graduate reproduce tables --data DIR\` and \`graduate reproduce tables --page\`; \
every run is a line of \`paper/tables.jsonl\`. ${tables.length} tables, taken as a new user would:
\`describe\`, then \`train\` with groups by sex, age, stage and treatment. \
They are in \`paper/tables.json\`, chosen by what the
columns mean and written down before results were compared. \
${splits} random splits (60 % training, 20 % validation, 20 % test), all scores on the test rows. The
tables are not in the repository: pbc, lung, gbsg, veteran and retinopathy are those of R's survival package, \
METABRIC and SUPPORT those that
DeepSurv published.

*graduate* is the default: the mean of five runs, held to the groups; *one run* is \`--fast\`; *start* is the additive model \
that a run starts from, neither trained nor held; *graduate 0.1.0* is the default of that version, without the solve. \
No option of 0.1.0 was tuned on these tables (veteran alone had been run once, with eight of its ten groups). \
Of this version the rules for splines, codes and logarithms were chosen on other splits of these tables, among others
([decision 15](../decisions/015-a-default-that-decides.md)); on these splits it was run once.

C is the paper's C-index, ECE the paper's over all time bins; \
mean and worst group ECE are over the groups with ten events or more among
the test rows. *Floors*: the ECE of everyone and the mean group ECE that a model of the same curves shows \
when it is perfect, by chance alone. *Rejected*: groups
judged whose individual logrank p is below 0.05, of which a perfect model has one in twenty. \
*Met*: constraints met on the training rows, of those held
(and of the groups asked for, everyone included: groups with little data are reported, not held). \
Seconds of training on one thread of a busy machine.
Cox is fitted on the training rows and makes no use of the validation rows, \
on which \`graduate\` chooses when to stop; *cox with group terms* has each group
as one more column. Differences: mean over the splits, 95 % interval and p by the corrected resampled t, \
not adjusted; ${splits} splits show large
differences only.

## In short

Better and worse on average; in italics where p < ${LEVEL}, \
in bold where Holm's p over the ${PAIRS.length * SCORES.length} differences of the table is.

${standingTable(summary)}

Where \`graduate\` is worse than the better of the two Cox models, on average:

${tables.map(sayShortfalls).join("\n")}

What can be said:

${conclusions(summary)}

## Does the network earn its place?

C and IBS of what a run starts from, of the run, and of the mean of five; the differences are paired by split, with p.

${earnTable(summary)}

## The simplest rival: Cox with splines, stratified by all groups

Cox's model with natural splines of every number (4 df) and a baseline hazard for every combination of all groups of the \
table, as R's \`coxph\` with \`ns(x, 4)\` and \`strata\`. It learns from training and validation rows, as \`graduate\` \
does. *Lost* are the test rows in a combination without an event, where its curve stays at 1. \
A table has scores where at most \
1 % of the test rows, over the splits, are lost. Differences are \`graduate\` less it, with p.

${strataTable(tables)}

${sayStrata(tables)}

## Every command

On the first split, seconds of the whole program on a busy machine; \
a command that ends otherwise than with exit code 0 is shown with what it said. *Confirmed*: groups
that \`discover\` finds and confirms on the test rows of the model.

${commandTable(tables)}

${tables.map((table) => tableSection(table, splits)).join("\n\n")}

`;
}

function tableSection(table: TableSummary, splits: number): string {
  const { entry, found, rows, testEvents, supportedBins, missed } = table;
  const findings = found.findings.map(({ level, message }) => `${level}: ${message}`);
  const together =
    entry.patient === undefined ? "" : ` Rows of one ${entry.patient} stay together in a split.`;
  const unmet = missed.map(({ group, times }) => `${group}${times > 1 ? ` (${times} ×)` : ""}`);
  return `## ${entry.name}

${found.rows} rows, ${found.events} events (${percent(found.events, found.rows)} %); \
${rows.train} training rows and ${rows.test} test rows a split, \
on average ${fixed(testEvents, 0)} test events. Ten people at risk
in ${fixed(supportedBins, 0)} of ${DEFAULT_BINS} time bins of the test rows.${together}
Groups: ${entry.groups.map((group) => `\`${group}\``).join(", ")}. \
Left out: ${found.drop.length === 0 ? "nothing" : found.drop.join(", ")}.
\`describe\` found: ${findings.length === 0 ? "nothing" : findings.join("; ")}.

${scoreTable(table)}

${differenceTable(table)}

Constraints missed on the training rows, over the ${splits} splits: \
${unmet.length === 0 ? "none" : unmet.join(", ")}.`;
}

function scoreTable({ means }: TableSummary): string {
  return formatMarkdown(
    ["system", ...SCORES.map(({ title }) => title), "floors", "rejected", "met", "seconds"],
    means.map(({ system, scores, eceFloor, groupEceFloor, rejected, judged, met, held, asked, seconds }) => [
      system,
      ...scores.map((score) => fixed(score)),
      `${fixed(eceFloor)} / ${fixed(groupEceFloor)}`,
      `${fixed(rejected, 1)} of ${fixed(judged, 1)}`,
      held === 0 ? "–" : `${fixed(met, 1)} of ${fixed(held, 1)} (of ${asked})`,
      fixed(seconds, 1),
    ]),
  );
}

function differenceTable(table: TableSummary): string {
  const cell = ({ estimate, lower, upper, p, absent }: ScoreDifference) => {
    if (estimate === null || lower === null || upper === null || p === null) return `none (${absent})`;
    const chance = p < 0.001 ? "< 0.001" : p.toFixed(3);
    return `${signed(estimate)} (${signed(lower)} to ${signed(upper)}), p ${chance}`;
  };
  return formatMarkdown(
    ["difference", ...SCORES.map(({ title }) => title)],
    PAIRS.map((pair) => [`${pair.system} less ${pair.against}`, ...differencesOf(table, pair).map(cell)]),
  );
}

function earnTable({ tables }: UnseenSummary): string {
  const [fromStart, alone] = [
    { system: "graduate", against: "start" },
    { system: "one run", against: "start" },
  ] as const;
  const cell = ({ estimate, p }: ScoreDifference) =>
    estimate === null || p === null ? "–" : `${signed(estimate)} (p ${p < 0.001 ? "< 0.001" : p.toFixed(3)})`;
  const titles = ["C", "IBS"];
  const chosen = (differences: readonly ScoreDifference[]) =>
    differences.filter(({ score }) => titles.includes(score.title)).map(cell);
  return formatMarkdown(
    ["table", "C of start", "one run: C", "IBS", "five runs: C", "IBS"],
    tables.map((table) => [
      table.entry.name,
      fixed(table.means.find(({ system }) => system === "start")?.scores[0] ?? null),
      ...chosen(differencesOf(table, alone)),
      ...chosen(differencesOf(table, fromStart)),
    ]),
  );
}

function strataTable(tables: readonly TableSummary[]): string {
  const of = ([least, most]: readonly [number, number]) =>
    least === most ? `${least}` : `${least} to ${most}`;
  return formatMarkdown(
    ["table", "strata", "without an event", "lost", ...SCORES.map(({ title }) => title)],
    tables.flatMap(({ entry, strata }) => {
      if (strata === null) return [];
      const { scores, differences } = strata;
      const cells = SCORES.map((score, k) => {
        const one = differences.find((difference) => difference.score === score);
        if (scores === null || one === undefined || one.estimate === null || one.p === null) return "absent";
        const chance = one.p < 0.001 ? "< 0.001" : one.p.toFixed(3);
        return `${fixed(scores[k])}; ${signed(one.estimate)} (p ${chance})`;
      });
      return [
        [
          entry.name,
          of(strata.strata),
          of(strata.withoutEvents),
          `${(100 * strata.lost).toFixed(1)} %`,
          ...cells,
        ],
      ];
    }),
  );
}

function sayStrata(tables: readonly TableSummary[]): string {
  const known = tables.flatMap(({ entry, strata }) => (strata === null ? [] : [{ entry, strata }]));
  const absent = known.filter(({ strata }) => strata.scores === null);
  const shown = known.filter(({ strata }) => strata.scores !== null);
  const sides = (side: number) =>
    shown.flatMap(({ entry, strata }) => {
      const found = strata.differences.filter((one) => one.side === side && (one.p ?? 1) < LEVEL);
      return found.length === 0
        ? []
        : [`${entry.name} (${found.map(({ score }) => score.title).join(", ")})`];
    });
  const [better, worse] = [sides(1), sides(-1)];
  const said = (names: readonly string[]) => (names.length === 0 ? "no score of any table" : listOf(names));
  return `Strata run out of events on ${listOf(absent.map(({ entry }) => entry.name))}: more than 1 % of the test rows are \
lost there. On ${listOf(shown.map(({ entry }) => entry.name))}, where strata have events, \`graduate\` is better at 5 % in \
${said(better)}, and worse in ${said(worse)}.`;
}

function standingTable(summary: UnseenSummary): string {
  const mark = ({ score: { title }, p, adjustedP }: ScoreDifference) => {
    if ((adjustedP ?? 1) < LEVEL) return `**${title}**`;
    return (p ?? 1) < LEVEL ? `*${title}*` : title;
  };
  const say = (some: readonly ScoreDifference[]) => (some.length === 0 ? "none" : some.map(mark).join(", "));
  const table = formatMarkdown(
    ["table", "`graduate` against", "better on", "worse on"],
    listStandings(summary).map(({ name, against, better, worse }) => [
      name,
      against,
      say(better),
      say(worse),
    ]),
  );
  return table.replace("| --- | --: | --: | --: |", "| --- | --- | --- | --- |");
}

function sayShortfalls({ entry, shortfalls }: TableSummary): string {
  const parts = shortfalls.map(
    ({ title, value, rival, system }) => `${title} ${fixed(value)} against ${fixed(rival)} (${system})`,
  );
  return `- ${entry.name}: ${parts.length === 0 ? "on no score" : parts.join("; ")}.`;
}

function conclusions(summary: UnseenSummary): string {
  const pairs = separatePairs(summary).map((separation) => sayPair(separation, summary.splits));
  const unheld = findUnheld(summary).map(sayUnheld);
  return [...pairs, sayFloors(summary), sayWorstOfCox(summary), ...unheld].join("\n");
}

/** "lung (C better)" */
function saySeparated({ name, differences }: SeparatedTable): string {
  const said = differences.map(({ score, side }) => `${score.title} ${side > 0 ? "better" : "worse"}`);
  return `${name} (${said.join(", ")})`;
}

function sayPair({ system, against, byP, byHolm, inNone }: Separation, splits: number): string {
  const on = byP.length === 0 ? "on no score of any table" : `on ${listOf(byP.map(saySeparated))}`;
  const none = inNone.length === 0 || byP.length === 0 ? "" : `, and on no score of ${listOf(inNone)}`;
  const after = `by Holm's p on ${byHolm.length === 0 ? "none" : listOf(byHolm.map(saySeparated))}`;
  return `- ${splits} splits separate \`${system}\` from ${against} (p < ${LEVEL}) ${on}${none}; ${after}.`;
}

function sayFloors(summary: UnseenSummary): string {
  const ranges = rangeOverFloor(summary).map(
    ({ system, least, most }) => `${fixed(least, 2)} to ${fixed(most, 2)} (${system})`,
  );
  return `- The ECE of everyone, in units of its floor, over the tables: ${listOf(ranges)}.`;
}

function sayWorstOfCox(summary: UnseenSummary): string {
  const { name, plain, terms, own, share } = compareWorstOfCox(summary);
  return `- Plain Cox is furthest off in a group of ${name}: worst group ECE ${fixed(plain)}, \
with group terms ${fixed(terms)}, \`graduate\` ${fixed(own)}. \
Of that fall ${share} % is in knowing the groups, which Cox with group terms does too.`;
}

function sayUnheld(table: TableSummary): string {
  const { entry, found, rows, supportedBins } = table;
  const { held, asked } = countHeld(table);
  return `- On ${entry.name} ${fixed(held, 1)} of ${asked} groups are held, on average; the others are reported. \
${percent(found.events, found.rows)} % of its people have the event, \
and ten of the ${rows.test} test rows are at risk in ${fixed(supportedBins, 0)} of ${DEFAULT_BINS} time bins: \
nothing can be said of most groups there.`;
}

function commandTable(tables: readonly TableSummary[]): string {
  return formatMarkdown(
    ["table", ...UNSEEN_COMMANDS, "confirmed"],
    tables.map(({ entry, commands }) => {
      const cells = commands.map((line) => {
        if (line === null) return "–";
        return line.exit === 0 ? `${fixed(line.seconds, 1)} s` : `exit ${line.exit}: ${line.said}`;
      });
      const confirmed = commands.find((line) => line?.command === "discover")?.confirmed;
      return [entry.name, ...cells, confirmed === undefined ? "–" : String(confirmed)];
    }),
  );
}
