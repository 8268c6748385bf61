/** What starts, pauses, cancels a run and goes on with it; focus stays with whoever pressed the one before. */
import { useEffect, useRef } from "preact/hooks";
import type { StepProps } from "./app.tsx";
import { count } from "./controls.tsx";

export function RunButtons({ studio, actions, isBlocked }: StepProps & { readonly isBlocked: boolean }) {
  const { isTraining, isStopping, isPausing: isPaused, checkpoint, model } = studio;
  const isJudging = isTraining && studio.busy !== null;
  const row = useRef<HTMLDivElement>(null);
  const wasTraining = useRef(isTraining);
  // A run takes away the button that was pressed: the next one in its place has the focus.
  useEffect(() => {
    if (wasTraining.current === isTraining) return;
    wasTraining.current = isTraining;
    if (document.activeElement !== document.body) return;
    const next = isTraining || model === null ? row.current : document.querySelector(".next");
    next?.querySelector<HTMLButtonElement>("button:enabled")?.focus({ preventScroll: true });
  }, [isTraining, model]);
  return (
    <div class="go" ref={row}>
      {!isTraining && (
        <button
          type="button"
          class="primary big"
          disabled={isBlocked}
          onClick={() => void actions.train(false)}
        >
          Train
        </button>
      )}
      {!isTraining && checkpoint !== null && (
        <button type="button" class="big" onClick={() => void actions.train(true)}>
          Go on from step {count(checkpoint)}
        </button>
      )}
      {isTraining && (
        <>
          <button
            type="button"
            class="big"
            disabled={isStopping || isJudging}
            onClick={() => actions.pause(!isPaused)}
          >
            {isPaused ? "Go on" : "Pause"}
          </button>
          <button type="button" class="quiet big" disabled={isStopping || isJudging} onClick={actions.stop}>
            {isStopping ? "Stopping…" : "Cancel"}
          </button>
          {isJudging && <p class="hint">The model is made and is being judged.</p>}
        </>
      )}
    </div>
  );
}
