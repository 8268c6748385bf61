/**
 * Tables nothing was tuned on, taken as someone would who has never seen this program. For each table of paper/tables.json: what
 * `describe` finds; five splits on which the default preset is held against Cox and against Cox with the groups as terms, through the
 * library; and once every command: describe, train, audit with its report, predict, export to ONNX, discover, each of which must end with
 * exit code 0 or a refusal that says why. Rows of one patient (plan: `patient`) stay in one part of a split.
 *
 *   node paper/tables.js --data DIR [--tables pbc,lung] [--keep FOLDER] --out paper/tables.jsonl
 *
 * DIR holds the tables; none of them is kept here, only scores. Lines already in --out are not run again. Models, reports and
 * predictions of the commands go to FOLDER, or to one that is removed. `node paper/tables-page.js` makes the page of docs/results.
 */
import { spawnSync } from "node:child_process";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { checkTable } from "../dist/data/checks/sanity.js";
import { addGroupColumns } from "../dist/data/groups/group-columns.js";
import { readOutcomes } from "../dist/data/outcomes/read-outcomes.js";
import { splitRows } from "../dist/data/outcomes/split.js";
import { readTable } from "../dist/data/reading/read-table.js";
import { tableSourceFromPath } from "../dist/node/io/table-file.js";
import { openWasmBackend } from "../dist/node/workers/wasm-backend.js";
import { MINIMUM_EVENTS } from "../dist/objectives/constraints.js";
import { predictRows, scorePredicted } from "../dist/verbs/score-rows.js";
import { train } from "../dist/verbs/train.js";

const here = fileURLToPath(new URL("..", import.meta.url));
const plan = JSON.parse(readFileSync(join(here, "paper/tables.json"), "utf8"));
const { values: given } = parseArgs({
  options: {
    data: { type: "string" },
    tables: { type: "string", default: plan.tables.map(({ name }) => name).join(",") },
    systems: { type: "string", default: plan.systems.join(",") },
    seeds: { type: "string", default: plan.seeds.join(",") },
    threads: { type: "string", default: "1" },
    keep: { type: "string" },
    out: { type: "string", default: "paper/tables.jsonl" },
  },
});
if (given.data === undefined) throw new Error("where are the tables? --data DIR");

const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
const round = (value, digits = 6) => (value === null ? null : Number(value.toPrecision(digits)));
const openTable = async ({ file }) => readTable(await tableSourceFromPath(join(given.data, file)));

/** All rows of a patient go where the patient goes. */
function splitTable(table, { patient }, seed) {
  if (patient === undefined) return splitRows(table.rows, { seed });
  const { values } = table.columns.find(({ name }) => name === patient);
  const patients = [...new Set(values)];
  const split = splitRows(patients.length, { seed });
  const rowsOf = (chosen) => {
    const wanted = new Set(Array.from(chosen, (k) => patients[k]));
    return Int32Array.from({ length: table.rows }, (_, row) => row).filter((row) => wanted.has(values[row]));
  };
  return { train: rowsOf(split.train), valid: rowsOf(split.valid), test: rowsOf(split.test) };
}

/** The scores of test rows; a group is judged with ten events among them. */
function readAudit({ overall, groups }) {
  const judged = groups.filter(({ events, paper }) => events >= MINIMUM_EVENTS && paper.ece !== null);
  const worst = judged.reduce(
    (one, other) => (one === null || other.paper.ece > one.paper.ece ? other : one),
    null,
  );
  return {
    concordance: round(overall.concordance),
    ece: round(overall.paper.ece),
    eceFloor: round(overall.paper.noiseFloor?.ece ?? null),
    eceP: round(overall.paper.noiseFloor?.p ?? null),
    groupEce: judged.length === 0 ? null : round(mean(judged.map(({ paper }) => paper.ece))),
    groupEceFloor:
      judged.length === 0
        ? null
        : round(mean(judged.map(({ paper }) => paper.noiseFloor?.ece ?? Number.NaN))),
    worstEce: round(worst?.paper.ece ?? null),
    worstGroup: worst?.name ?? null,
    ibs: round(overall.ibs),
    logrankIndividualP: round(overall.logrankIndividual.p),
    judged: judged.length,
    rejected: judged.filter(({ logrankIndividual }) => (logrankIndividual.p ?? 1) < 0.05).length,
    supportedBins: overall.supported.bins,
  };
}

async function runSystem(entry, system, seed) {
  const { name, time, event, drop } = entry;
  const table = await openTable(entry);
  const split = splitTable(table, entry, seed);
  const groups = entry.groups.map((expression) => ({ name: expression, expression }));
  const used = system === "cox with group terms" ? addGroupColumns(table, groups) : table;
  const method = system.startsWith("cox") ? "cox" : "graduate";
  const backend = await openWasmBackend({ threads: Number(given.threads) });
  const sizes = { train: split.train.length, valid: split.valid.length, test: split.test.length };
  const identity = { kind: "run", table: name, system, seed, rows: sizes };
  const started = performance.now();
  try {
    // The split keeps a patient's rows together already.
    const rowsAreIndependent = entry.patient !== undefined;
    const request = { time, event, drop, groups, method, split, seed, rowsAreIndependent };
    const training = train(used, request, backend);
    let next = await training.next();
    while (!next.done) next = await training.next();
    const model = next.value;
    const seconds = (performance.now() - started) / 1000;
    const scored = await scorePredicted(model, used, await predictRows(model, used, split.test, backend));
    const { verdict, warnings, bestStep, parameters } = model.training;
    const held = verdict.filter(({ met }) => met !== null);
    return {
      ...identity,
      testEvents: scored.audit.overall.events,
      ...readAudit(scored.audit),
      met: held.filter(({ met }) => met === true).length,
      held: held.length,
      asked: groups.length + 1,
      bestStep,
      parameters,
      // The group terms of Cox repeat columns it has, as they are meant to.
      ...(method === "graduate"
        ? { unmet: held.filter(({ met }) => !met).map(({ group }) => group), warnings }
        : {}),
      seconds: Number(seconds.toFixed(1)),
    };
  } catch (error) {
    return { ...identity, failure: error.message };
  } finally {
    await backend.close();
  }
}

/** What `describe` finds, and the sizes. */
async function describeTable(entry) {
  const table = await openTable(entry);
  const { event } = readOutcomes(table, entry);
  const { findings } = checkTable(table, entry);
  return {
    kind: "table",
    table: entry.name,
    rows: table.rows,
    columns: table.columns.length,
    events: event.reduce((sum, one) => sum + one, 0),
    groups: entry.groups,
    drop: entry.drop,
    findings: findings.map(({ level, code, message }) => ({ level, code, message })),
  };
}

const COMMANDS = ["describe", "train", "audit", "predict", "export", "discover"];

function argumentsOf(command, entry, path, folder, splitFile) {
  const { name, time, event, drop, groups, timeUnit, patient } = entry;
  const model = join(folder, `${name}.model`);
  const outcome = ["--time", time, "--event", event];
  const unit = ["--time-unit", timeUnit];
  const split = splitFile === null ? [] : ["--split", splitFile];
  switch (command) {
    case "describe":
      return [path, ...outcome];
    case "train": {
      const dropped = drop.length === 0 ? [] : ["--drop", drop.join(",")];
      return [
        path,
        ...outcome,
        ...dropped,
        ...(patient === undefined ? [] : ["--id", patient]),
        ...groups.flatMap((group) => ["--group", group]),
        ...split,
        "--out",
        model,
      ];
    }
    case "audit":
      return [model, path, ...split, ...unit, "--report", join(folder, `${name}.html`)];
    case "predict":
      return [model, path, "--out", join(folder, `${name}-curves.csv`)];
    case "export":
      return [model, "--onnx", join(folder, `${name}.onnx`)];
    default:
      return [model, path, ...split];
  }
}

/** Runs every command that is not done yet, in their order: later ones need the model of `train`. */
async function runCommands(entry, done) {
  if (COMMANDS.every((command) => done.some((line) => line.command === command))) return [];
  const folder = given.keep ?? mkdtempSync(join(tmpdir(), "graduate-tables-"));
  mkdirSync(folder, { recursive: true });
  const path = join(given.data, entry.file);
  let splitFile = null;
  if (entry.patient !== undefined) {
    const split = splitTable(await openTable(entry), entry, plan.seeds[0]);
    const rows = Object.entries(split).flatMap(([set, own]) => Array.from(own, (row) => [row, set]));
    splitFile = join(folder, `${entry.name}-split.csv`);
    const text = rows.sort(([a], [b]) => a - b).map(([row, set]) => `${row + 1},${set}\n`);
    writeFileSync(splitFile, `row,set\n${text.join("")}`);
  }
  try {
    return COMMANDS.map((command) => {
      const started = performance.now();
      const { status, stdout, stderr } = spawnSync(
        process.execPath,
        [join(here, "bin/graduate.js"), command, ...argumentsOf(command, entry, path, folder, splitFile)],
        { encoding: "utf8", maxBuffer: 2 ** 28 },
      );
      const seconds = Number(((performance.now() - started) / 1000).toFixed(1));
      const confirmed = /: (\d+) confirmed\./.exec(stdout.replaceAll(/\s+/g, " "));
      return {
        kind: "command",
        table: entry.name,
        command,
        exit: status,
        seconds,
        ...(status === 0 ? {} : { said: stderr.trim().split("\n").slice(-4).join(" ") }),
        ...(command === "discover" && confirmed ? { confirmed: Number(confirmed[1]) } : {}),
      };
    });
  } finally {
    if (given.keep === undefined) rmSync(folder, { recursive: true, force: true });
  }
}

const done = existsSync(given.out)
  ? readFileSync(given.out, "utf8")
      .split("\n")
      .filter(Boolean)
      .map((text) => JSON.parse(text))
  : [];
const keepLine = (line) => appendFileSync(given.out, `${JSON.stringify(line)}\n`);

for (const entry of plan.tables.filter(({ name }) => given.tables.split(",").includes(name))) {
  const own = done.filter(({ table }) => table === entry.name);
  if (!own.some(({ kind }) => kind === "table")) keepLine(await describeTable(entry));
  for (const line of await runCommands(entry, own)) {
    keepLine(line);
    console.log(`${line.table} ${line.command}: exit ${line.exit}, ${line.seconds} s`);
  }
  for (const seed of given.seeds.split(",").map(Number)) {
    for (const system of given.systems.split(",")) {
      if (own.some((line) => line.kind === "run" && line.system === system && line.seed === seed)) continue;
      const line = await runSystem(entry, system, seed);
      keepLine(line);
      const scores =
        line.failure ??
        `C ${line.concordance}, ECE ${line.ece}, worst ${line.worstEce}, IBS ${line.ibs}, ${line.seconds} s`;
      console.log(`${line.table} ${system} seed ${seed}: ${scores}`);
    }
  }
}
