/**
 * What is defined for one kind of event alone, refused by name where several causes compete, before anything is
 * trained: X-Cal's and RPS's losses, and the paper's tail term (drsa and the paper's preset).
 */
import { InputError } from "../../core/errors.ts";
import type { Method } from "../../training/choices.ts";
import type { PresetName } from "../../training/options.ts";

/** The methods whose loss is defined for several causes, or that have a form for them. */
const OF_SEVERAL: Readonly<Record<Method, boolean>> = {
  graduate: true,
  nll: true,
  cox: true,
  drsa: false,
  xcal: false,
  rps: false,
};

/** What a run is asked to be. */
export interface AskedRun {
  readonly method?: Method | undefined;
  readonly preset?: PresetName | undefined;
}

/** Refuses a run of one kind of event; `instead` names what several causes can be fitted with. */
export function refuseOneKind(
  causes: readonly string[] | null,
  { method = "graduate", preset = "default" }: AskedRun,
  instead: string,
): void {
  if (causes === null) return;
  if (!OF_SEVERAL[method]) {
    throw new InputError(`the method ${method} is of one kind of event: it does not take several causes`, {
      code: "method.causes",
      hint: instead,
    });
  }
  if (preset === "paper" && method !== "cox") {
    throw new InputError("the paper's preset is of one kind of event: it does not take several causes", {
      code: "preset.causes",
      hint: "leave --preset paper out",
    });
  }
}
