/**
 * From what the library returns to what a report shows: curves, outcomes, groups and their audit in; every number of the
 * page out. Takes the shapes it needs and no more, so a model, another program's curves or a browser's state all do. It adds
 * to the audit each group's curve beside Kaplan-Meier, the verdicts, calibration by predicted risk at round times, and mean
 * curves by predicted risk; three people's own curves only where rows are asked for. It changes no score.
 */
import { normalQuantile } from "../../core/distributions.ts";
import { InputError } from "../../core/errors.ts";
import { isAbsent } from "../../core/measured.ts";
import { meanCurve } from "../../stats/calibration/calibration.ts";
import type { Certificates } from "../../stats/certificates/certificates.ts";
import { groupSupport, kaplanMeier, kaplanMeierBinned } from "../../stats/kaplan-meier.ts";
import { chooseMoments, chooseTimeUnit } from "../words/report-time.ts";
import {
  countRejections,
  DEFAULT_TOLERANCE,
  type JudgedGroup,
  type JudgedScores,
  judgeGroups,
} from "../words/verdict.ts";
import { describeTraining, listSettings, type ReportedModel } from "./gather-training.ts";
import { withoutOwnValues, withoutRowNumbers } from "./mask-sentence.ts";
import type {
  AuditedRelation,
  ExampleCurve,
  GroupCurve,
  ReportCohort,
  ReportData,
  ReportFinding,
  ReportGroup,
  ReportProvenance,
  ReportTime,
  SplitSizes,
} from "./report-data.ts";
import { cutByRisk } from "./risk-bands.ts";
import { calibrateByRisk, type RiskCurves, type RiskOutcomes } from "./risk-calibration.ts";

/** What a report is made of: curves, outcomes, groups and their audit; the model and its training where there is one. */
export interface GatherInput {
  /** The page's title. */
  readonly title: string;
  /** Predicted survival of each person at the end of every bin. */
  readonly curves: RiskCurves;
  /** In which bin each person had the event or was censored. */
  readonly binned: RiskOutcomes;
  /** The times as observed; without them a person's time is the end of the bin. */
  readonly outcomes?: { readonly time: Float64Array; readonly event: Uint8Array };
  /** The time grid of the curves. */
  readonly grid: { readonly T: number; readonly edges: ArrayLike<number> }; // edges [T+1]
  /** The name and unit of time, as "days"; "time" unless given. */
  readonly timeLabel?: string;
  /** As they were audited, in that order, without everyone. */
  readonly groups: readonly {
    readonly name: string;
    readonly expression?: string;
    readonly rows: Int32Array;
  }[];
  /** The scores, as `audit` gives them. */
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
  /** Whose rows these are, where people have several and were audited by person. */
  readonly people?: { readonly count: number };
  /** How far off on average over time a curve may be for the reader, in survival (0.05). */
  readonly tolerance?: number;
  /** Three people's own curves, with row number, time and outcome. */
  readonly showRows?: boolean;
  /** Counts of people under five as they are. */
  readonly showSmallCells?: boolean;
  /** What the checks say of the table. */
  readonly findings?: readonly ReportFinding[];
  /** Which rows of which table were audited. */
  readonly cohort: {
    readonly table: string;
    readonly rows?: number;
    readonly excluded?: ReportCohort["excluded"];
    /** Where the audited rows are a part of the table that a model was trained on: the sizes of its parts. */
    readonly split?: SplitSizes;
    /** Which rows were audited, as "test rows". */
    readonly which: string;
    /** What they are to the model; not known unless given. */
    readonly relation?: AuditedRelation;
  };
  /** The 1-based number in the table of each row of `curves`; 1…N unless given. */
  readonly rowNumbers?: ArrayLike<number>;
  /** The model, where there is one: its training is shown too. */
  readonly model?: ReportedModel;
  /** The program, the command and the files the page came from. */
  readonly provenance: ReportProvenance;
}

/** The people whose curves are shown where rows are asked for: at these percentiles of predicted risk. */
const EXAMPLES = [
  { risk: "low", percentile: 10 },
  { risk: "middle", percentile: 50 },
  { risk: "high", percentile: 90 },
] as const;
const Z = normalQuantile(0.975);
/** Everything that the report shows, as data. */
export function gatherReport(input: GatherInput): ReportData {
  const { curves, binned, grid, groups, audit, model } = input;
  if (audit.groups.length !== groups.length || groups.some(({ name }, g) => name !== audit.groups[g].name)) {
    throw new InputError("the audit is of other groups than the report's", {
      code: "report.groups",
      hint: "hand over the groups that were audited, in the same order",
    });
  }
  const { tolerance = DEFAULT_TOLERANCE } = input;
  const given = input.timeLabel ?? "time";
  const { label, divisor } = chooseTimeUnit(given, grid.edges[grid.T]);
  const edges = Array.from(grid.edges, (edge) => edge / divisor);
  const everyone = Int32Array.from({ length: curves.N }, (_, row) => row);
  const members = [everyone, ...groups.map(({ rows }) => rows)];
  const scored = [audit.overall, ...audit.groups];
  const curvesOf = members.map((rows) => measureCurve(curves, binned, rows, edges));
  const judged = scored.map((scores, g): JudgedGroup => ({ scores, gap: curvesOf[g].gap }));
  const verdicts = judgeGroups(judged, grid.T, tolerance);
  const reported = scored.map((scores, g): ReportGroup => {
    const expression = groups[g - 1]?.expression;
    const certificate = audit.certificates?.groups[g];
    return {
      name: scores.name,
      expression: expression === undefined || expression === scores.name ? null : expression,
      scores,
      verdict: verdicts[g],
      curve: curvesOf[g],
      ...(certificate === undefined ? {} : { certificate }),
    };
  });
  const tested = reported.slice(1).filter(({ verdict }) => verdict.look !== "few");
  const times = input.outcomes
    ? input.outcomes.time.map((time) => time / divisor)
    : Float64Array.from(binned.bin, (bin) => edges[bin]);
  const observed = { time: times, event: input.outcomes?.event ?? binned.event };
  const supported = groupSupport(binned);
  const time: ReportTime = {
    label,
    edges,
    given: divisor === 1 ? null : { label: given, divisor },
    audited: supported,
  };
  return {
    title: input.title,
    subject: {
      event: input.outcome ? { column: input.outcome.event, rule: input.outcome.rule ?? null } : null,
      timeColumn: input.outcome?.time ?? null,
      originColumn: input.outcome?.origin ?? null,
      relation: input.cohort.relation ?? "unknown",
    },
    time,
    tolerance,
    hidesSmallCells: input.showSmallCells !== true,
    cohort: describeCohort(input, times),
    findings: (input.findings ?? []).map(({ level, message }) => ({
      level,
      message: input.showRows === true ? message : withoutOwnValues(withoutRowNumbers(message)),
    })),
    overall: reported[0],
    groups: reported.slice(1),
    ...(audit.certificates === undefined
      ? {}
      : { certificates: { alpha: audit.certificates.alpha, assumes: audit.certificates.assumes } }),
    rejections: {
      ece: countRejections(tested.map(({ scores }) => scores.noiseFloor?.p ?? null)),
      logrank: countRejections(tested.map(({ scores }) => scores.logrankIndividual.p)),
    },
    calibration: chooseMoments(edges[supported]).map((moment) =>
      calibrateByRisk(curves, observed, edges, moment),
    ),
    bands: cutByRisk(curves, binned, supported),
    examples: input.showRows === true ? chooseExamples(input, times, supported) : [],
    training: model === undefined ? null : describeTraining(model),
    modelSettings: model === undefined ? [] : listSettings(model),
    provenance: input.provenance,
  };
}

function measureCurve(
  curves: RiskCurves,
  binned: RiskOutcomes,
  rows: Int32Array,
  edges: readonly number[],
): GroupCurve {
  const km = kaplanMeierBinned(binned, undefined, rows);
  const mean = meanCurve(curves, undefined, rows);
  const last = groupSupport(binned, { rows });
  const limits = (sign: number) =>
    Array.from(km.survival, (S, t) =>
      S === 0 ? null : Math.min(S * Math.exp(sign * Z * Math.sqrt(km.greenwood[t])), 1),
    );
  return {
    last,
    predicted: isAbsent(mean) ? null : Array.from(mean),
    observed: Array.from(km.survival),
    lower: limits(-1),
    upper: limits(1),
    atRisk: Array.from(km.atRisk),
    gap: isAbsent(mean) || last === 0 ? null : measureGap(mean, km.survival, last, edges),
  };
}

function measureGap(mean: Float64Array, observed: Float64Array, last: number, edges: readonly number[]) {
  let sum = 0;
  let absolute = 0;
  let worst = 1;
  for (let t = 1; t <= last; t++) {
    const gap = mean[t] - observed[t];
    sum += gap;
    absolute += Math.abs(gap);
    if (Math.abs(gap) > Math.abs(mean[worst] - observed[worst])) worst = t;
  }
  return {
    mean: sum / last,
    meanAbsolute: absolute / last,
    largest: mean[worst] - observed[worst],
    largestAt: edges[worst],
  };
}

function describeCohort(
  { cohort, binned, model, outcomes, people }: GatherInput,
  times: Float64Array,
): ReportCohort {
  const event = outcomes?.event ?? binned.event;
  const events = event.reduce((sum, one) => sum + one, 0);
  // Censoring taken as the event: how long people were followed, had nobody left by the event.
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
      medianFollowUp: half < 0 ? null : followUp.time[half],
    },
  };
}

/** The person with the event, where anyone has it, whose predicted risk is nearest to the percentile. */
function chooseExamples(
  { curves, binned, outcomes, rowNumbers }: GatherInput,
  times: Float64Array,
  last: number,
): ExampleCurve[] {
  const { N, T, survival } = curves;
  const event = outcomes?.event ?? binned.event;
  if (last === 0) return [];
  const risk = (row: number) => 1 - survival[row * T + last - 1];
  const order = Int32Array.from({ length: N }, (_, row) => row).sort((a, b) => risk(a) - risk(b) || a - b);
  const candidates = Array.from(order, (row, rank) => ({ row, rank }));
  const withEvent = candidates.filter(({ row }) => event[row] === 1);
  const pool = withEvent.length >= EXAMPLES.length ? withEvent : candidates;
  const taken = new Set<number>();
  return EXAMPLES.flatMap(({ risk: level, percentile }) => {
    const wanted = (percentile / 100) * (N - 1);
    const free = pool.filter(({ row }) => !taken.has(row));
    if (free.length === 0) return [];
    const { row, rank } = free.reduce((best, one) =>
      Math.abs(one.rank - wanted) < Math.abs(best.rank - wanted) ? one : best,
    );
    taken.add(row);
    return [
      {
        risk: level,
        row: rowNumbers?.[row] ?? row + 1,
        percentile: Math.round((100 * rank) / Math.max(N - 1, 1)),
        time: times[row],
        event: event[row] === 1,
        survival: [1, ...survival.subarray(row * T, row * T + last)],
      },
    ];
  });
}
