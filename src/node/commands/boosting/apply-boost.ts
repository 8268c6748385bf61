/**
 * `graduate boost --apply`: a repair that `--save` kept, carried out on rows of the same model or the same program, and
 * judged where these rows are new to both.
 */

import { basename } from "node:path";
import { InputError } from "../../../core/errors.ts";
import { countOf } from "../../../core/text.ts";
import { toPlainFinding } from "../../../data/checks/findings.ts";
import type { CauseCurves } from "../../../data/curves/cause-curves.ts";
import type { Curves } from "../../../data/curves/curves.ts";
import { type Group, resolveGroups } from "../../../data/groups/groups.ts";
import { boostFromJson, MAX_BOOST_BYTES } from "../../../files/model/boost-file.ts";
import { applyCauseHazards, type CauseHazardBoost } from "../../../repair/cause-hazards.ts";
import { applyBoost, type Boost } from "../../../repair/mcboost.ts";
import { type BoostTask, type BoostVerdict, judgeBoost } from "../../../verbs/boost.ts";
import { type CauseBoostVerdict, judgeCauseBoost } from "../../../verbs/causes/boost-causes.ts";
import { readTextFile } from "../../io/input-file.ts";
import {
  type BoostSource,
  type RowsOfCauses,
  type RowsOfOne,
  readApplySource,
} from "../../io/read-boost-source.ts";
import type { GivenPredictions, PredictionOptions } from "../../io/read-predictions.ts";
import { auditFlags, prepareOutput } from "../../io/repaired-output.ts";
import { printCauseVerdict, printFiles, printVerdict } from "../../print/boost.ts";
import { print, printJson, tellFindings, warn } from "../../print/output.ts";

/** What carrying out a repair looks at; fitting and keeping one are refused. */
interface ApplyOptions extends GivenPredictions<PredictionOptions> {
  readonly fit?: number;
  readonly out?: string;
  readonly save?: string;
  readonly json?: boolean;
}

/** The repair, or that of each cause. */
export function partsOf(fitted: Boost | CauseHazardBoost): readonly Boost[] {
  return fitted.kind === "cause hazards" ? fitted.hazards : [fitted];
}

export async function runApply(
  paths: readonly string[],
  options: ApplyOptions,
  path: string,
  inputs: readonly (string | undefined)[],
): Promise<void> {
  if (options.save !== undefined || options.fit !== undefined) {
    throw new InputError(
      `--apply fits nothing: leave out ${options.fit === undefined ? "--save" : "--fit"}`,
      {
        code: "option.conflict",
      },
    );
  }
  const saved = boostFromJson(await readTextFile(path, "the boost", MAX_BOOST_BYTES), basename(path));
  for (const warning of saved.warnings) warn(warning);
  const source = await readApplySource(paths, options);
  if (source.modelHash !== saved.model) {
    throw new InputError("the boost was fitted to the curves of another model", {
      code: "boost.model",
      where: path,
      hint: "give the model it was fitted with, or fit a boost to this one",
    });
  }
  tellFindings(source.findings);
  const write = await prepareOutput(options, source, inputs);
  const groups = resolveSaved(partsOf(saved.boost)[0], source);
  const curves = carryOut(saved.boost, source, groups);
  await write(curves);
  const { obstacle, verdict } = judgeApplied(source, groups, curves, saved.table);
  const files = { out: options.out ?? null, save: null };
  const updates = partsOf(saved.boost).reduce((sum, one) => sum + one.updates.length, 0);
  const { N } = curves;
  if (options.json) {
    printJson({
      rows: N,
      updates,
      verdict,
      obstacle,
      findings: source.findings.map(toPlainFinding),
      ...files,
    });
    return;
  }
  print(`${countOf(updates, "update")} carried out on ${countOf(N, "row")}`);
  if (verdict === null) print(`not judged: ${obstacle}`);
  else if ("causes" in verdict) printCauseVerdict(verdict);
  else printVerdict(verdict);
  printFiles(files, verdict === null || "causes" in verdict ? null : auditFlags(source));
}

/** A repair of incidences is for incidences, one of survival for survival. */
function carryOut(
  saved: Boost | CauseHazardBoost,
  { predicted: { curves } }: BoostSource,
  groups: BoostTask["groups"],
): Curves | CauseCurves {
  const isByCause = "incidence" in curves;
  if (saved.kind === "cause hazards" && isByCause) return applyCauseHazards(saved, curves, groups);
  if (saved.kind !== "cause hazards" && !isByCause) return applyBoost(saved, curves, { groups });
  const [of, given] = isByCause
    ? ["one kind of event", "several causes"]
    : ["several causes", "one kind of event"];
  throw new InputError(`the boost is of ${of}, and the curves are of ${given}`, {
    code: "boost.causes",
    hint: "give the curves it was fitted to, or fit a boost to these",
  });
}

function resolveSaved({ groups }: Boost, { table }: BoostSource): BoostTask["groups"] {
  const written = groups.map(({ name, expression }): Group => {
    if (expression !== undefined) return { name, expression };
    throw new InputError(`the boost does not say who is in "${name}"`, { code: "boost.file" });
  });
  return resolveGroups(written, table, { unknownLevels: "allow" });
}

/** Only rows with outcomes that neither the model nor the boost has seen can be judged; others would flatter it. */
function judgeApplied(
  { predicted, tableHash, isOwnTable }: BoostSource,
  groups: BoostTask["groups"],
  curves: Curves | CauseCurves,
  fittedOn: string | null,
): { readonly verdict: BoostVerdict | CauseBoostVerdict | null; readonly obstacle: string | null } {
  const because = (obstacle: string) => ({ verdict: null, obstacle });
  if (predicted.outcomes === null) return because("the table has no outcomes");
  if (tableHash === null || tableHash === fittedOn)
    return because("the boost was fitted on rows of this table");
  if (isOwnTable) return because("the model was trained on rows of this table");
  const verdict =
    "incidence" in curves
      ? judgeCauseBoost({ ...(predicted as RowsOfCauses), groups }, curves)
      : judgeBoost({ ...(predicted as RowsOfOne), groups }, curves);
  return { verdict, obstacle: null };
}
