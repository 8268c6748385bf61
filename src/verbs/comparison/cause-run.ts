/**
 * One method of a comparison where causes compete: its incidences of the test rows, and their scores by cause. Cox is
 * one model a cause (cause-specific-cox.ts); everything else is a model that tells the causes apart.
 */
import { present } from "../../core/present.ts";
import { ALL_GROUP } from "../../data/groups/groups.ts";
import type { People } from "../../data/outcomes/people.ts";
import { applyCauseHazards } from "../../repair/cause-hazards.ts";
import { fitCauseShare } from "../../repair/share-choice.ts";
import { matchCauses } from "../../stats/causes/binned-causes.ts";
import { type CauseResamples, resampleCauses } from "../../stats/causes/cause-resamples.ts";
import { placesAmong } from "../../study/members.ts";
import { type PreparedStudy, redesign } from "../../study/prepare.ts";
import { pickStudyGroups, pickStudyRows } from "../../study/study.ts";
import type { PredictedCauseRows } from "../causes/audit-cause-model.ts";
import { auditCauses, type CauseAuditTable } from "../causes/audit-causes.ts";
import { designOf } from "../train-request.ts";
import {
  type CauseMethodScores,
  type CauseScoreDraws,
  drawsOfCause,
  judgedPlaces,
  readCauseScores,
} from "./cause-differences.ts";
import { fitCauseSpecificCox, predictCauseSpecificCox } from "./cause-specific-cox.ts";

/** What a run found, cause by cause. */
export interface CauseResult {
  readonly scores: readonly CauseMethodScores[];
  readonly audit: CauseAuditTable;
  /** Null without resamples. */
  readonly draws: readonly CauseScoreDraws[] | null;
}

/** What predicts the incidences of some rows of a study. */
export interface CausePredictor {
  readonly predict: (rows: Int32Array) => Promise<PredictedCauseRows>;
  readonly warnings: readonly string[];
}

/** The incidences of cause-specific Cox models, fitted to the training rows. */
export function fitCoxByCause(study: PreparedStudy): CausePredictor {
  const seen = redesign(study, designOf({ method: "cox" }));
  const fitted = fitCauseSpecificCox(seen);
  const causes = study.causes ?? [];
  const named = study.groups.filter(({ expression }) => expression !== ALL_GROUP.expression);
  const predict = async (rows: Int32Array): Promise<PredictedCauseRows> => ({
    ...pickStudyRows(study, rows),
    curves: {
      N: rows.length,
      K: causes.length,
      T: study.grid.T,
      causes,
      incidence: predictCauseSpecificCox(fitted, seen, rows),
    },
    groups: placesAmong(named, rows),
  });
  return { predict, warnings: fitted.warnings };
}

/** The incidences of some rows after a repair that was fitted on others. */
export function repairCauses(
  study: Pick<PreparedStudy, "groups">,
  { curves, binned, people, rows }: PredictedCauseRows,
  test: PredictedCauseRows,
  seed: number,
): PredictedCauseRows {
  const outcomes = matchCauses(curves, binned);
  const task = { curves, outcomes, groups: pickStudyGroups(study, rows), ...present({ people }) };
  const { boost } = fitCauseShare(task, { seed });
  return { ...test, curves: applyCauseHazards(boost, test.curves, pickStudyGroups(study, test.rows)) };
}

/** How often the rows are drawn, and by which seed. */
export interface CauseRunOptions {
  /** Null for no resamples. */
  readonly replicates: number | null;
  readonly seed: number;
}

/** Draws between two reports of progress. */
const REPORT_EVERY = 20;

/** Scores predicted rows; yields the share of the resamples that is done. */
export async function* scoreByCause(
  { curves, binned, groups, people }: PredictedCauseRows,
  { replicates, seed }: CauseRunOptions,
): AsyncGenerator<number, CauseResult> {
  const audit = await auditCauses({ curves, outcomes: binned, groups, ...present({ people }) }, { draws: 0 });
  const scores = readCauseScores(audit);
  if (replicates === null) return { scores, audit, draws: null };
  const resampling = {
    replicates,
    seed,
    groups: groups.map(({ rows }) => rows),
    ...present({ people: people as People | undefined }),
  };
  const draws = resampleCauses(curves, matchCauses(curves, binned), resampling);
  let drawn: readonly CauseResamples[];
  for (;;) {
    const next = draws.next();
    if (next.done) {
      drawn = next.value;
      break;
    }
    if (next.value % REPORT_EVERY === 0) yield next.value / replicates;
  }
  return {
    scores,
    audit,
    draws: drawn.map((one, k) => drawsOfCause(one, judgedPlaces(audit.causes[k], audit.T))),
  };
}
