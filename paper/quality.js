/**
 * Does the default preset do what it is for? Five splits of nwtco (without its row id, 12 groups) and of flchain (without the
 * leaking chapter, 25 groups), and the simulated eye cohort, whose true curves are known: graduate against Cox, and against
 * its standing controls, which differ from it in one thing each: no multipliers, everyone as the only group, and placebo
 * groups (the same sizes and overlaps, members drawn at random); the network knows the real groups in all of them. Every system
 * is scored on the same test rows and real groups.
 *
 *   node paper/quality.js --splits DIR --eye FILE --truth FILE [--tables nwtco,flchain] [--part 1/2] --out paper/quality.jsonl
 *
 * DIR holds nwtco_seed1.csv … (row and set), FILEs the cohort and its true curves. Lines already in --out are not run again.
 * `node paper/quality-table.js` makes the page of docs/results from them.
 */
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { createRandom, shuffle } from "../dist/core/random.js";
import { addGroupColumns } from "../dist/data/groups/group-columns.js";
import { ALL_GROUP, groupsFromFile, parseGroupsFile, resolveGroups } from "../dist/data/groups/groups.js";
import { pickOutcomes } from "../dist/data/outcomes/outcomes.js";
import { readOutcomes } from "../dist/data/outcomes/read-outcomes.js";
import { splitFromTable, splitRows } from "../dist/data/outcomes/split.js";
import { binOutcomes } from "../dist/data/outcomes/time-grid.js";
import { readTable } from "../dist/data/reading/read-table.js";
import { tableSourceFromPath } from "../dist/node/io/table-file.js";
import { openWasmBackend } from "../dist/node/workers/wasm-backend.js";
import { groupSupport } from "../dist/stats/kaplan-meier.js";
import { audit } from "../dist/verbs/audit.js";
import { gridOf, predict } from "../dist/verbs/predict.js";
import { train } from "../dist/verbs/train.js";

const TABLES = {
  nwtco: { time: "edrel", event: "rel", drop: ["seqno"], category: ["stage"] },
  flchain: { time: "futime", event: "death", drop: ["chapter"], category: [] },
  // One cohort and one split: what repeats is the start of the weights and the order of the batches.
  eye: { time: "time", event: "event", drop: [], category: [], sizes: [1873, 1251, 1250] },
};
const SEEDS = [1, 2, 3, 4, 5];
const PAPER_SLACK = { nwtco: 0.02, flchain: 0.01, eye: 0.01 };
const SYSTEMS = ["cox", "cox with group terms", "graduate", "no multipliers", "all only", "placebo groups"];
const PAPER_SYSTEMS = ["paper drsa", "paper graduate"];
/** Apart from every stream that a run of the same seed uses. */
const PLACEBO_STREAM = 0x50000000;

const { values: given } = parseArgs({
  options: {
    splits: { type: "string", default: "splits" },
    eye: { type: "string", default: "eye_sim.csv" },
    truth: { type: "string", default: "eye_sim_truth.csv.gz" },
    tables: { type: "string", default: "nwtco,flchain,eye" },
    systems: { type: "string", default: SYSTEMS.join(",") },
    seeds: { type: "string", default: SEEDS.join(",") },
    part: { type: "string", default: "1/1" },
    out: { type: "string", default: "paper/quality.jsonl" },
  },
});
const here = fileURLToPath(new URL("..", import.meta.url));
const read = async (path, options) => readTable(await tableSourceFromPath(path), options);

async function openTable(name) {
  const path = name === "eye" ? given.eye : `${here}datasets/${name}/${name}.csv`;
  const groups = name === "eye" ? `${here}paper/eye-groups.json` : `${here}datasets/${name}/groups.json`;
  const table = await read(path, { category: TABLES[name].category });
  return { table, groupsFile: parseGroupsFile(readFileSync(groups, "utf8"), groups) };
}

async function openSplit(name, table, seed) {
  const { sizes } = TABLES[name];
  if (sizes) return splitRows(table.rows, { seed: 1, fractions: sizes.map((n) => n / table.rows) });
  return splitFromTable(await read(`${given.splits}/${name}_seed${seed}.csv`), table.rows);
}

/** Each group as a column of its own, its rows exchanged at random with others of the same part of the split. */
function addPlacebos(table, split, groups, seed) {
  const from = Int32Array.from({ length: table.rows }, (_, row) => row);
  [split.train, split.valid, split.test].forEach((part, k) => {
    const order = Int32Array.from(part);
    shuffle(order, createRandom(seed, PLACEBO_STREAM + k));
    part.forEach((row, i) => {
      from[row] = order[i];
    });
  });
  const columns = resolveGroups(groups, table).map(({ rows }, g) => {
    const members = new Set(rows);
    const values = Uint8Array.from({ length: table.rows }, (_, row) => (members.has(from[row]) ? 1 : 0));
    return { name: `placebo ${g}`, type: "boolean", values };
  });
  return { ...table, columns: [...table.columns, ...columns] };
}

/** What `train` is asked for, by system; all else is the preset's. */
function requestOf(system, name, groups) {
  const { time, event, drop } = TABLES[name];
  const real = groups.filter(({ name: group }) => group !== ALL_GROUP.name);
  const asked = { time, event, drop, groups: real, inputGroups: real };
  switch (system) {
    case "cox":
    case "cox with group terms":
      return { ...asked, method: "cox" };
    case "graduate":
      return asked;
    case "no multipliers":
      return { ...asked, options: { dual: { form: "ascent", rate: 0, start: 0 } } };
    case "all only":
      return { ...asked, groups: [] };
    case "placebo groups": {
      const placebos = groups.map((_, g) => `placebo ${g}`);
      const named = placebos.map((column, g) => ({ name: groups[g].name, expression: `"${column}"` }));
      return {
        ...asked,
        drop: [...drop, ...placebos],
        groups: named.filter(({ name: g }) => g !== ALL_GROUP.name),
      };
    }
    case "paper drsa":
      return { ...asked, inputGroups: "none", preset: "paper", method: "drsa" };
    case "paper graduate":
      return { ...asked, inputGroups: "none", preset: "paper", constraint: { slack: PAPER_SLACK[name] } };
    default:
      throw new Error(`no system "${system}"; there are ${[...SYSTEMS, ...PAPER_SYSTEMS].join(", ")}`);
  }
}

/** Root mean square over t ≤ τ_g of a group's mean (predicted − true) curve: A of method §12, here over the test rows. */
function trueErrors(curves, truth, rows, members, supports) {
  const { T } = curves;
  return members.map(({ rows: group }, g) => {
    let sum = 0;
    for (let t = 0; t < supports[g]; t++) {
      let gap = 0;
      for (const k of group) gap += curves.survival[k * T + t] - truth[t][rows[k]];
      sum += (gap / group.length) ** 2;
    }
    return Math.sqrt(sum / supports[g]);
  });
}

async function run(name, system, seed) {
  const { table, groupsFile } = await openTable(name);
  const split = await openSplit(name, table, seed);
  const { time, event } = TABLES[name];
  const groups = groupsFromFile(groupsFile, table, split.train, { exclude: [time, event] });
  const outcomes = readOutcomes(table, { time, event });
  const used =
    system === "placebo groups"
      ? addPlacebos(table, split, groups, seed)
      : system === "cox with group terms"
        ? addGroupColumns(table, groups.slice(1))
        : table;
  // The eye cohort's truth is given on equal bins of the largest time of all rows.
  const horizon = name === "eye" ? { horizon: Math.max(...outcomes.time) } : {};
  const backend = await openWasmBackend({ threads: 1 });
  const started = performance.now();
  const training = train(used, { ...requestOf(system, name, groups), ...horizon, split, seed }, backend);
  let next = await training.next();
  while (!next.done) next = await training.next();
  const model = next.value;
  const seconds = (performance.now() - started) / 1000;
  const { curves } = await predict(model, used, backend, split.test);
  await backend.close();
  const grid = gridOf(model);
  const place = new Map(Array.from(split.test, (row, k) => [row, k]));
  const inside = (rows, where) =>
    Int32Array.from(rows)
      .map((row) => where.get(row) ?? -1)
      .filter((k) => k >= 0);
  const members = resolveGroups(groups, table).map((group) => ({
    ...group,
    rows: inside(group.rows, place),
  }));
  const result = await audit(
    { curves, outcomes: binOutcomes(pickOutcomes(outcomes, split.test), grid), groups: members },
    { draws: 0 },
  );
  const line = {
    table: name,
    system,
    seed,
    concordance: result.overall.concordance,
    ece: result.overall.paper.ece,
    subgroupEce: result.groups.reduce((sum, { paper }) => sum + paper.ece, 0) / result.groups.length,
    ibs: result.overall.ibs,
    logrankP: result.overall.logrank.p,
    logrankIndividualP: result.overall.logrankIndividual.p,
    groupsRejected: result.groups.filter(({ logrankIndividual }) => (logrankIndividual.p ?? 1) < 0.05).length,
    groups: result.groups.length,
    met: model.training.verdict.filter(({ met }) => met === true).length,
    held: model.training.verdict.filter(({ met }) => met !== null).length,
    multipliers: model.training.multipliers && {
      start: model.training.multipliers.start,
      end: model.training.multipliers.end.map((value) => Number(value.toPrecision(4))),
      fixedPenalty: model.training.multipliers.fixedPenalty,
    },
    bestStep: model.training.bestStep,
    parameters: model.training.parameters,
    seconds: Number(seconds.toFixed(1)),
  };
  if (name !== "eye") return line;
  const truth = (await read(given.truth)).columns.slice(1).map(({ values }) => values);
  const placeInTraining = new Map(Array.from(split.train, (row, k) => [row, k]));
  const trainingBins = binOutcomes(pickOutcomes(outcomes, split.train), grid);
  const supports = resolveGroups(groups, table).map(({ rows }) =>
    groupSupport(trainingBins, { rows: inside(rows, placeInTraining) }),
  );
  const errors = trueErrors(curves, truth, split.test, members, supports);
  return {
    ...line,
    trueError: Object.fromEntries(members.map(({ name: g }, k) => [g, Number(errors[k].toFixed(5))])),
  };
}

const done = existsSync(given.out)
  ? readFileSync(given.out, "utf8")
      .split("\n")
      .filter(Boolean)
      .map((text) => JSON.parse(text))
  : [];
const [mine, parts] = given.part.split("/").map(Number);
const wanted = given.tables
  .split(",")
  .flatMap((name) =>
    given.seeds
      .split(",")
      .flatMap((seed) => given.systems.split(",").map((system) => ({ name, system, seed: Number(seed) }))),
  )
  .filter(({ name, system, seed }) => !(name === "eye" && system.startsWith("cox") && seed > 1))
  .filter((_, k) => k % parts === mine - 1);
for (const { name, system, seed } of wanted) {
  if (done.some((line) => line.table === name && line.system === system && line.seed === seed)) continue;
  const line = await run(name, system, seed);
  appendFileSync(given.out, `${JSON.stringify(line)}\n`);
  const { concordance, ece, subgroupEce, ibs, seconds, trueError } = line;
  const old = trueError ? `, true error of age 75 and over ${trueError["age 75 and over"]}` : "";
  console.log(
    `${name} ${system} seed ${seed}: C ${concordance.toFixed(4)}, ECE ${ece.toFixed(4)}, subgroup ECE ${subgroupEce.toFixed(4)}, IBS ${ibs.toFixed(4)}${old}, ${seconds} s`,
  );
}
