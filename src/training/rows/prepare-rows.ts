/** Rows of a study in the trainer's form: encoded into the backend's memory, times in bins, groups by index. */
import type { Backend } from "../../compute/backend.ts";
import { present } from "../../core/present.ts";
import { encodeStudyRows, pickStudyGroups, pickStudyRows, type Study } from "../../study/study.ts";
import type { TrainingRows } from "../trainer.ts";

export function prepareRows(backend: Backend, study: Study, rows: Int32Array): TrainingRows {
  const D = study.encoder.names.length;
  const x = backend.allocate(rows.length * D);
  let from = 0;
  for (const { N, values } of encodeStudyRows(study, rows)) {
    backend.write(x, values, from * D);
    from += N;
  }
  return {
    x,
    binned: pickStudyRows(study, rows).binned,
    groups: pickStudyGroups(study, rows),
    ...present({ causes: study.causes ?? undefined }),
  };
}
