/**
 * docs/results/tables.md from the lines of paper/tables.jsonl: means over splits, paired differences with the corrected resampled t, and
 * what every command did. What is said of a table is worked out from its lines.
 *   node paper/tables-page.js [paper/tables.jsonl] > docs/results/tables.md
 */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { holm } from "../dist/stats/comparison.js";
import { compareSplits } from "../dist/verbs/comparison/differences.js";

const path = process.argv[2] ?? fileURLToPath(new URL("tables.jsonl", import.meta.url));
const plan = JSON.parse(readFileSync(fileURLToPath(new URL("tables.json", import.meta.url)), "utf8"));
const lines = readFileSync(path, "utf8")
  .split("\n")
  .filter(Boolean)
  .map((line) => JSON.parse(line));

const SCORES = [
  { key: "concordance", title: "C", better: 1 },
  { key: "ece", title: "ECE", better: -1 },
  { key: "groupEce", title: "mean group ECE", better: -1 },
  { key: "worstEce", title: "worst group ECE", better: -1 },
  { key: "ibs", title: "IBS", better: -1 },
];
const LEVEL = 0.05;
/** Of the default preset. */
const TIME_BINS = 102;
const COMMANDS = ["describe", "train", "audit", "predict", "export", "discover"];

const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
const fixed = (value, digits = 4) => (value === null ? "–" : value.toFixed(digits));
const signed = (value) => `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(4)}`;
const row = (cells) => `| ${cells.join(" | ")} |`;
const tableOf = (head, body) =>
  [row(head), row(head.map((_, k) => (k === 0 ? "---" : "--:"))), ...body.map(row)].join("\n");
const of = (table, system) =>
  lines
    .filter((line) => line.kind === "run" && line.table === table && line.system === system)
    .sort((a, b) => a.seed - b.seed);
const meanOf = (runs, key) => {
  const values = runs.map((run) => run[key] ?? null);
  return values.includes(null) ? null : mean(values);
};
const names = plan.tables.map(({ name }) => name).filter((name) => lines.some(({ table }) => table === name));

/** What is held against what. */
const PAIRS = [
  { system: "cox with group terms", against: "cox" },
  { system: "graduate", against: "cox" },
  { system: "graduate", against: "cox with group terms" },
];

/** Over the splits, with Holm's p over all differences of the table. */
function differencesOf(name) {
  const rows = of(name, "cox").map((run) => run.rows);
  const sizes = {
    testSize: mean(rows.map(({ test }) => test)),
    trainSize: mean(rows.map(({ train }) => train)),
  };
  const found = PAIRS.flatMap(({ system, against }) =>
    compareSplits(
      [against, system].map((method) => ({ method, scores: of(name, method) })),
      sizes,
    ),
  );
  const adjusted = holm(found.map(({ p, absent }) => p ?? { absent }));
  return found.map((one, k) => ({ ...one, adjustedP: adjusted[k] }));
}

const pick = (all, { system, against }) =>
  all.filter((one) => one.method === system && one.against === against);

function scoreTable(name) {
  const body = plan.systems.map((system) => {
    const runs = of(name, system);
    const held = mean(runs.map((run) => run.held));
    const judged = mean(runs.map((run) => run.judged));
    return [
      system,
      ...SCORES.map(({ key }) => fixed(meanOf(runs, key))),
      `${fixed(meanOf(runs, "eceFloor"))} / ${fixed(meanOf(runs, "groupEceFloor"))}`,
      `${fixed(mean(runs.map((run) => run.rejected)), 1)} of ${fixed(judged, 1)}`,
      held === 0
        ? "–"
        : `${fixed(mean(runs.map((run) => run.met)), 1)} of ${fixed(held, 1)} (of ${runs[0].asked})`,
      fixed(mean(runs.map((run) => run.seconds)), 1),
    ];
  });
  const head = ["system", ...SCORES.map(({ title }) => title), "floors", "rejected", "met", "seconds"];
  return tableOf(head, body);
}

function differenceTable(name) {
  const all = differencesOf(name);
  const body = SCORES.map(({ key, title }) => [
    title,
    ...PAIRS.map((pair) => {
      const { estimate, lower, upper, p, absent } = pick(all, pair).find(({ score }) => score === key);
      if (estimate === null) return `none (${absent})`;
      return `${signed(estimate)} (${signed(lower)} to ${signed(upper)}), p ${p < 0.001 ? "< 0.001" : p.toFixed(3)}`;
    }),
  ]);
  return tableOf(["difference", ...PAIRS.map(({ system, against }) => `${system} less ${against}`)], body);
}

/** Scores that are better or worse on average, marked where chance is an unlikely reason. */
function standing(name, pair) {
  const found = pick(differencesOf(name), pair).filter(({ estimate }) => estimate !== null);
  const side = (sign) =>
    found.filter(({ score, estimate }) => {
      const { better } = SCORES.find(({ key }) => key === score);
      return Math.sign(estimate) * better === sign;
    });
  const say = (some) =>
    some.length === 0
      ? "none"
      : some
          .map(({ score, p, adjustedP }) => {
            const { title } = SCORES.find(({ key }) => key === score);
            return adjustedP < LEVEL ? `**${title}**` : p < LEVEL ? `*${title}*` : title;
          })
          .join(", ");
  return { better: say(side(1)), worse: say(side(-1)) };
}

function standingTable() {
  const body = names.flatMap((name) =>
    PAIRS.slice(1).map((pair) => {
      const { better, worse } = standing(name, pair);
      return [name, pair.against, better, worse];
    }),
  );
  const head = ["table", "`graduate` against", "better on", "worse on"];
  return [row(head), row(head.map(() => "---")), ...body.map(row)].join("\n");
}

/** Where `graduate` is worse than the better of the two Cox models, on average, by table. */
function worseThanEither() {
  return names
    .map((name) => {
      const own = of(name, "graduate");
      const parts = SCORES.flatMap(({ key, title, better }) => {
        const rivals = plan.systems
          .filter((system) => system !== "graduate")
          .map((system) => ({ system, value: meanOf(of(name, system), key) }))
          .filter(({ value }) => value !== null)
          .sort((a, b) => better * (b.value - a.value));
        const value = meanOf(own, key);
        if (value === null || rivals.length === 0 || better * (value - rivals[0].value) >= 0) return [];
        if (fixed(value) === fixed(rivals[0].value)) return [];
        return [`${title} ${fixed(value)} against ${fixed(rivals[0].value)} (${rivals[0].system})`];
      });
      return `- ${name}: ${parts.length === 0 ? "on no score" : parts.join("; ")}.`;
    })
    .join("\n");
}

const listOf = (parts) =>
  parts.length < 2 ? parts.join("") : `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}`;

/** "lung (C, better)": the scores of each table that the pair differs in below the level, by p or by Holm's. */
function separated(pair, key) {
  return names.flatMap((name) => {
    const found = pick(differencesOf(name), pair).filter((one) => one[key] !== null && one[key] < LEVEL);
    if (found.length === 0) return [];
    const said = found.map(({ score, estimate }) => {
      const { title, better } = SCORES.find((one) => one.key === score);
      return `${title} ${Math.sign(estimate) * better > 0 ? "better" : "worse"}`;
    });
    return [{ name, said: `${name} (${said.join(", ")})` }];
  });
}

function sayPair(pair) {
  const found = separated(pair, "p");
  const holm = separated(pair, "adjustedP");
  const rest = names.filter((name) => !found.some((one) => one.name === name));
  const on = found.length === 0 ? "on no score of any table" : `on ${listOf(found.map(({ said }) => said))}`;
  const none = rest.length === 0 || found.length === 0 ? "" : `, and on no score of ${listOf(rest)}`;
  const after =
    holm.length === 0 ? "by Holm's p on none" : `by Holm's p on ${listOf(holm.map(({ said }) => said))}`;
  return `- ${plan.seeds.length} splits separate \`${pair.system}\` from ${pair.against} (p < ${LEVEL}) ${on}${none}; ${after}.`;
}

/** Errors of everyone in units of what a perfect model of the same curves shows. */
function sayFloors() {
  const ratios = plan.systems.map((system) => {
    const all = names.map((name) => meanOf(of(name, system), "ece") / meanOf(of(name, system), "eceFloor"));
    return `${fixed(Math.min(...all), 2)} to ${fixed(Math.max(...all), 2)} (${system})`;
  });
  return `- The ECE of everyone, in units of its floor, over the tables: ${listOf(ratios)}.`;
}

/** How much of the fall of the worst group's error from plain Cox Cox has with the groups as terms. */
function sayWorstOfCox() {
  const worst = (name, system) => meanOf(of(name, system), "worstEce");
  const name = names.reduce((most, one) => (worst(one, "cox") > worst(most, "cox") ? one : most));
  const [plain, terms, own] = plan.systems.map((system) => worst(name, system));
  const share = Math.round((100 * (plain - terms)) / (plain - own));
  return `- Plain Cox is furthest off in a group of ${name}: worst group ECE ${fixed(plain)}, with group terms ${fixed(terms)}, \`graduate\` ${fixed(own)}. Of that fall ${share} % is in knowing the groups, which Cox with group terms does too.`;
}

/** Tables where fewer than half of the groups asked for have data enough to be held. */
function sayUnheld() {
  return names.flatMap((name) => {
    const runs = of(name, "graduate");
    const held = mean(runs.map((run) => run.held));
    const [{ asked }] = runs;
    if (held >= asked / 2) return [];
    const { rows, events } = lines.find((line) => line.kind === "table" && line.table === name);
    const bins = fixed(mean(runs.map((run) => run.supportedBins)), 0);
    return [
      `- On ${name} ${fixed(held, 1)} of ${asked} groups are held, on average; the others are reported. ${Math.round((100 * events) / rows)} % of its people have the event, and ten of the ${runs[0].rows.test} test rows are at risk in ${bins} of ${TIME_BINS} time bins: nothing can be said of most groups there.`,
    ];
  });
}

function conclusions() {
  return [...PAIRS.slice(1).map(sayPair), sayFloors(), sayWorstOfCox(), ...sayUnheld()].join("\n");
}

function commandTable() {
  const body = names.map((name) => {
    const own = lines.filter((line) => line.kind === "command" && line.table === name);
    const cells = COMMANDS.map((command) => {
      const found = own.find((line) => line.command === command);
      if (found === undefined) return "–";
      return found.exit === 0 ? `${fixed(found.seconds, 1)} s` : `exit ${found.exit}: ${found.said}`;
    });
    const discovered = own.find(({ command }) => command === "discover")?.confirmed;
    return [name, ...cells, discovered ?? "–"];
  });
  return tableOf(["table", ...COMMANDS, "confirmed"], body);
}

function describeTable(name) {
  const { rows, events, drop, findings } = lines.find((line) => line.kind === "table" && line.table === name);
  const entry = plan.tables.find((one) => one.name === name);
  const runs = of(name, "graduate");
  const { train, test } = runs[0].rows;
  const found = findings.map(({ level, message }) => `${level}: ${message}`);
  const grouped =
    entry.patient === undefined ? "" : ` Rows of one ${entry.patient} stay together in a split.`;
  const unmet = runs.flatMap((run) => run.unmet ?? []);
  const missed = [...new Set(unmet)].map((group) => {
    const times = unmet.filter((one) => one === group).length;
    return `${group}${times > 1 ? ` (${times} ×)` : ""}`;
  });
  return `## ${name}

${rows} rows, ${events} events (${Math.round((100 * events) / rows)} %); ${train} training rows and ${test} test rows a split, on average ${fixed(mean(runs.map((run) => run.testEvents)), 0)} test events. Ten people at risk
in ${fixed(mean(runs.map((run) => run.supportedBins)), 0)} of ${TIME_BINS} time bins of the test rows.${grouped}
Groups: ${entry.groups.map((group) => `\`${group}\``).join(", ")}. Left out: ${drop.length === 0 ? "nothing" : drop.join(", ")}.
\`describe\` found: ${found.length === 0 ? "nothing" : found.join("; ")}.

${scoreTable(name)}

${differenceTable(name)}

Constraints missed on the training rows, over the ${plan.seeds.length} splits: ${missed.length === 0 ? "none" : missed.join(", ")}.`;
}

console.log(`# Tables that nothing was tuned on

Made by \`node paper/tables.js --data DIR\` and \`node paper/tables-page.js\`; every run is a line of \`paper/tables.jsonl\`. ${names.length} tables, taken as a new user would:
\`describe\`, then \`train\` with the default preset and groups by sex, age, stage and treatment. They are in \`paper/tables.json\`, chosen by what the
columns mean and written down before results were compared (veteran alone had been run once, with eight of its ten groups); no option was tuned on these tables. ${plan.seeds.length} random splits (60 % training, 20 % validation, 20 % test), all scores on the test rows. The
tables are not in the repository: pbc, lung, gbsg, veteran and retinopathy are those of R's survival package, METABRIC and SUPPORT those that
DeepSurv published.

C is the paper's C-index, ECE the paper's over all time bins; mean and worst group ECE are over the groups with ten events or more among
the test rows. *Floors*: the ECE of everyone and the mean group ECE that a model of the same curves shows when it is perfect, by chance alone. *Rejected*: groups
judged whose individual logrank p is below 0.05, of which a perfect model has one in twenty. *Met*: constraints met on the training rows, of those held
(and of the groups asked for, everyone included: groups with little data are reported, not held). Seconds of training on one thread of a busy machine.
Cox is fitted on the training rows and makes no use of the validation rows, on which \`graduate\` chooses when to stop; *cox with group terms* has each group
as one more column. Differences: mean over the splits, 95 % interval and p by the corrected resampled t, not adjusted; ${plan.seeds.length} splits show large
differences only.

## In short

Better and worse on average; in italics where p < ${LEVEL}, in bold where Holm's p over the ${PAIRS.length * SCORES.length} differences of the table is.

${standingTable()}

Where \`graduate\` is worse than the better of the two Cox models, on average:

${worseThanEither()}

What can be said:

${conclusions()}

## Every command

On the first split, seconds of the whole program on a busy machine; a command that ends otherwise than with exit code 0 is shown with what it said. *Confirmed*: groups
that \`discover\` finds and confirms on the test rows of the model.

${commandTable()}

${names.map(describeTable).join("\n\n")}
`);
