/**
 * Parts of the study of holding (binding.ts) that are a few lines each: "size", the default run on 200,000 simulated
 * people; "jump", 200,000 and 1,000,000 rows of 20 columns whose hazard is eight times as high in one tenth of the
 * time, which no smooth baseline has; "many groups", 300 groups told or 23, Cox, and MCBoostSurv told of the 300 after
 * a network that is told of none, all scored on the 300.
 */
import { type Backend, boost } from "graduate-survival";
import { createRandom, exp } from "graduate-survival/core";
import {
  ALL_GROUP,
  binOutcomes,
  type Group,
  groupsFromFile,
  joinRows,
  parseGroupsFile,
  pickOutcomes,
  readOutcomes,
  splitByOrder,
  type Table,
} from "graduate-survival/data";
import { applyBoost } from "graduate-survival/repair";
import { drawExponential } from "../eye/draw.ts";
import { simulateEye } from "../eye/simulate.ts";
import { scoreAgainstTruth } from "../eye/truth.ts";
import { readCheckout, VERSION } from "../runs/checkout.ts";
import {
  auditCurves,
  fitModel,
  membersAmong,
  predictRows,
  timeGridOf,
  trainingSupports,
} from "../runs/fit.ts";
import {
  type BindingPlan,
  type BindingScores,
  type BindingVerdict,
  peopleOf,
  readBindingScores,
  readBindingVerdict,
} from "./binding.ts";
import {
  type BindingPeople,
  type BindingSystem,
  type FittedBinding,
  fitBindingSystem,
} from "./binding-systems.ts";
import { crossGroups } from "./cross-groups.ts";
import { appendLine, readLines, round, secondsSince } from "./lines.ts";

interface PartLine extends BindingVerdict {
  readonly seed: number;
  readonly rows: number;
  readonly seconds: number;
  readonly endSeconds: number | null;
  /** The most that the process has held so far. */
  readonly megabytes: number;
  readonly version: string;
}

export interface SizeLine extends PartLine, BindingScores {
  readonly part: "size";
  readonly groups: number;
}

export interface JumpLine extends PartLine {
  readonly part: "jump";
  readonly columns: number;
  /** By how much the hazard is multiplied. */
  readonly jump: number;
  /** The verdict on everyone. */
  readonly everyone: string;
  /** On the test rows. */
  readonly largestZ: number;
  readonly logrankIndividualP: number;
}

export interface ManyGroupsLine extends PartLine, BindingScores {
  readonly part: "many groups";
  readonly system: string;
  readonly told: number;
  /** Scored. */
  readonly groups: number;
}

export type BindingPartLine = SizeLine | JumpLine | ManyGroupsLine;

/** How much is run; less to try it out. The smallest comes first, since memory is the most of the process so far. */
export const PART_SIZES = { large: 200_000, largest: 1_000_000, jumpColumns: 20, many: 20_000, groups: 300 };
const SEEDS = { size: 1301, jump: 1301, many: 1302 } as const;
const SIZE_GROUPS = ["age 75 and over", "Malay in 1-2 room housing", "eye medication"];
const JUMP = 8;

const MANY_SYSTEMS: readonly {
  readonly name: string;
  readonly system: BindingSystem;
  readonly told: "none" | "named" | "many";
  /** Repaired afterwards for all 300. */
  readonly boosted?: true;
}[] = [
  { name: "cox", system: "cox", told: "none" },
  { name: "MCBoostSurv, 300 groups", system: "no solve of groups", told: "none", boosted: true },
  { name: "held, 23 groups", system: "held", told: "named" },
  { name: "held, 300 groups", system: "held", told: "many" },
];

/** How many lines the parts have. */
export const PART_LINES = MANY_SYSTEMS.length + 3;

/** Runs the parts that the file has no line of. */
export async function runBindingParts(
  plan: BindingPlan,
  backend: Backend,
  out: string,
  {
    sizes = PART_SIZES,
    said = () => {},
  }: { sizes?: typeof PART_SIZES; said?: (line: BindingPartLine) => void } = {},
): Promise<void> {
  const isMissing = (part: string, { system, rows }: { system?: string; rows?: number } = {}) =>
    !readLines<BindingPartLine>(out).some(
      (line) =>
        line.part === part &&
        (system === undefined || ("system" in line && line.system === system)) &&
        (rows === undefined || line.rows === rows),
    );
  const keep = (line: BindingPartLine) => {
    appendLine(out, line);
    said(line);
  };
  for (const one of MANY_SYSTEMS)
    if (isMissing("many groups", { system: one.name })) keep(await runMany(plan, backend, sizes, one));
  const { large, largest, jumpColumns } = sizes;
  if (isMissing("jump", { rows: large })) keep(await runJump(plan, backend, large, jumpColumns));
  if (isMissing("size")) keep(await runSize(plan, backend, sizes));
  if (isMissing("jump", { rows: largest })) keep(await runJump(plan, backend, largest, jumpColumns));
}

function openNamed(
  { level, censoring, split: fractions, groups: path }: BindingPlan,
  seed: number,
  n: number,
) {
  const eye = simulateEye({ seed, n, level, censoring });
  const split = splitByOrder(n, { seed, fractions });
  const file = parseGroupsFile(readCheckout(path), path);
  const named = groupsFromFile(file, eye.table, split.train, { exclude: ["time", "event"] });
  return { eye, split, named: named.filter(({ name }) => name !== ALL_GROUP.name) };
}

const measureMegabytes = () => Math.round(process.resourceUsage().maxRSS / 1024);

/** Fits with the people's own groups; scores on everyone and `scored`. */
async function fitAndScore(
  plan: BindingPlan,
  backend: Backend,
  system: BindingSystem,
  people: BindingPeople,
  scored: readonly Group[],
  finish: (fitted: FittedBinding) => Promise<FittedBinding> = async (fitted) => fitted,
) {
  const started = performance.now();
  const fitted = await finish(await fitBindingSystem(system, people, {}, backend));
  const seconds = secondsSince(started);
  const megabytes = measureMegabytes();
  const { grid, predictCurves, endSeconds } = fitted;
  const settings = { ...people.settings, seed: people.seed + plan.truthSeedOffset, n: plan.truthPeople };
  const groups = [ALL_GROUP, ...scored];
  const supports = trainingSupports({ ...people, groups }, grid);
  const scores = await scoreAgainstTruth({ settings, groups, supports, grid, predictCurves });
  const { table, seed } = people;
  const verdict = readBindingVerdict(fitted);
  return {
    seed,
    rows: table.rows,
    ...readBindingScores(scores),
    ...verdict,
    seconds,
    endSeconds,
    megabytes,
    version: VERSION,
  };
}

async function runSize(plan: BindingPlan, backend: Backend, { large }: typeof PART_SIZES): Promise<SizeLine> {
  const { eye, split, named } = openNamed(plan, SEEDS.size, large);
  const told = named.filter(({ name }) => SIZE_GROUPS.includes(name));
  const people = peopleOf(eye, split, [ALL_GROUP, ...told]);
  return { part: "size", groups: told.length, ...(await fitAndScore(plan, backend, "held", people, told)) };
}

async function runMany(
  plan: BindingPlan,
  backend: Backend,
  { many, groups: limit }: typeof PART_SIZES,
  { name, system, told, boosted }: (typeof MANY_SYSTEMS)[number],
): Promise<ManyGroupsLine> {
  const { eye, split, named } = openNamed(plan, SEEDS.many, many);
  const crossed = crossGroups(eye.table, split.train, limit);
  const own = { none: [], named, many: crossed }[told];
  const people = peopleOf(eye, split, [ALL_GROUP, ...own]);
  const finish = boosted && ((fitted: FittedBinding) => boostCurves(people, crossed, fitted));
  return {
    part: "many groups",
    system: name,
    told: own.length,
    groups: crossed.length,
    ...(await fitAndScore(plan, backend, system, people, crossed, finish)),
  };
}

/** MCBoostSurv on the validation rows, with as many rounds as folds of them allow. */
async function boostCurves(
  { table, outcomes, split, seed }: BindingPeople,
  groups: readonly Group[],
  fitted: FittedBinding,
): Promise<FittedBinding> {
  const { grid, predictTable } = fitted;
  const rows = joinRows(split.validation, split.test);
  const places = Int32Array.from(rows.keys());
  const isFitted = (place: number) => split.validation.includes(rows[place]);
  const { boost: repair } = boost(
    {
      curves: await predictTable(table, rows),
      outcomes: binOutcomes(pickOutcomes(outcomes, rows), grid),
      groups: membersAmong(groups, table, rows).filter((members) => members.rows.length > 0),
    },
    { fit: places.filter(isFitted), held: places.filter((place) => !isFitted(place)) },
    { method: "mcboost", seed },
  );
  return {
    ...fitted,
    predictCurves: async (one) =>
      applyBoost(repair, await predictTable(one), { groups: membersAmong(groups, one) }),
  };
}

async function runJump(
  { split: fractions }: BindingPlan,
  backend: Backend,
  rows: number,
  columns: number,
): Promise<JumpLine> {
  const seed = SEEDS.jump;
  const table = drawJump(seed, rows, columns);
  const split = splitByOrder(rows, { seed, fractions });
  const groups = [
    { name: "x1 above 0", expression: "x1 > 0" },
    { name: "x2 above 1", expression: "x2 > 1" },
  ];
  const started = performance.now();
  const model = await fitModel(table, { time: "time", event: "event", groups, split, seed }, backend);
  const seconds = secondsSince(started);
  const megabytes = measureMegabytes();
  const curves = await predictRows(model, table, split.test, backend);
  const outcomes = pickOutcomes(readOutcomes(table, { time: "time", event: "event" }), split.test);
  const binned = binOutcomes(outcomes, timeGridOf(model));
  const { overall } = await auditCurves(curves, binned, membersAmong(groups, table, split.test), {
    draws: 0,
  });
  return {
    part: "jump",
    seed,
    rows,
    columns,
    jump: JUMP,
    everyone: model.training.verdict.find(({ group }) => group === ALL_GROUP.name)?.status ?? "not judged",
    ...readBindingVerdict({ model }),
    largestZ: round(overall.distanceVariance ?? Number.NaN, 4),
    logrankIndividualP: round(overall.logrankIndividual.p ?? Number.NaN, 6),
    seconds,
    endSeconds: null,
    megabytes,
    version: VERSION,
  };
}

/** Proportional hazards of the columns; the baseline is 1 on [0, 1) but for [.4, .5); censored evenly on [.2, 1). */
export function drawJump(seed: number, rows: number, columns: number): Table {
  const random = createRandom(seed, 0x1a3b);
  const values = Array.from({ length: columns }, () => new Float64Array(rows));
  const time = new Float64Array(rows);
  const event = new Float64Array(rows);
  for (let i = 0; i < rows; i++) {
    let score = 0;
    for (let j = 0; j < columns; j++) {
      values[j][i] = round(random.normal(), 3);
      score += (values[j][i] * (j % 2 === 0 ? 0.3 : -0.2)) / Math.sqrt(1 + j);
    }
    const own = timeOfHazard(drawExponential(random) / (0.3 * exp(score)));
    const censored = 0.2 + 0.8 * random.uniform();
    time[i] = round(Math.max(1e-5, Math.min(own, censored)), 5);
    event[i] = own <= censored ? 1 : 0;
  }
  const asColumn = (name: string, of: Float64Array) => ({ name, type: "number" as const, values: of });
  const features = values.map((of, j) => asColumn(`x${j + 1}`, of));
  return { name: "jump", rows, columns: [...features, asColumn("time", time), asColumn("event", event)] };
}

/** Where the cumulated baseline reaches a value. */
function timeOfHazard(total: number): number {
  if (total < 0.4) return total;
  const within = 0.4 + (total - 0.4) / JUMP;
  return within < 0.5 ? within : 0.5 + (total - 0.4 - 0.1 * JUMP);
}
