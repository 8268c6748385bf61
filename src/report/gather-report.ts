/**
 * From what the library returns to what a report shows: curves, outcomes, groups and their audit in; every number of the
 * page out. Takes the shapes it needs and no more, so a model, another program's curves or a browser's state all do. It adds
 * to the audit each group's curve beside Kaplan-Meier, the verdicts, calibration by predicted risk at three horizons, and
 * three people's curves; it changes no score.
 */
import { normalQuantile } from "../core/distributions.ts";
import { InputError } from "../core/errors.ts";
import { isAbsent } from "../core/measured.ts";
import { meanCurve } from "../stats/calibration.ts";
import type { Certificates } from "../stats/certificates.ts";
import { groupSupport, kaplanMeier, kaplanMeierBinned } from "../stats/kaplan-meier.ts";
import type { Scores } from "../stats/scores.ts";
import type {
  ConstraintVerdict,
  ExampleCurve,
  GroupCurve,
  HistoryEntry,
  ReportCohort,
  ReportData,
  ReportFinding,
  ReportGroup,
  ReportProvenance,
  ReportTraining,
  SplitSizes,
} from "./report-data.ts";
import { DISTANCE_WORDS } from "./report-words.ts";
import { calibrateByRisk, type RiskCurves, type RiskOutcomes } from "./risk-calibration.ts";
import { countRejections, type JudgedGroup, judgeGroups } from "./verdict.ts";

/** An evaluation while training; distances and multipliers are in the order of the model's verdict. */
export interface RecordedStep {
  readonly step: number;
  readonly loss: number;
  readonly concordance: number | null;
  readonly distances?: readonly number[];
  readonly multipliers?: readonly number[];
}

/** What is asked of a model; `Model` of training is one. */
export interface ReportedModel {
  readonly method: string;
  readonly predictor: { readonly kind: string; readonly network?: object };
  readonly options: object | null;
  readonly training: {
    readonly seed: number;
    readonly backend: string;
    readonly rows: SplitSizes;
    readonly parameters: number;
    readonly steps: number;
    readonly bestStep: number;
    readonly history: readonly RecordedStep[];
    readonly verdict: readonly ConstraintVerdict[];
    readonly multipliers: { readonly fixedPenalty: boolean } | null;
    readonly warnings: readonly string[];
  };
}

/** What a report is made of: curves, outcomes, groups and their audit; the model and its training where there is one. */
export interface GatherInput {
  readonly title: string;
  readonly curves: RiskCurves;
  readonly binned: RiskOutcomes;
  /** The times as observed; without them a person's time is the end of the bin. */
  readonly outcomes?: { readonly time: Float64Array; readonly event: Uint8Array };
  readonly grid: { readonly T: number; readonly edges: ArrayLike<number> }; // edges [T+1]
  /** The name and unit of time, as "days"; "time" unless given. */
  readonly timeLabel?: string;
  /** As they were audited, in that order, without everyone. */
  readonly groups: readonly {
    readonly name: string;
    readonly expression?: string;
    readonly rows: Int32Array;
  }[];
  readonly audit: {
    readonly overall: Scores;
    readonly groups: readonly Scores[];
    readonly certificates?: Certificates;
  };
  readonly findings?: readonly ReportFinding[];
  readonly cohort: {
    readonly table: string;
    readonly rows?: number;
    readonly excluded?: ReportCohort["excluded"];
    /** Where the audited rows are a part of the table that a model was trained on: the sizes of its parts. */
    readonly split?: SplitSizes;
    /** Which rows were audited, as "test rows". */
    readonly which: string;
  };
  /** The 1-based number in the table of each row of `curves`; 1…N unless given. */
  readonly rowNumbers?: ArrayLike<number>;
  readonly model?: ReportedModel;
  readonly provenance: ReportProvenance;
}

/** Where calibration by predicted risk is shown, as shares of the horizon. */
const RISK_HORIZONS = [0.25, 0.5, 0.75] as const;
/** The people whose curves are shown: at these percentiles of predicted risk. */
const EXAMPLES = [
  { risk: "low", percentile: 10 },
  { risk: "middle", percentile: 50 },
  { risk: "high", percentile: 90 },
] as const;
const Z = normalQuantile(0.975);
/** Lists longer than this (baseline hazards) are the model's business, not a setting. */
const LONGEST_SETTING = 8;

/** Everything that the report shows, as data. */
export function gatherReport(input: GatherInput): ReportData {
  const { curves, binned, grid, groups, audit, model } = input;
  if (audit.groups.length !== groups.length || groups.some(({ name }, g) => name !== audit.groups[g].name)) {
    throw new InputError("the audit is of other groups than the report's", {
      code: "report.groups",
      hint: "hand over the groups that were audited, in the same order",
    });
  }
  const edges = Array.from(grid.edges);
  const everyone = Int32Array.from({ length: curves.N }, (_, row) => row);
  const members = [everyone, ...groups.map(({ rows }) => rows)];
  const scored = [audit.overall, ...audit.groups];
  const curvesOf = members.map((rows) => measureCurve(curves, binned, rows, edges));
  const judged = scored.map((scores, g): JudgedGroup => ({ scores, gap: curvesOf[g].gap }));
  const verdicts = judgeGroups(judged, grid.T);
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
  const tested = reported.slice(1).filter(({ verdict }) => verdict.kind !== "few");
  const times = input.outcomes?.time ?? Float64Array.from(binned.bin, (bin) => edges[bin]);
  const supported = groupSupport(binned);
  return {
    title: input.title,
    time: { label: input.timeLabel ?? "time", edges },
    cohort: describeCohort(input, times),
    findings: input.findings ?? [],
    overall: reported[0],
    groups: reported.slice(1),
    ...(audit.certificates === undefined
      ? {}
      : { certificates: { alpha: audit.certificates.alpha, assumes: audit.certificates.assumes } }),
    rejections: {
      ece: countRejections(tested.map(({ scores }) => scores.noiseFloor?.p ?? null)),
      logrank: countRejections(tested.map(({ scores }) => scores.logrankIndividual.p)),
    },
    calibration: RISK_HORIZONS.map((share) => Math.max(1, Math.round(share * grid.T)))
      .filter((t) => t <= supported)
      .map((t) => calibrateByRisk(curves, binned, t, edges[t])),
    examples: chooseExamples(input, times),
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

function describeCohort({ cohort, binned, model, outcomes }: GatherInput, times: Float64Array): ReportCohort {
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
      events,
      censored: event.length - events,
      medianFollowUp: half < 0 ? null : followUp.time[half],
      longestFollowUp: times.reduce((longest, time) => Math.max(longest, time), 0),
    },
  };
}

/** The person with the event, where anyone has it, whose predicted risk is nearest to the percentile. */
function chooseExamples(
  { curves, binned, outcomes, rowNumbers }: GatherInput,
  times: Float64Array,
): ExampleCurve[] {
  const { N, T, survival } = curves;
  const event = outcomes?.event ?? binned.event;
  const risk = (row: number) => 1 - survival[row * T + T - 1];
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
        survival: [1, ...survival.subarray(row * T, (row + 1) * T)],
      },
    ];
  });
}

function describeTraining({ method, predictor, training, options }: ReportedModel): ReportTraining {
  const { steps, bestStep, history, verdict, multipliers, warnings } = training;
  const { members = [0] } = (predictor.network ?? {}) as { readonly members?: readonly unknown[] };
  return {
    method,
    members: members.length,
    steps,
    bestStep,
    history: history.map((entry) => nameGroups(entry, verdict)),
    constraints: verdict,
    distance: describeDistance(options),
    fixedPenalty: multipliers?.fixedPenalty ?? false,
    warnings,
  };
}

/** In words, from the trainer's options. */
function describeDistance(options: object | null): string | null {
  const { constraint } = (options ?? {}) as { readonly constraint?: { readonly kind?: string } | null };
  return DISTANCE_WORDS[constraint?.kind ?? ""] ?? null;
}

/** A record of another number of groups than the verdict's cannot be named, and is left out. */
function nameGroups(entry: RecordedStep, verdict: readonly ConstraintVerdict[]): HistoryEntry {
  const { step, loss, concordance, distances, multipliers } = entry;
  const plain = { step, loss, concordance };
  if (distances?.length !== verdict.length || verdict.length === 0) return plain;
  const groups = verdict.map(({ group, slack }, g) => ({
    name: group,
    distance: distances[g],
    slack,
    multiplier: multipliers?.[g] ?? null,
  }));
  return { ...plain, groups };
}

function listSettings({ method, predictor, options, training }: ReportedModel) {
  return [
    { name: "method", value: method },
    ...flatten("network", predictor.network ?? {}),
    ...flatten("", options ?? {}),
    { name: "parameters", value: String(training.parameters) },
    { name: "backend", value: training.backend },
    ...(options === null ? [{ name: "seed", value: String(training.seed) }] : []),
  ];
}

/** { a: { b: 1 } } as a.b 1; of a list of objects, how many there are. */
function flatten(path: string, value: object): { readonly name: string; readonly value: string }[] {
  return Object.entries(value).flatMap(([key, entry]) => {
    const name = path === "" ? key : `${path}.${key}`;
    if (Array.isArray(entry)) {
      if (entry.every((one) => typeof one === "object" && one !== null))
        return [{ name, value: String(entry.length) }];
      return entry.length > LONGEST_SETTING ? [] : [{ name, value: entry.join(", ") }];
    }
    if (typeof entry === "object" && entry !== null) return flatten(name, entry);
    return [{ name, value: entry === null ? "none" : String(entry) }];
  });
}
