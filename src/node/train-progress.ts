/**
 * How a training run shows itself: one live line on a terminal (step, loss, validation C, constraints met, worst group, time left),
 * one plain line an evaluation where stderr is a file or a pipe.
 */
import { formatNumber, shorten } from "../report/text-table.ts";
import type { StartEvent, TrainEvent } from "../train.ts";
import type { StepEvent } from "../training/trainer.ts";
import { terminalWidth, warn } from "./output.ts";

export function createTrainProgress(): (event: TrainEvent) => void {
  const live = process.stderr.isTTY === true;
  const started = performance.now();
  let total = 0;
  let validation = "";
  let constraints = "";
  return (event) => {
    const seconds = (performance.now() - started) / 1000;
    switch (event.type) {
      case "start":
        total = event.steps;
        announce(event);
        return;
      case "step": {
        constraints = sayConstraints(event);
        if (!live) return;
        const left = Math.ceil((seconds / event.step) * (total - event.step));
        const line = `step ${event.step}/${total}, loss ${event.loss.toFixed(4)}${validation}${constraints}, ${left} s left`;
        process.stderr.write(`\r\x1b[K${shorten(line, terminalWidth())}`);
        return;
      }
      case "evaluation": {
        const { loss, concordance } = event.evaluation;
        validation = `, validation C ${formatNumber(concordance, 3)}`;
        if (live) return;
        const line = `step ${event.step}/${total}, validation loss ${loss.toFixed(4)}${validation}${constraints}`;
        process.stderr.write(`${line}, ${seconds.toFixed(1)} s\n`);
      }
    }
  };
}

function announce({ rows, D, T, groups, parameters, backend, warnings }: StartEvent): void {
  process.stderr.write(
    `${rows.train} training, ${rows.valid} validation and ${rows.test} test rows, ${groups.length} groups\n`,
  );
  process.stderr.write(`${D} features, ${T} time bins, ${parameters} parameters, backend ${backend}\n`);
  for (const warning of warnings) warn(warning);
}

/** ", 9/12 met, worst stage = 2 × 3.1": distances in units of their slack. */
function sayConstraints({ groups, distances, slack }: StepEvent): string {
  if (groups.length === 0) return "";
  const ratios = Array.from(distances, (distance, g) => distance / slack[g]);
  const worst = ratios.indexOf(Math.max(...ratios));
  const met = ratios.filter((ratio) => ratio <= 1).length;
  return `, ${met}/${groups.length} met, worst ${groups[worst]} × ${ratios[worst].toFixed(1)}`;
}
