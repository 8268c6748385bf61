/**
 * Runs of the study of competing causes: a table is read and divided, a system learns from its training and validation
 * rows, and its incidences are scored, against the truth for simulated people (parts A and B) and against the test rows
 * of a public table. Scores:
 *   true error of a group and a cause   √(mean over times of (mean F_k − mean true F_k)²), over its fresh people
 *   ISE of a cause                      mean over fresh people and times of (F_k − true F_k)²
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Backend, type FitRequest, fit, predictPeople, prepare } from "graduate-survival";
import {
  ALL_GROUP,
  type Group,
  joinRows,
  type Outcomes,
  parseNamedGroup,
  type Split,
  splitByOrder,
  type Table,
} from "graduate-survival/data";
import { VERSION } from "../runs/checkout.ts";
import { joinSplit, membersAmong, START } from "../runs/fit.ts";
import { secondsSince } from "../studies/lines.ts";
import {
  addTerms,
  errorOfGroup,
  findFreshGroups,
  integratedSquaredError,
  openText,
} from "../studies/truth.ts";
import { CAUSES, LAW_GROUPS, simulateValves, trueIncidence } from "./law.ts";
import { type PeerPrograms, runPeer } from "./peers.ts";
import type { CauseLine, CauseRun, CausesPlan, CauseTable, LawLine, TableLine } from "./plan.ts";
import { scoreTestRows } from "./scores.ts";

/** Where runs find what they need. */
export interface CausesHome {
  readonly backend: Backend;
  readonly programs: PeerPrograms;
  /** The folder of the public tables. */
  readonly data?: string;
  /** Settings of training, for tests. */
  readonly training?: Pick<FitRequest, "ensemble" | "options" | "bins">;
}

/** A table, its outcome, its rows and its groups. */
interface CauseStudy {
  readonly table: Table;
  readonly request: Pick<FitRequest, "time" | "event" | "causes" | "censored" | "entry">;
  readonly outcomes: Outcomes;
  readonly features: readonly string[];
  readonly split: Split;
  readonly groups: readonly Group[];
  readonly K: number;
}

export function createCausesRunner(
  plan: CausesPlan,
  home: CausesHome,
): (run: CauseRun) => Promise<CauseLine> {
  return async (run) => {
    const part = plan.parts.find((one) => one.part === run.part);
    if (part !== undefined) return runLaw(plan, part.late, run, home);
    const table = plan.tables.tables.find(({ name }) => name === run.part);
    if (table === undefined) throw new Error(`no part of the plan: ${run.part}`);
    return runTable(plan, table, run, home);
  };
}

function openStudy(
  table: Table,
  request: CauseStudy["request"],
  wheres: readonly string[],
  { seed, fractions }: { readonly seed: number; readonly fractions: CausesPlan["split"] },
): CauseStudy {
  const split = splitByOrder(table.rows, { seed, fractions });
  const groups = wheres.map((where) => parseNamedGroup(where));
  const { outcomes, features } = prepare(table, { ...request, split, seed });
  return { table, request, outcomes, features, split, groups, K: request.causes?.length ?? 0 };
}

/** F_k(t|x) of a system at the times. */
async function predictSystem(
  study: CauseStudy,
  { seed, system }: CauseRun,
  wanted: { readonly people: Table; readonly rows?: Int32Array; readonly times: Float64Array },
  { backend, programs, training = {} }: CausesHome,
): Promise<Float64Array> {
  const { table, request, split, groups, outcomes, K } = study;
  const { people, rows, times } = wanted;
  if (system === "graduate" || system === "without groups" || system === "start") {
    const told = system === "without groups" ? {} : { groups };
    const asked = { ...request, seed, ...training, ...told };
    const model = await fit(
      table,
      system === "start" ? { ...asked, ...START, split: joinSplit(split) } : { ...asked, split },
      backend,
    );
    const { causes } = await predictPeople(model, people, backend, { at: Array.from(times) }, rows);
    if (causes === null) throw new Error("the model tells no causes apart");
    return causes.risk;
  }
  const terms = system === "cox with group terms" ? groups : [];
  const { wide, added } = addTerms(table, terms);
  return runPeer(
    system,
    {
      table: wide,
      people: addTerms(people, terms).wide,
      outcomes,
      learn: joinRows(split.train, split.validation),
      ...(rows === undefined ? {} : { predict: rows }),
      features: [...study.features, ...added],
      times,
      K,
      seed,
    },
    programs,
  );
}

async function runLaw(plan: CausesPlan, late: boolean, run: CauseRun, home: CausesHome): Promise<LawLine> {
  const { seed } = run;
  const table = await openText("valves.csv", simulateValves(plan.people, seed, late).text);
  const columns = { time: "months", event: "outcome", causes: CAUSES, censored: "none" };
  const request = late ? { ...columns, entry: "entry" } : columns;
  const study = openStudy(table, request, LAW_GROUPS, { seed, fractions: plan.split });
  const fresh = simulateValves(plan.truthPeople, seed + plan.truthSeedOffset, false);
  const people = await openText("fresh.csv", fresh.text);
  const times = Float64Array.from({ length: plan.times.count }, (_, k) => (k + 1) * plan.times.step);
  const started = performance.now();
  const F = await predictSystem(study, run, { people, times }, home);
  const seconds = secondsSince(started);
  const truth = fresh.people.map((patient) => trueIncidence(patient, times));
  return {
    kind: "law",
    ...run,
    ...scoreTruth(study, people, times, { F, truth }),
    seconds,
    version: VERSION,
  };
}

function scoreTruth(
  { K, ...learnt }: CauseStudy,
  people: Table,
  times: Float64Array,
  { F, truth }: { readonly F: Float64Array; readonly truth: readonly Float64Array[] },
): Pick<LawLine, "errors" | "ise"> {
  const T = times.length;
  const causes = Array.from({ length: K }, (_, k) => k);
  const gapAt = (k: number) => (row: number, t: number) => F[(row * K + k) * T + t] - truth[row][k * T + t];
  const errors = findFreshGroups(learnt, people, times).map((group) => [
    group.name,
    causes.map((k) => errorOfGroup(group, gapAt(k))),
  ]);
  const ise = causes.map((k) => integratedSquaredError(truth.length, T, gapAt(k)));
  return { errors: Object.fromEntries(errors), ise };
}

async function runTable(
  plan: CausesPlan,
  one: CauseTable,
  run: CauseRun,
  home: CausesHome,
): Promise<TableLine> {
  if (home.data === undefined) throw new Error("public tables need --data");
  const table = await openText(`${one.name}.csv`, readFileSync(join(home.data, `${one.name}.csv`), "utf8"));
  const request = { time: "time", event: "event", causes: one.causes, censored: "censored" };
  const study = openStudy(table, request, one.groups, { seed: run.seed, fractions: plan.split });
  const { split, outcomes, groups, K } = study;
  const steps = plan.tables.times;
  const times = Float64Array.from({ length: steps }, (_, k) => ((k + 1) * one.horizon) / steps);
  const started = performance.now();
  const F = await predictSystem(study, run, { people: table, rows: split.test, times }, home);
  const seconds = secondsSince(started);
  const members = membersAmong([ALL_GROUP, ...groups], table, split.test);
  const scores = scoreTestRows({ outcomes, rows: split.test, members, times, F, K });
  const rows = { learnt: split.train.length + split.validation.length, test: split.test.length };
  return { kind: "table", ...run, rows, ...scores, seconds, version: VERSION };
}
