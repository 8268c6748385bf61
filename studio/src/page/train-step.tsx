/** The third step: one button, and what can be seen of the run: loss, distances, curves that come together. */
import { useEffect, useMemo, useState } from "preact/hooks";
import type { GroupProgress, MovingCurve, RunView, TrainChoices } from "../protocol.ts";
import type { StepProps } from "./app.tsx";
import { outcomeNames } from "./choosing.ts";
import { count, Field, Next, Select, TroubleCard } from "./controls.tsx";
import { NotYet } from "./groups-step.tsx";
import { drawLoss, drawMoving, Figure } from "./plots.tsx";
import { RunButtons } from "./run-buttons.tsx";

export function TrainStep({ studio, actions }: StepProps) {
  const { table, gate, choices, run, isTraining, trouble, model } = studio;
  if (table === null || gate === null) return <NotYet />;
  const isBlocked = gate.blockers.length > 0;
  const outcome = outcomeNames(choices);
  const learnt = table.columns.filter(
    ({ name }) => (choices.roles[name] ?? "learn") === "learn" && !outcome.includes(name),
  );
  return (
    <>
      <h1>Train a model that is held to them</h1>
      <p class="lead">
        {count(table.rows)} rows, {count(learnt.length)} columns to learn from,{" "}
        {choices.groups.length === 0
          ? "everyone together"
          : `${count(choices.groups.length + 1)} groups with everyone`}
        . A fifth of the rows is kept aside and judges the model in the end.
      </p>
      {isBlocked && (
        <TroubleCard trouble={gate.blockers[0]}>
          <a class="button" href="#table">
            Settle it in the first step
          </a>
        </TroubleCard>
      )}
      <RunButtons studio={studio} actions={actions} isBlocked={isBlocked} />
      <Expert studio={studio} actions={actions} />
      {trouble !== null && <TroubleCard trouble={trouble} />}
      {(run !== null || isTraining) && <Live studio={studio} />}
      <Next
        to="verdict"
        isReady={model !== null}
        why={isTraining ? "The verdict follows the run." : undefined}
      />
    </>
  );
}

const PRESETS_OWN = { value: "", text: "the preset’s" };
const numberOf = (text: string) =>
  text.trim() === "" || Number.isNaN(Number(text)) ? undefined : Number(text);
const textOf = (value: number | undefined) => (value === undefined ? "" : String(value));

function Expert({ studio, actions }: StepProps) {
  const { train } = studio.choices;
  const [distances, setDistances] = useState<readonly { readonly value: string; readonly text: string }[]>(
    [],
  );
  // Asked for when the step opens, which has what trains loaded before it is needed.
  useEffect(() => {
    const list = (all: readonly { readonly name: string; readonly words: string }[]) =>
      setDistances(all.map(({ name, words }) => ({ value: name, text: `${name}: ${words}` })));
    actions.desk.listDistances().then(list, () => undefined);
  }, [actions]);
  const set = (change: { readonly [Name in keyof TrainChoices]?: TrainChoices[Name] | undefined }) =>
    actions.chooseTraining(change as Partial<TrainChoices>);
  const splines = train.splines === undefined ? "" : String(train.splines);
  return (
    <details class="card expert">
      <summary>Options for experts</summary>
      <div class="fields">
        <Select
          label="Preset"
          value={train.preset}
          options={["default", "paper"]}
          onChange={(value) => set({ preset: value === "paper" ? "paper" : "default" })}
        />
        <Field
          label="Seed"
          type="number"
          value={String(train.seed)}
          onInput={(text) => set({ seed: Math.max(0, Math.round(numberOf(text) ?? 1)) })}
        />
        <Field
          label="Runs to average"
          type="number"
          placeholder="5 for small tables"
          value={textOf(train.ensemble)}
          onInput={(text) => set({ ensemble: numberOf(text) })}
        />
        <Field
          label="Steps"
          type="number"
          placeholder="the preset’s"
          value={textOf(train.steps)}
          onInput={(text) => set({ steps: numberOf(text) })}
        />
        <Select
          label="Splines"
          value={splines}
          options={[
            { value: "", text: "if events suffice" },
            { value: "true", text: "yes" },
            { value: "false", text: "no" },
          ]}
          onChange={(value) => set({ splines: value === "" ? undefined : value === "true" })}
        />
        <Field
          label="Slack"
          type="number"
          placeholder="each group’s noise"
          value={textOf(train.slack)}
          onInput={(text) => set({ slack: numberOf(text) })}
        />
        <Select
          label="Distance"
          value={train.distance ?? ""}
          options={[PRESETS_OWN, ...distances]}
          onChange={(value) => set({ distance: value === "" ? undefined : value })}
        />
        <Select
          label="Computed by"
          value={train.backend}
          options={[
            { value: "wasm", text: "the processor" },
            { value: "webgpu", text: "graphics (WebGPU)" },
            { value: "reference", text: "one plain thread, slow" },
          ]}
          onChange={(value) => set({ backend: value as TrainChoices["backend"] })}
        />
        <label class="check">
          <input
            type="checkbox"
            checked={train.deterministic}
            onChange={(event) => set({ deterministic: event.currentTarget.checked })}
          />
          <span>
            Deterministic <small>the same bytes on every machine, a little slower</small>
          </span>
        </label>
      </div>
    </details>
  );
}

const PHASES: Readonly<Record<RunView["phase"], string>> = {
  preparing: "Preparing",
  training: "Training",
  paused: "Paused",
  solving: "Holding the groups",
  judging: "Judging",
  done: "Done",
  stopped: "Stopped",
};

function Live({ studio }: { readonly studio: StepProps["studio"] }) {
  const { run, losses, isTraining, busy, model } = studio;
  const steps = run?.steps ?? 0;
  const draw = useMemo(() => drawLoss(losses, steps), [losses, steps]);
  if (run === null) return <p class="hint">Starting…</p>;
  const { phase, step, words, secondsLeft, backend, groups, curves, warnings } = run;
  const shown = isTraining && busy !== null ? "judging" : phase;
  const said = shown === "judging" ? (busy?.words ?? "") : words;
  return (
    <section class="live-run" aria-label="The run">
      <div class="card progress">
        <p class="say" role="status">
          <strong>{PHASES[shown]}</strong> {said}
        </p>
        <progress max={Math.max(1, steps)} value={step} aria-label="Progress" />
        <p class="hint">
          step {count(step)} of {count(steps)}
          {shown === "training" && secondsLeft !== null && `, about ${sayTime(secondsLeft)} left`} · {backend}
        </p>
        <Figure label="Loss by step" draw={draw} height={230} />
        <p class="legend">The loss of each step, and thicker its course.</p>
      </div>
      <Distances groups={model?.held ?? groups} isSolved={model !== null} />
      {curves.length > 0 && <Moving curves={curves} />}
      {warnings.length > 0 && (
        <details class="card">
          <summary>What was said at the start ({warnings.length})</summary>
          <ul>
            {warnings.map((warning) => (
              <li key={warning}>{warning}</li>
            ))}
          </ul>
        </details>
      )}
    </section>
  );
}

function sayTime(seconds: number): string {
  if (seconds < 1) return "a second";
  return seconds < 90 ? `${Math.ceil(seconds)} s` : `${Math.ceil(seconds / 60)} min`;
}

/** A bar that ends at three times the slack. */
const WIDEST = 3;

function Distances({
  groups,
  isSolved,
}: {
  readonly groups: readonly GroupProgress[];
  readonly isSolved: boolean;
}) {
  const held = groups.filter(({ constrained, slack }) => constrained && slack > 0);
  if (held.length === 0) return null;
  return (
    <div class="card">
      <h2>Distance of each group</h2>
      <p class="hint">
        From what was observed, in units of what its noise allows: left of the line is met.
        {isSolved && " These are of the model, whose last step holds its groups."}
      </p>
      <ul class="distances">
        {held.map(({ name, distance, slack, isMet }) => {
          const ratio = distance / slack;
          return (
            <li key={name} class={(isMet ?? ratio <= 1) ? "met" : "unmet"}>
              <span class="who">{name}</span>
              <span class="bar" aria-hidden="true">
                <span style={{ width: `${(100 * Math.min(ratio, WIDEST)) / WIDEST}%` }} />
              </span>
              <span class="ratio">× {ratio.toFixed(ratio < 10 ? 1 : 0)}</span>
            </li>
          );
        })}
      </ul>
    </div>
  );
}

function Moving({ curves }: { readonly curves: readonly MovingCurve[] }) {
  return (
    <div class="card">
      <h2>Observed and predicted, on rows kept for validation</h2>
      <p class="legend">
        <span class="observed">observed</span> <span class="predicted">predicted</span>
      </p>
      <div class="small-multiples">
        {curves.map((curve) => (
          <MovingFigure key={curve.name} curve={curve} />
        ))}
      </div>
    </div>
  );
}

function MovingFigure({ curve }: { readonly curve: MovingCurve }) {
  const draw = useMemo(() => drawMoving(curve), [curve]);
  return (
    <figure>
      <figcaption>{curve.name}</figcaption>
      <Figure label={`Observed and predicted survival of ${curve.name}`} draw={draw} height={110} />
    </figure>
  );
}
