/**
 * Turns what the library returns into what a report shows: curves, outcomes, groups and their audit go in; every number
 * on the page comes out. It takes only the shapes it needs, so a model, another program's curves or a browser's state
 * will all do. To the audit it adds each group's curve beside Kaplan-Meier, the verdicts, calibration by predicted risk
 * at round times, and mean curves by predicted risk. Three people's own curves are added only when rows are asked for.
 * It changes no score.
 */

import { InputError } from "../../core/errors.ts";
import { present } from "../../core/present.ts";
import type { Curves } from "../../data/curves/curves.ts";
import type { BinnedSingleCause } from "../../data/outcomes/outcomes.ts";
import type { Certificates } from "../../stats/certificates/certificates.ts";
import { groupSupport, kaplanMeier } from "../../stats/kaplan-meier.ts";
import { areHistories } from "../../stats/scores/history-scores.ts";
import type { SetSizes } from "../../study/split.ts";
import { chooseMoments, tellTime } from "../words/report-time.ts";
import {
  countRejections,
  DEFAULT_TOLERANCE,
  type JudgedGroup,
  type JudgedScores,
  judgeGroups,
} from "../words/report-words.ts";
import { calibrateByRisk, chooseExamples, cutByRisk, measureCurve } from "./compare-curves.ts";
import { describeTraining, listSettings, type ReportedModel } from "./describe-model.ts";
import type {
  AuditedRelation,
  ReportCohort,
  ReportData,
  ReportFinding,
  ReportGroup,
  ReportProvenance,
  ReportSubject,
  ReportTime,
} from "./report-data.ts";
import { findRevealing, forPage } from "./small-cells.ts";

/**
 * What a report is made from: curves, outcomes, groups and their audit, and the model and its training if there is one.
 */
export interface GatherInput {
  /** The page's title. */
  readonly title: string;
  /** Predicted survival of each person at the end of every bin. */
  readonly curves: Curves;
  /** The bin in which each person had the event or was censored. */
  readonly binned: BinnedSingleCause;
  /** The times as observed; without them a person's time is the end of the bin. */
  readonly outcomes?: { readonly time: Float64Array; readonly event: Uint8Array };
  /** The time grid of the curves. */
  readonly grid: { readonly T: number; readonly edges: ArrayLike<number> }; // edges [T+1]
  /** The name and unit of time, such as "days"; "time" by default. */
  readonly timeLabel?: string;
  /** In the order in which they were audited, without the group of everyone. */
  readonly groups: readonly {
    readonly name: string;
    readonly expression?: string;
    readonly rows: Int32Array;
  }[];
  /** The scores, as `audit` returns them. */
  readonly audit: {
    readonly overall: JudgedScores;
    readonly groups: readonly JudgedScores[];
    readonly certificates?: Certificates;
  };
  /** Which columns hold the outcome, and how the event was read. */
  readonly outcome?: {
    readonly event: string;
    readonly rule?: string;
    readonly time?: string;
    /** The date that times are counted from, where the time column is a date. */
    readonly origin?: string;
  };
  /** The person each row belongs to, where people have several rows and were audited by person. */
  readonly people?: { readonly count: number };
  /** How far off a curve may be on average over time, in survival, to be acceptable to the reader (0.05). */
  readonly tolerance?: number;
  /** Shows three people's own curves, with row number, time and outcome. */
  readonly showRows?: boolean;
  /** Prints counts of people under five as they are. */
  readonly showSmallCells?: boolean;
  /** What the checks say about the table. */
  readonly findings?: readonly ReportFinding[];
  /** Which rows of which table were audited. */
  readonly cohort: {
    readonly table: string;
    readonly rows?: number;
    readonly excluded?: ReportCohort["excluded"];
    /** The sizes of the table's parts, if the audited rows are one part of the table a model was trained on. */
    readonly split?: SetSizes;
    /** Which rows were audited, such as "test rows". */
    readonly which: string;
    /** How these rows relate to the model; unknown by default. */
    readonly relation?: AuditedRelation;
  };
  /** The 1-based number in the table of each row of `curves`; 1…N by default. */
  readonly rowNumbers?: ArrayLike<number>;
  /** The model, if there is one; its training is then shown too. */
  readonly model?: ReportedModel;
  /** The program, the command and the files the page came from. */
  readonly provenance: ReportProvenance;
}

/** Everything that the report shows, as data. */
export function gatherReport(input: GatherInput): ReportData {
  const { curves, binned, audit, model, tolerance = DEFAULT_TOLERANCE } = input;
  refuseOtherGroups(input);
  const { time, divisor } = describeTime(input);
  const { edges, audited } = time;
  const judged = judgeAudited(input, time, tolerance);
  const revealing = input.showSmallCells === true ? new Set<string>() : listRevealing(input);
  const groups = judged.filter(({ name }, g) => g === 0 || !revealing.has(name));
  const tested = groups.slice(1).filter(({ verdict }) => verdict.look !== "few");
  const times = input.outcomes
    ? input.outcomes.time.map((one) => one / divisor)
    : Float64Array.from(binned.bin, (bin) => edges[bin]);
  const observed = { time: times, event: input.outcomes?.event ?? binned.event };
  const { certificates } = audit;
  return {
    title: input.title,
    subject: describeSubject(input),
    time,
    tolerance,
    hidesSmallCells: input.showSmallCells !== true,
    withheld: judged.slice(1).flatMap(({ name }) => (revealing.has(name) ? [name] : [])),
    cohort: describeCohort(input, times),
    findings: (input.findings ?? []).map((finding) => forPage(finding, input)),
    overall: groups[0],
    groups: groups.slice(1),
    ...present({
      certificates: certificates && { alpha: certificates.alpha, assumes: certificates.assumes },
    }),
    rejections: {
      ece: countRejections(tested.map(({ scores }) => scores.noiseFloor?.p ?? null)),
      logrank: countRejections(tested.map(({ scores }) => scores.logrankIndividual.p)),
    },
    calibration: areHistories(binned)
      ? []
      : chooseMoments(edges[audited]).map((moment) => calibrateByRisk(curves, observed, edges, moment)),
    bands: areHistories(binned) ? [] : cutByRisk(curves, binned, audited),
    ...(model?.columns?.start === undefined ? {} : { staysAsItIs: true }),
    examples: input.showRows === true ? chooseExamples(input, times, audited) : [],
    training: model === undefined ? null : describeTraining(model, input, revealing),
    modelSettings: model === undefined ? [] : listSettings(model),
    provenance: input.provenance,
  };
}

/** Groups from which a few of the audited people, or of those the model learnt from, would follow. */
function listRevealing({ groups, curves, model }: GatherInput): ReadonlySet<string> {
  const audited = groups.map((group) => ({ ...group, n: group.rows.length }));
  const learnt = (model?.training.verdict ?? []).map(({ group, n }) => ({ name: group, n }));
  const all = learnt.find(({ name }) => name === "all")?.n ?? 0;
  const named = learnt
    .filter(({ name }) => name !== "all")
    .map((one) => ({
      ...one,
      ...present({ expression: groups.find(({ name }) => name === one.name)?.expression }),
    }));
  return new Set([...findRevealing(audited, curves.N), ...findRevealing(named, all)]);
}

function refuseOtherGroups({ audit, groups }: GatherInput): void {
  const isSame =
    audit.groups.length === groups.length && groups.every(({ name }, g) => name === audit.groups[g].name);
  if (isSame) return;
  throw new InputError("the audit and the report have different groups", {
    code: "report.groups",
    hint: "hand over the groups that were audited, in the same order",
  });
}

/** The grid in the unit that is shown, and how many of the table's own units make one of it. */
function describeTime({ grid, binned, timeLabel: given = "time" }: GatherInput): {
  readonly time: ReportTime;
  readonly divisor: number;
} {
  const { divisor, ...told } = tellTime(grid.edges, given);
  return {
    time: {
      ...told,
      given: divisor === 1 ? null : { label: given, divisor },
      audited: groupSupport(binned),
    },
    divisor,
  };
}

function describeSubject({ outcome, cohort }: GatherInput): ReportSubject {
  return {
    event: outcome ? { column: outcome.event, rule: outcome.rule ?? null } : null,
    timeColumn: outcome?.time ?? null,
    originColumn: outcome?.origin ?? null,
    relation: cohort.relation ?? "unknown",
  };
}

/** Everyone first, then the groups: scores, curve and verdict of each. The groups are judged together. */
function judgeAudited(
  { curves, binned, groups, audit }: GatherInput,
  time: ReportTime,
  tolerance: number,
): readonly ReportGroup[] {
  const everyone = Int32Array.from({ length: curves.N }, (_, row) => row);
  const members = [everyone, ...groups.map(({ rows }) => rows)];
  const scored = [audit.overall, ...audit.groups];
  const curvesOf = members.map((rows) => measureCurve(curves, binned, rows, time.edges));
  const judged = scored.map((scores, g): JudgedGroup => ({ scores, gap: curvesOf[g].gap }));
  const verdicts = judgeGroups(judged, time, tolerance);
  return scored.map((scores, g): ReportGroup => {
    const expression = groups[g - 1]?.expression;
    return {
      name: scores.name,
      expression: expression === undefined || expression === scores.name ? null : expression,
      scores,
      verdict: verdicts[g],
      curve: curvesOf[g],
      ...present({ certificate: audit.certificates?.groups[g] }),
    };
  });
}

function describeCohort(
  { cohort, binned, model, outcomes, people, audit }: GatherInput,
  times: Float64Array,
): ReportCohort {
  const event = outcomes?.event ?? binned.event;
  const isHistory = areHistories(binned);
  const events = isHistory ? audit.overall.events : event.reduce((sum, one) => sum + one, 0);
  // Censoring is taken as the event: this is how long people would have been followed had nobody had the event.
  const followUp = kaplanMeier({ time: times, event: event.map((one) => 1 - one) });
  const half = followUp.survival.findIndex((S) => S <= 0.5);
  return {
    table: cohort.table,
    rows: cohort.rows ?? null,
    excluded: cohort.excluded ?? [],
    split: cohort.split ?? null,
    trainedOn: model?.training.rows ?? null,
    audited: {
      which: cohort.which,
      rows: event.length,
      people: people === undefined || people.count === event.length ? null : people.count,
      events,
      censored: event.length - events,
      medianFollowUp: half < 0 || isHistory ? null : followUp.time[half],
    },
  };
}
