/**
 * How many runs the default is the mean of. Several runs that take turns with their validation rows rank people better
 * and have lower Brier scores than one, at as many times the cost; so small tables get five and large ones, where a run
 * is long and its noise is small, one. Rows and columns decide, never a clock: the same table has the same model on any
 * machine. Whoever sets the details of a run gets one run, and so do groups that the model may not see, since the price
 * of holding them is told by validation rows.
 */
import { joinRows } from "../../data/outcomes/split.ts";
import type { PreparedStudy } from "../../study/prepare.ts";
import { listTold } from "../../training/keep-network.ts";
import type { TrainingRequest } from "../train-request.ts";

const MEMBERS = 5;
/** Training and validation rows times columns: 12,000 rows of 80 columns. */
const MOST_CELLS = 1_000_000;
/** Of a part that a run validates on: with fewer, its choices are chance. */
const LEAST_EVENTS = 10;

/** How many runs to average where nobody says: one or several, by the rows and events of the study. */
export function chooseMembers(study: PreparedStudy, request: TrainingRequest): number {
  const { method = "graduate", preset = "default", network, hidden, options = {} } = request;
  const rows = joinRows(study.split.train, study.split.validation);
  const isDefault = method === "graduate" && preset === "default" && network === undefined;
  const isDetailed = hidden !== undefined || "steps" in options || "batch" in options || "solve" in options;
  if (!isDefault || isDetailed || study.split.validation.length === 0) return 1;
  const events = rows.reduce((sum, row) => sum + study.outcomes.event[row], 0);
  if (events < MEMBERS * LEAST_EVENTS) return 1;
  if (!listTold(study).every((told) => told)) return 1;
  return rows.length * study.encoder.names.length <= MOST_CELLS ? MEMBERS : 1;
}
