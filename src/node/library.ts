/**
 * What `import "graduate-survival"` loads in Node: the library, whose functions open Node's threads and a small
 * document where none is given, and close the threads afterwards.
 */
import { availableParallelism } from "node:os";
import { FittedModel } from "../library/fitted-model.ts";
import type { Home } from "../library/home.ts";
import type * as page from "../library/page.ts";
import * as at from "../library/with-home.ts";
import { readModel as readPlain } from "./io/model-file.ts";
import { programVersion } from "./io/provenance.ts";
import { openLane } from "./workers/wasm-backend.ts";

export * from "../index.ts";

const home: Home = {
  program: `graduate ${programVersion}`,
  // A model that was trained with --deterministic predicts the same digits everywhere.
  openBackend: (model) =>
    openLane({ deterministic: model?.provenance?.backend?.simd === "plain" }, availableParallelism()),
  async openDocument() {
    const { parseHTML } = await import("linkedom");
    return parseHTML("<html></html>").document;
  },
};

export const fitted: typeof page.fitted = (model) => new FittedModel(model, home);
export const fit: typeof page.fit = (table, request, ...rest) => at.fitAt(home, table, request, ...rest);
export const modelFromBytes: typeof page.modelFromBytes = (...given) => at.readAt(home, ...given);
export const predict: typeof page.predict = (model, table, ...rest) =>
  at.predictAt(home, model, table, ...rest);
export const predictPeople: typeof page.predictPeople = (...given) => at.predictPeopleAt(home, ...given);
export const explainPerson: typeof page.explainPerson = (...given) => at.explainAt(home, ...given);
export const summariseModel: typeof page.summariseModel = (model, backend) =>
  at.summariseAt(home, model, backend);
export const openStudy: typeof page.openStudy = (model, table, ...rest) =>
  at.openStudyAt(home, model, table, ...rest);
export const auditModel: typeof page.auditModel = (study, rows, ...rest) =>
  at.auditModelAt(home, study, rows, ...rest);
export const discoverModel: typeof page.discoverModel = (study, ...rest) =>
  at.discoverModelAt(home, study, ...rest);
export const compare: typeof page.compare = (...given) => at.compareAt(home, ...given);
export const tune: typeof page.tune = (...given) => at.tuneAt(home, ...given);
export const reportCurves: typeof page.reportCurves = (...given) => at.reportCurvesAt(home, ...given);
export const plotKm: typeof page.plotKm = (...given) => at.plotKmAt(home, ...given);

/** Reads a model's file; the same kind of model as `fit` returns. */
export async function readModel(path: string): Promise<FittedModel> {
  return fitted(await readPlain(path));
}
