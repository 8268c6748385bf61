/**
 * How the training rows of a model were followed, overall and by group, where the audited table is the one it was trained on:
 * what certificates fix their bins and rates by before an audited row is seen. The model file holds no row, so of another table it
 * is not known.
 */
import { ALL_GROUP, resolveGroups } from "../../data/groups/groups.ts";
import { pickOutcomes } from "../../data/outcomes/outcomes.ts";
import { readOutcomes } from "../../data/outcomes/read-outcomes.ts";
import { type Split, splitFromTable } from "../../data/outcomes/split.ts";
import { binOutcomes } from "../../data/outcomes/time-grid.ts";
import type { Table } from "../../data/table.ts";
import { type FollowUp, tallyFollowUp } from "../../stats/certificates/exact.ts";
import { redrawSplit } from "../../training/choose-split.ts";
import type { Model } from "../../training/model.ts";
import { gridOf } from "../../verbs/predict.ts";
import type { ScoredGroup } from "../../verbs/score-rows.ts";
import { readTableFile } from "../options/table-options.ts";

export interface TrainingFollowUpInput {
  readonly model: Model;
  readonly table: Table;
  /** The row,set table, where the split is not the seed's. */
  readonly split?: string;
  /** Groups beyond the model's, their rows the table's. */
  readonly more: readonly ScoredGroup[];
}

/** Everyone, the model's groups and then `more`, as the audit has them; null for a group without training rows. */
export async function readTrainingFollowUp(input: TrainingFollowUpInput): Promise<(FollowUp | null)[]> {
  const { model, table, more } = input;
  const { train } = await findSplit(input);
  const outcomes = binOutcomes(pickOutcomes(readOutcomes(table, model.columns), train), gridOf(model));
  const place = new Map(Array.from(train, (row, k) => [row, k]));
  const named = model.groups.filter(({ expression }) => expression !== ALL_GROUP.expression);
  const groups = [...resolveGroups(named, table, { unknownLevels: "allow" }), ...more];
  const members = groups.map(({ rows }) =>
    Array.from(rows, (row) => place.get(row) ?? -1).filter((k) => k >= 0),
  );
  const everyone = Array.from(train, (_, k) => k);
  return [everyone, ...members].map((rows) => (rows.length === 0 ? null : tallyFollowUp(outcomes, rows)));
}

/** Only asked for where the test rows were drawn again already; an unknown split has no training rows to tell of. */
async function findSplit({ model, table, split }: TrainingFollowUpInput): Promise<Split> {
  if (split !== undefined) return splitFromTable(await readTableFile(split, {}), table.rows);
  const none = new Int32Array();
  return redrawSplit(model, table) ?? { train: none, valid: none, test: none };
}
