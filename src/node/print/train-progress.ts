/**
 * How a training run shows its progress: one live line on a terminal (step, loss, validation C, constraints met, worst
 * group, time left), or one plain line per evaluation if stderr is a file or a pipe. The live line is cut to the
 * terminal, however narrow: a wrapped line could not be overwritten.
 */
import { countOf } from "../../core/text.ts";
import { formatNumber } from "../../report/words/text-table.ts";
import type { StepEvent } from "../../training/trainer.ts";
import type { StartEvent, TrainEvent } from "../../verbs/train.ts";
import { isLive, say, showLive, warn } from "./output.ts";

/** Milliseconds between two writes of the live line: nobody reads it more often. */
const LIVE_EVERY = 50;

export function createTrainProgress(): (event: TrainEvent) => void {
  const live = isLive();
  let started = performance.now();
  let shownAt = Number.NEGATIVE_INFINITY;
  let total = 0;
  let which = "";
  let validation = "";
  let constraints = "";
  return (event) => {
    const seconds = (performance.now() - started) / 1000;
    switch (event.type) {
      case "start":
        total = event.steps;
        announce(event);
        return;
      case "candidate":
        which = `${event.what}: `;
        started = performance.now();
        return;
      case "step": {
        constraints = sayConstraints(event);
        if (!live) return;
        const now = performance.now();
        if (now - shownAt < LIVE_EVERY && event.step < total) return;
        shownAt = now;
        const left = Math.ceil((seconds / event.step) * (total - event.step));
        const loss = `loss ${event.loss.toFixed(4)}`;
        showLive(`${which}step ${event.step}/${total}, ${loss}${validation}${constraints}, ${left} s left`);
        return;
      }
      case "evaluation": {
        const { loss, concordance } = event.evaluation;
        validation = `, validation C ${formatNumber(concordance, 3)}`;
        if (live) return;
        const step = `${which}step ${event.step}/${total}, validation loss ${loss.toFixed(4)}`;
        say(`${step}${validation}${constraints}, ${seconds.toFixed(1)} s`);
      }
    }
  };
}

function announce({ rows, people, D, T, groups, parameters, backend, warnings }: StartEvent): void {
  const { train, validation: valid, test } = rows;
  const of = people ? ` of ${people.train}, ${people.validation} and ${people.test} people` : "";
  say(
    `${train} training, ${valid} validation and ${test} test rows${of}, ${countOf(groups.length, "group")}`,
  );
  say(
    `${countOf(D, "feature")}, ${countOf(T, "time bin")}, ${countOf(parameters, "parameter")}, backend ${backend}`,
  );
  for (const warning of warnings) warn(warning);
}

/** ", 9/12 met, worst stage = 2 × 3.1": distances in units of their slack. */
function sayConstraints({ groups, constrained, distances, slack }: StepEvent): string {
  const held = groups
    .map((name, g) => ({ name, ratio: distances[g] / slack[g] }))
    .filter((_, g) => constrained[g]);
  if (held.length === 0) return "";
  const worst = held.reduce((one, other) => (other.ratio > one.ratio ? other : one));
  const met = held.filter(({ ratio }) => ratio <= 1).length;
  return `, ${met}/${held.length} met, worst ${worst.name} × ${worst.ratio.toFixed(1)}`;
}
