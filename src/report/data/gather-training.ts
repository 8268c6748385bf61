/**
 * The part of a report that a model brings: how it was trained, what it was held to and with which settings, from the model's own
 * record. Names the groups of the recorded distances; adds no number.
 */

import { DISTANCES } from "../../training/choices.ts";
import type { GroupVerdict } from "../../training/finish.ts";
import type { ConstraintSpec, TrainingOptions } from "../../training/options.ts";
import { withoutOwnValues, withoutRowNumbers } from "./mask-sentence.ts";
import type { HistoryEntry, ReportTraining, SplitSizes } from "./report-data.ts";

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
  readonly options:
    | (Omit<Partial<TrainingOptions>, "constraint"> & {
        readonly constraint?: Partial<ConstraintSpec> | null;
      })
    | null;
  readonly training: {
    readonly seed: number;
    readonly backend: string;
    readonly rows: SplitSizes;
    readonly parameters: number;
    readonly steps: number;
    readonly bestStep: number;
    readonly history: readonly RecordedStep[];
    readonly verdict: readonly GroupVerdict[];
    readonly multipliers: { readonly fixedPenalty: boolean } | null;
    readonly warnings: readonly string[];
  };
}

/** Lists longer than this (baseline hazards) are the model's business, not a setting. */
const LONGEST_SETTING = 8;

export function describeTraining({ method, predictor, training, options }: ReportedModel): ReportTraining {
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
    warnings: warnings.map((message) => withoutOwnValues(withoutRowNumbers(message))),
  };
}

/** In words, from the trainer's options. */
function describeDistance(options: ReportedModel["options"]): string | null {
  const distance = options?.constraint?.distance;
  return distance === undefined ? null : DISTANCES[distance].words;
}

/** A record of another number of groups than the verdict's cannot be named, and is left out. */
function nameGroups(entry: RecordedStep, verdict: readonly GroupVerdict[]): HistoryEntry {
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

/** What the model was trained with, as path and value. */
export function listSettings({ method, predictor, options, training }: ReportedModel) {
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
