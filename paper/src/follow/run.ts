/**
 * Runs of the study of late entry, changing covariates and weights: a table is read and divided by person, a system
 * learns from its training and validation rows, and its curves are scored, against the truth for simulated people and
 * against the test rows of a public table (scores.ts).
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Backend, type FitRequest, fit, predictPeople, prepare } from "graduate-survival";
import {
  ALL_GROUP,
  equalTimeGrid,
  findColumn,
  fitTimeGrid,
  type Group,
  joinRows,
  parseNamedGroup,
  pickOutcomes,
  readPeople,
  type Split,
  splitByOrder,
  type Table,
} from "graduate-survival/data";
import { VERSION } from "../runs/checkout.ts";
import { joinSplit, membersAmong, START } from "../runs/fit.ts";
import { secondsSince } from "../studies/lines.ts";
import { formatNumbers, formatRows, readMatrix, runScript } from "../studies/peer-files.ts";
import {
  addTerms,
  errorOfGroup,
  findFreshGroups,
  integratedSquaredError,
  openText,
} from "../studies/truth.ts";
import { drawFresh, LAW_GROUPS, simulatePatients, trueSurvival } from "./law.ts";
import {
  type FollowLawLine,
  type FollowLine,
  type FollowPlan,
  type FollowRun,
  type FollowTable,
  type FollowTableLine,
  LAW_PART,
} from "./plan.ts";
import { type OneCause, scoreFollowed } from "./scores.ts";

interface FollowTraining {
  /** Settings of training, for tests. */
  readonly training?: Pick<FitRequest, "ensemble" | "options" | "bins">;
}

/** Where runs find what they need. */
export interface FollowHome extends FollowTraining {
  readonly backend: Backend;
  /** R with survival. */
  readonly rscript: string;
  /** The folder of the public tables. */
  readonly data?: string;
}

type Columns = Pick<FitRequest, "time" | "event" | "entry" | "start" | "id" | "weights">;

/** A table, its outcome, its rows and its groups. */
interface FollowStudy {
  readonly table: Table;
  readonly request: Columns;
  readonly outcomes: OneCause;
  readonly features: readonly string[];
  readonly split: Split;
  readonly groups: readonly Group[];
  /** The end of a model's last bin, which is the largest training time but for rounding. */
  readonly horizon: number;
}

const OUTCOME = { time: "time", event: "event" } as const;
const COLUMNS: Readonly<Record<FollowTable["rows"], Columns>> = {
  "start-stop": { ...OUTCOME, start: "start", id: "id" },
  entry: { ...OUTCOME, entry: "entry" },
  weights: { ...OUTCOME, weights: "weight" },
};

export function createFollowRunner(
  plan: FollowPlan,
  home: FollowHome,
): (run: FollowRun) => Promise<FollowLine> {
  return async (run) => {
    if (run.part === LAW_PART) return runLaw(plan, run, home);
    const table = plan.tables.tables.find(({ name }) => name === run.part);
    if (table === undefined) throw new Error(`no part of the plan: ${run.part}`);
    return runTable(plan, table, run, home);
  };
}

/** Rows without weight are nobody's to learn from; all test rows are judged. */
function dropUnweighted(split: Split, table: Table, weights: string | undefined): Split {
  if (weights === undefined) return split;
  const column = findColumn(table, weights);
  if (column.type !== "number") throw new Error(`${weights} holds no numbers`);
  const weighed = (rows: Int32Array) => rows.filter((row) => column.values[row] > 0);
  return { train: weighed(split.train), validation: weighed(split.validation), test: split.test };
}

function openStudy(
  table: Table,
  request: Columns,
  wheres: readonly string[],
  seed: number,
  { fractions, training: { bins } = {} }: { readonly fractions: FollowPlan["split"] } & FollowTraining,
): FollowStudy {
  const people = request.id === undefined ? undefined : readPeople(table, request.id);
  const drawn = splitByOrder(table.rows, { seed, fractions, ...(people === undefined ? {} : { people }) });
  const split = dropUnweighted(drawn, table, request.weights);
  const groups = wheres.map((where) => parseNamedGroup(where));
  const asked = { ...request, split, seed, ...(bins === undefined ? {} : { bins }) };
  const { outcomes, features, grid } = prepare(table, asked);
  const horizon = grid.edges[grid.T];
  return { table, request, outcomes: outcomes as OneCause, features, split, groups, horizon };
}

/** Whom to predict, and when. */
interface Wanted {
  readonly people: Table;
  readonly rows?: Int32Array;
  readonly times: Float64Array;
}

/** S(t|x) of a system at the times, [N,times]. */
async function predictSystem(
  study: FollowStudy,
  { seed, system }: FollowRun,
  wanted: Wanted,
  { backend, rscript, training = {} }: FollowHome,
): Promise<Float64Array> {
  const { table, request, split, groups } = study;
  if (system.startsWith("cox")) return predictCox(study, system, wanted, rscript);
  const told = system === "without groups" ? {} : { groups };
  const asked = { ...request, seed, ...training, ...told };
  const model = await fit(
    table,
    system === "start" ? { ...asked, ...START, split: joinSplit(split) } : { ...asked, split },
    backend,
  );
  const at = Array.from(wanted.times);
  return (await predictPeople(model, wanted.people, backend, { at }, wanted.rows)).survival;
}

/** A Cox model of R, from its cumulative hazards. */
function predictCox(
  study: FollowStudy,
  system: FollowRun["system"],
  { people, rows, times }: Wanted,
  rscript: string,
): Float64Array {
  const { table, split, groups, features, outcomes } = study;
  const terms = system === "cox with group terms" ? groups : [];
  const { wide, added } = addTerms(table, terms);
  const columns = [...features, ...added];
  const { time, event, entry } = outcomes;
  const weight = system === "cox without weights" ? undefined : outcomes.weight;
  const lead = { time, event, ...(entry && { entry }), ...(weight && { weight }) };
  const learn = joinRows(split.train, split.validation);
  const cells = (row: number) => Object.values(lead).map((values) => values[row]);
  const everyone = rows ?? Int32Array.from({ length: people.rows }, (_, row) => row);
  const text = runScript({
    name: system,
    program: rscript,
    script: "follow.R",
    argumentsOf: (folder) => [folder],
    files: {
      "learn.csv": formatRows(wide, columns, learn, { names: Object.keys(lead), cells }),
      "people.csv": formatRows(addTerms(people, terms).wide, columns, everyone),
      "times.csv": formatNumbers(times),
    },
    leaves: "H.csv",
  });
  return readMatrix(text, everyone.length, times.length, "cumulative hazards").map((H) => Math.exp(-H));
}

async function runLaw(plan: FollowPlan, run: FollowRun, home: FollowHome): Promise<FollowLawLine> {
  const { seed } = run;
  const { law } = plan;
  const table = await openText("patients.csv", simulatePatients(law.people, seed));
  const columns = { time: "stop", event: "died", start: "start", id: "id" };
  const study = openStudy(table, columns, LAW_GROUPS, seed, { ...home, fractions: plan.split });
  const fresh = drawFresh(law.truthPeople, seed + law.truthSeedOffset);
  const people = await openText("fresh.csv", fresh.text);
  const times = Float64Array.from({ length: law.times.count }, (_, k) => (k + 1) * law.times.step);
  const started = performance.now();
  const survival = await predictSystem(study, run, { people, times }, home);
  const seconds = secondsSince(started);
  const truth = fresh.people.map(({ patient, isTreated }) => trueSurvival(patient, isTreated, times));
  const scores = scoreTruth(study, people, times, { survival, truth });
  return { kind: "law", ...run, ...scores, seconds, version: VERSION };
}

function scoreTruth(
  study: FollowStudy,
  people: Table,
  times: Float64Array,
  { survival, truth }: { readonly survival: Float64Array; readonly truth: readonly Float64Array[] },
): Pick<FollowLawLine, "errors" | "ise"> {
  const T = times.length;
  const gapAt = (row: number, t: number) => survival[row * T + t] - truth[row][t];
  const groups = findFreshGroups(study, people, times);
  const errors = groups.map((group) => [group.name, errorOfGroup(group, gapAt)]);
  return { errors: Object.fromEntries(errors), ise: integratedSquaredError(truth.length, T, gapAt) };
}

async function runTable(
  plan: FollowPlan,
  one: FollowTable,
  run: FollowRun,
  home: FollowHome,
): Promise<FollowTableLine> {
  if (home.data === undefined) throw new Error("public tables need --data");
  const table = await openText(`${one.name}.csv`, readFileSync(join(home.data, `${one.name}.csv`), "utf8"));
  const request = COLUMNS[one.rows];
  const study = openStudy(table, request, one.groups, run.seed, { ...home, fractions: plan.split });
  const { split, groups, horizon } = study;
  const learn = joinRows(split.train, split.validation);
  const grid = equalTimeGrid(plan.bins, horizon);
  const { weight: _weight, ...unweighted } = study.outcomes;
  const learnt = pickOutcomes(unweighted, learn);
  const intervals = fitTimeGrid(learnt, { T: plan.intervals, horizon, kind: "quantile" });
  const ends = [grid, intervals].map(({ edges }) => edges.subarray(1).map((time) => Math.min(time, horizon)));
  const times = Float64Array.from(new Set(ends.flatMap((own) => Array.from(own)))).sort();
  const started = performance.now();
  const survival = await predictSystem(study, run, { people: table, rows: split.test, times }, home);
  const seconds = secondsSince(started);
  const take = (own: Float64Array) => takeTimes(survival, times, own);
  const scores = scoreFollowed({
    outcomes: pickOutcomes(unweighted, split.test),
    learnt,
    grid,
    survival: take(ends[0]),
    intervals,
    atIntervals: take(ends[1]),
    leastRate: plan.leastRate / horizon,
    members: membersAmong([ALL_GROUP, ...groups], table, split.test),
  });
  const people = { learnt: countPeople(study, learn), test: countPeople(study, split.test) };
  return { kind: "table", ...run, people, ...scores, seconds, version: VERSION };
}

/** The values of every row at some of the times. */
function takeTimes(survival: Float64Array, times: Float64Array, wanted: Float64Array): Float64Array {
  const places = Array.from(wanted, (time) => times.indexOf(time));
  const N = survival.length / times.length;
  return Float64Array.from({ length: N * places.length }, (_, k) => {
    const row = Math.floor(k / places.length);
    return survival[row * times.length + places[k % places.length]];
  });
}

function countPeople({ outcomes: { id } }: FollowStudy, rows: Int32Array): number {
  return id === undefined ? rows.length : new Set(Array.from(rows, (row) => id[row])).size;
}
