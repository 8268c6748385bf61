/** The frame of the page: what it is, that nothing leaves, the six steps, the step that is open, and what is kept. */
import { useEffect, useRef, useState } from "preact/hooks";
import { AuditStep } from "./audit-step.tsx";
import { GroupsStep } from "./groups-step.tsx";
import { PeopleStep } from "./people-step.tsx";
import { STEPS, type StepName } from "./steps.ts";
import type { Actions, Store, Studio } from "./studio.ts";
import { TableStep } from "./table-step.tsx";
import { TrainStep } from "./train-step.tsx";
import { VerdictStep } from "./verdict-step.tsx";

/** What every step is given. */
export interface StepProps {
  readonly studio: Studio;
  readonly actions: Actions;
}

const VIEWS: Readonly<Record<StepName, (props: StepProps) => preact.JSX.Element>> = {
  table: TableStep,
  groups: GroupsStep,
  train: TrainStep,
  verdict: VerdictStep,
  people: PeopleStep,
  audit: AuditStep,
};

export function App({ store }: { readonly store: Store }) {
  const [studio, setStudio] = useState(store.get());
  useEffect(() => store.subscribe(() => setStudio(store.get())), [store]);
  const { step, busy } = studio;
  const hasBegun = useRef(false);
  const panel = useRef<HTMLDivElement>(null);
  // Who pressed a button that is no longer there goes on from the top of what took its place.
  useEffect(() => {
    if (document.activeElement === document.body && hasBegun.current)
      panel.current?.focus({ preventScroll: true });
    hasBegun.current ||= studio.isRestored;
  }, [step, studio.table, studio.isRestored]);
  const View = VIEWS[step];
  const place = STEPS.findIndex(({ name }) => name === step);
  return (
    <>
      <header class="top">
        <div class="brand">
          <img src="./icon.svg" width="30" height="30" alt="" />
          <p>
            <strong>graduate</strong> studio
          </p>
          <p class="private" title="The page's own policy lets it reach nothing but its own files">
            <Lock /> Nothing leaves this computer
          </p>
        </div>
        <Steps studio={studio} />
      </header>
      <div class={`busy${busy === null ? "" : " on"}`} role="status">
        {busy !== null && (
          <>
            <span style={{ width: `${Math.round(100 * Math.min(1, busy.share))}%` }} />
            <em>{busy.words}</em>
          </>
        )}
      </div>
      <main>
        <div id={`panel-${step}`} ref={panel} role="tabpanel" aria-label={`Step ${place + 1}`} tabIndex={-1}>
          {studio.isRestored ? (
            <View studio={studio} actions={store.actions} />
          ) : (
            <p class="hint">opening…</p>
          )}
        </div>
      </main>
      <Keeping studio={studio} actions={store.actions} />
    </>
  );
}

function Steps({ studio }: { readonly studio: Studio }) {
  const { step } = studio;
  const isDone: Readonly<Record<StepName, boolean>> = {
    table: studio.gate !== null && studio.gate.blockers.length === 0,
    groups: studio.choices.groups.length > 0,
    train: studio.model !== null,
    verdict: studio.model?.report != null,
    people: false,
    audit: false,
  };
  const move = (event: KeyboardEvent) => {
    const by = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (by === 0) return;
    const at = STEPS.findIndex(({ name }) => name === step);
    const { name } = STEPS[(at + by + STEPS.length) % STEPS.length];
    location.hash = name;
    document.getElementById(`tab-${name}`)?.focus();
  };
  return (
    <div class="steps" role="tablist" aria-label="The way" onKeyDown={move}>
      {STEPS.map(({ name, title }, k) => (
        <a
          key={name}
          id={`tab-${name}`}
          role="tab"
          href={`#${name}`}
          aria-selected={name === step}
          aria-controls={name === step ? `panel-${name}` : undefined}
          tabIndex={name === step ? 0 : -1}
          class={isDone[name] ? "done" : undefined}
        >
          <span class="number" aria-hidden="true">
            {isDone[name] && name !== step ? "✓" : k + 1}
          </span>
          <span class="step-name">{title}</span>
        </a>
      ))}
    </div>
  );
}

function Keeping({ studio, actions }: StepProps) {
  return (
    <footer>
      <label class="check">
        <input
          type="checkbox"
          checked={studio.keeps}
          onChange={(event) => void actions.keep(event.currentTarget.checked)}
        />
        <span>
          Keep my work in this browser
          <small>
            so that it survives a reload. Not on a shared computer: whoever opens this page here sees it.
          </small>
        </span>
      </label>
      <button type="button" class="quiet" onClick={() => void actions.forget()}>
        Forget everything
      </button>
      <p class="hint">
        Computed in this browser, with the kernels of the command line. Not a medical device: it helps people
        check models, it does not decide about anyone.
      </p>
    </footer>
  );
}

function Lock() {
  return (
    <svg viewBox="0 0 16 16" width="14" height="14" aria-hidden="true" focusable="false">
      <path d="M4 7V5a4 4 0 0 1 8 0v2h1v7H3V7zm2 0h4V5a2 2 0 0 0-4 0z" fill="currentColor" />
    </svg>
  );
}
