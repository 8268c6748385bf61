/** What a run says of itself when it has to stop. */
import { type GraduateError, NumericalError, restate } from "../core/errors.ts";

/** Keeps the error's class: a run refused for lack of memory has not diverged. */
export function nameStep(error: GraduateError, step: number, lastGood: number): GraduateError {
  const kept =
    lastGood > 0
      ? `the last good checkpoint is that of step ${lastGood}`
      : "there is no checkpoint before it";
  const hint = error.hint === undefined ? kept : `${kept}; ${error.hint}`;
  return restate(error, { message: `training stopped at step ${step}: ${error.message}`, hint });
}

export function refuseNaN(lagrangian: number): void {
  if (Number.isFinite(lagrangian)) return;
  throw new NumericalError(`the Lagrangian is not a number: ${lagrangian}`, { code: "loss.nan" });
}
