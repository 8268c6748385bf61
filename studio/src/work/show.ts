/**
 * Keeps what the page shows of a run, and sends it now and then. Runs of an ensemble that were made beside others are
 * told in a moment, each when its turn comes: losses are kept until they are sent, so that none of them is missing.
 */
import type { TrainEvent } from "graduate-survival";
import type { RunView } from "../protocol.ts";

/** Milliseconds between two messages to the page: more often nobody can see. */
const TELL_EVERY = 120;
/** Losses that a plot of the run shows. */
const MOST_LOSSES = 400;

const NOTHING: Omit<RunView, "backend"> = {
  phase: "preparing",
  words: "",
  step: 0,
  steps: 0,
  secondsLeft: null,
  losses: [],
  groups: [],
  curves: [],
  warnings: [],
};

export interface ShowInput {
  readonly backendWords: string;
  readonly tell: (view: RunView) => void;
}

export function createShow({ tell, backendWords }: ShowInput) {
  let view: RunView = { ...NOTHING, backend: backendWords };
  let toldAt = Number.NEGATIVE_INFINITY;
  let begun: { readonly step: number; readonly at: number } | null = null;
  let runs = 0;
  /** The step whose loss is told next. */
  let lossAt = 0;
  const send = (change: Partial<RunView>, isUrgent = false) => {
    view = { ...view, ...change };
    const now = performance.now();
    if (!isUrgent && now - toldAt < TELL_EVERY) return;
    toldAt = now;
    tell(view);
    view = { ...view, losses: [] };
  };
  const event = (happened: TrainEvent, edges: readonly number[], ensemble: number) => {
    switch (happened.type) {
      case "start":
        return send(
          { phase: "training", words: "", steps: happened.steps * ensemble, warnings: happened.warnings },
          true,
        );
      case "candidate":
        if (/^run \d/.test(happened.what)) runs = Number(/\d+/.exec(happened.what)?.[0]) - 1;
        return send({ words: happened.what }, true);
      case "step": {
        const step = (runs * view.steps) / ensemble + happened.step;
        const at = performance.now();
        begun ??= { step, at };
        const each = (at - begun.at) / 1000 / (step - begun.step);
        const secondsLeft = Number.isFinite(each) ? each * (view.steps - step) : null;
        const groups = happened.groups.map((name, g) => ({
          name,
          distance: happened.distances[g],
          slack: happened.slack[g],
          constrained: happened.constrained[g],
        }));
        const isDue = step >= lossAt;
        if (isDue) lossAt = step + view.steps / MOST_LOSSES;
        const losses = isDue ? [...view.losses, { run: runs, step, loss: happened.loss }] : view.losses;
        return send({ phase: "training", step, losses, secondsLeft, groups });
      }
      case "evaluation": {
        if (performance.now() - toldAt < TELL_EVERY && view.curves.length > 0) return;
        const curves = happened.groupCurves.map(({ name, observed, predicted }) => ({
          name,
          time: edges,
          observed: Array.from(observed),
          predicted: Array.from(predicted),
        }));
        return send({ curves });
      }
      case "solve":
        return send({ phase: "solving", words: "holding every group: solving the output layer" }, true);
      case "done":
        return send({}, true);
      default:
        return;
    }
  };
  return {
    event,
    say: (words: string) => send({ words }),
    phase: (phase: RunView["phase"], words: string) => send({ phase, words }, true),
  };
}
