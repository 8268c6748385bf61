/**
 * Compare: several methods on the same split or splits, and each one's difference from the first. On one split the
 * scores are recomputed on resampled test rows; over several they are paired by split (comparison/differences.ts says
 * what each is worth). The runs of the plan go through a runner, which is this thread unless another is given.
 */
import type { Backend } from "../compute/backend.ts";
import { createReferenceBackend } from "../compute/reference.ts";
import { InputError } from "../core/errors.ts";
import { present } from "../core/present.ts";
import { type PlainFinding, toPlainFinding } from "../data/checks/findings.ts";
import { type People, pickPeople } from "../data/outcomes/people.ts";
import type { Split } from "../data/outcomes/split.ts";
import type { SplitSizes } from "../stats/comparison.ts";
import type { PreparedStudy } from "../study/prepare.ts";
import { countPeople, countSets, type SetSizes } from "../study/split.ts";
import { refuseOneKind } from "./causes/refuse-one-kind.ts";
import {
  type CauseDifference,
  compareCauseDraws,
  compareCauseSplits,
} from "./comparison/cause-differences.ts";
import { compareDraws, compareSplits, type MethodDifference } from "./comparison/differences.ts";
import {
  type ComparedMethod,
  type CompareTask,
  type MethodMeans,
  type MethodResult,
  type NamedSplit,
  runMethod,
} from "./comparison/method-run.ts";
import { followRuns, type RunEvent, type Runner, runInTurn } from "./runs.ts";
import type { TrainingRequest } from "./train-request.ts";

/** What is compared, and on which rows. */
export interface CompareChoices {
  /** Two or more; each is compared with the first. */
  readonly methods: readonly ComparedMethod[];
  /** The split of the study unless given. */
  readonly splits?: readonly NamedSplit[];
  /** Resamples of the test rows, with one split; unless given 500, or 1000 where causes compete. */
  readonly replicates?: number;
}

/** One split with its sizes in the comparison. */
export interface ComparedSplit {
  readonly name: string;
  readonly seed: number;
  readonly rows: SetSizes;
  /** Where rows are identified by person. */
  readonly people?: SetSizes;
}

/** A method on a split, and its result. */
export interface MethodRun extends MethodResult {
  readonly method: ComparedMethod;
  readonly split: string;
}

/** The events of a comparison. */
export type CompareEvent =
  | {
      readonly type: "start";
      readonly splits: readonly ComparedSplit[];
      readonly plan: readonly CompareTask[];
    }
  | RunEvent<MethodResult>;

/** What a comparison found. */
export interface Comparison {
  readonly splits: readonly ComparedSplit[];
  readonly test: "resampled test rows" | "corrected resampled t";
  /** Null over several splits. */
  readonly replicates: number | null;
  /** In the order of the plan: for each split, its methods. */
  readonly runs: readonly MethodRun[];
  /** None where causes compete. */
  readonly differences: readonly MethodDifference[];
  /** Where causes compete, their names and the differences in the scores of each. */
  readonly byCause?: {
    readonly causes: readonly string[];
    readonly differences: readonly CauseDifference[];
  };
  /** What should be said of the outcome. */
  readonly findings: readonly PlainFinding[];
  /** The warnings of all runs, each once. */
  readonly warnings: readonly string[];
}

/** What a comparison runs on: backend, runner, signal. */
export interface CompareOptions extends Partial<MethodMeans> {
  /** The backend of this thread, where there is no runner; the plain one, which is slow, unless given. */
  readonly backend?: Backend;
  /** Runs the plan; this thread, one run after the other, unless given. */
  readonly runner?: Runner<CompareTask, MethodResult>;
  /** Stops the runs of this thread. */
  readonly signal?: AbortSignal;
}

export const DEFAULT_REPLICATES = 500;
/** Every cause has scores of its own, so that more differences are tested together. */
export const DEFAULT_CAUSE_REPLICATES = 1000;

/** Trains every method on every split and tests the differences from the first method. All runs share `request`. */
export async function* compare(
  study: PreparedStudy,
  request: TrainingRequest,
  choices: CompareChoices,
  { backend = createReferenceBackend(), runner, signal, ...means }: CompareOptions = {},
): AsyncGenerator<CompareEvent, Comparison> {
  const { methods, splits = [nameSplit(study, request)] } = choices;
  const replicates = choices.replicates ?? defaultReplicates(study);
  refuseIncomparable(methods, splits);
  refuseForCauses(study, request, methods);
  const { people } = study;
  const source = { study, request, splits };
  const run =
    runner ?? runInTurn((task) => runMethod(source, task, { backend, ...means }), present({ signal }));
  const isOne = splits.length === 1;
  const plan = planComparison(methods, splits, isOne ? replicates : null);
  const counted = splits.map(({ name, seed, split }) => ({
    name,
    seed,
    rows: countSets(split),
    ...present({ people: people === null ? undefined : countPeople(people, split) }),
  }));
  yield { type: "start", splits: counted, plan };
  const results = yield* followRuns(run(plan));
  const runs = plan.map(({ method, split }, k) => ({ method, split, ...results[k] }));
  return {
    splits: counted,
    test: isOne ? "resampled test rows" : "corrected resampled t",
    replicates: isOne ? replicates : null,
    runs,
    ...testDifferences(study, methods, runs, splits),
    findings: study.told.map(toPlainFinding),
    warnings: [...new Set(runs.flatMap(({ warnings }) => warnings))],
  };
}

/** The study's own split, named by the seed. */
function nameSplit({ split }: PreparedStudy, { seed = 1 }: TrainingRequest): NamedSplit {
  return { name: `seed ${seed}`, seed, split };
}

function refuseIncomparable(methods: readonly ComparedMethod[], splits: readonly NamedSplit[]): void {
  if (methods.length < 2 || splits.length === 0) {
    throw new InputError("a comparison needs two methods or more, and a split", { code: "comparison.empty" });
  }
  const twice = splits.find(({ name }, k) => splits.findIndex((other) => other.name === name) < k);
  if (twice !== undefined) {
    throw new InputError(`two splits of one name: "${twice.name}"`, {
      code: "comparison.splits",
      hint: "give each split once",
    });
  }
  for (const { name, split } of splits) {
    if (split.test.length > 0) continue;
    throw new InputError("no test rows to compare on", {
      code: "split.test",
      where: name,
      hint: "give the split some, e.g. --split 0.6,0.2,0.2",
    });
  }
}

/** Every method on every split. */
export function planComparison(
  methods: readonly ComparedMethod[],
  splits: readonly NamedSplit[],
  replicates: number | null,
): readonly CompareTask[] {
  return splits.flatMap(({ name }) => methods.map((method) => ({ method, split: name, replicates })));
}

/** How many resamples are drawn unless the caller says. */
export function defaultReplicates({ causes }: Pick<PreparedStudy, "causes">): number {
  return causes === null ? DEFAULT_REPLICATES : DEFAULT_CAUSE_REPLICATES;
}

/** Refuses methods that are not defined where causes compete, before any is trained. */
function refuseForCauses(
  { causes }: PreparedStudy,
  { preset }: TrainingRequest,
  methods: readonly ComparedMethod[],
): void {
  if (causes === null) return;
  for (const { method } of methods) {
    const asked = method === "start" ? {} : { method, preset };
    refuseOneKind(causes, asked, "compare cox, start, nll and graduate");
  }
}

/** Of one split by resamples, of several by the t test; cause by cause where there are several. */
function testDifferences(
  { people, causes }: PreparedStudy,
  methods: readonly ComparedMethod[],
  runs: readonly MethodRun[],
  splits: readonly NamedSplit[],
): Pick<Comparison, "differences" | "byCause"> {
  const overSplits = <Scores>(read: (run: MethodRun) => Scores) =>
    methods.map(({ label }, m) => ({
      method: label,
      scores: splits.map((_, j) => read(runs[j * methods.length + m])),
    }));
  const isOne = splits.length === 1;
  if (causes === null) {
    const named = runs.map(({ method, scores, draws }) => ({ method: method.label, scores, draws }));
    const ofSplits = () =>
      compareSplits(
        overSplits(({ scores }) => scores),
        countSizes(splits, people),
      );
    return { differences: isOne ? compareDraws(named) : ofSplits() };
  }
  const named = runs.map(({ method, byCause }) => ({
    method: method.label,
    scores: byCause?.scores ?? null,
    draws: byCause?.draws ?? null,
  }));
  const ofSplits = () =>
    compareCauseSplits(
      causes,
      overSplits(({ byCause }) => byCause?.scores ?? null),
      countSizes(splits, people),
    );
  return {
    differences: [],
    byCause: { causes, differences: isOne ? compareCauseDraws(causes, named) : ofSplits() },
  };
}

/** Test and training rows of the splits, as means; where people have several rows, people. */
function countSizes(splits: readonly NamedSplit[], people: People | null): SplitSizes {
  const count = (rows: Int32Array) => (people === null ? rows.length : pickPeople(people, rows).count);
  const mean = (set: (split: Split) => Int32Array) =>
    splits.reduce((sum, { split }) => sum + count(set(split)), 0) / splits.length;
  return { testSize: mean(({ test }) => test), trainSize: mean(({ train }) => train) };
}
