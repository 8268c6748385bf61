/**
 * What speaks against the table, before anything is fitted: errors first, each with what mends it. A finding about a
 * column can be settled by leaving the column out, and where it matters by saying that it was known at the start. An
 * error that can be overruled is overruled by name.
 */
import type { Blocker, FindingView, TableView } from "../protocol.ts";
import type { StepProps } from "./app.tsx";
import { outcomeNames } from "./choosing.ts";
import { OutcomeMend, ReadOtherwise } from "./mends.tsx";

const LEVELS = { error: "Has to be settled", warning: "Look at this", note: "Good to know" } as const;
const ORDER = ["error", "warning", "note"] as const;
/** Findings that ask whether a column was known at the start. */
const LATER = ["leak.near", "leak.later", "feature.alone"];

export function Findings({ studio, actions, table }: StepProps & { readonly table: TableView }) {
  const { gate } = studio;
  if (gate === null) return null;
  const repeated = gate.blockers.find(
    ({ overrule }) => overrule === "rowsAreIndependent" || overrule === "person",
  );
  // What keeps a run from starting and is no finding about the data.
  const unlisted = gate.blockers.filter(
    ({ code, overrule }) => overrule === null && !gate.findings.some((finding) => finding.code === code),
  );
  // That people have several rows is asked, and not told beside the question.
  const told = gate.findings.filter(({ code, column }) => code !== "id" || column !== repeated?.column);
  const sorted = ORDER.flatMap((level) => told.filter((finding) => finding.level === level));
  return (
    <section class="card" aria-label="Findings">
      <h2>Before anything is fitted</h2>
      {sorted.length === 0 && repeated === undefined && unlisted.length === 0 && (
        <p class="finding fine">
          <span class="mark" aria-hidden="true">
            ✓
          </span>
          Nothing speaks against this data.
        </p>
      )}
      {unlisted.map(({ message, code }) => (
        <p class="finding error" key={code}>
          <b>{LEVELS.error}:</b> {capital(sentence(message))}
        </p>
      ))}
      {repeated !== undefined && <Repeated blocker={repeated} studio={studio} actions={actions} />}
      <ul class="findings">
        {sorted.map((finding) => (
          <Finding
            key={`${finding.code} ${finding.column}`}
            finding={finding}
            studio={studio}
            actions={actions}
            table={table}
          />
        ))}
      </ul>
    </section>
  );
}

function Finding({
  finding,
  studio,
  actions,
  table,
}: StepProps & { readonly finding: FindingView; readonly table: TableView }) {
  const { code, level, column, message } = finding;
  const { roles, known, allowLeak } = studio.choices;
  const isOutcome = column !== null && outcomeNames(studio.choices).includes(column);
  const isLeft = column !== null && roles[column] === "leave";
  const isAllowed = column !== null && (known.includes(column) || allowLeak.includes(column));
  const isSettled = isLeft || isAllowed;
  const isLeak = level === "error" && code.startsWith("leak.");
  return (
    <li class={`finding ${isSettled ? "settled" : level}`}>
      <p class="say">
        <b>{isSettled ? "Settled" : LEVELS[level]}:</b> {sentence(message)}
      </p>
      {isOutcome && <OutcomeMend finding={finding} studio={studio} actions={actions} table={table} />}
      {column !== null && !isOutcome && (
        <div class="mend">
          {isLeft ? (
            <>
              <span class="hint">{column} is left out.</span>
              <ReadOtherwise finding={finding} column={column} studio={studio} actions={actions} />
              <button type="button" class="quiet" onClick={() => actions.setRole(column, "learn")}>
                Take {column} back
              </button>
            </>
          ) : (
            <>
              {LATER.includes(code) && !isAllowed && (
                <span class="hint">Was {column} known at the start?</span>
              )}
              {LATER.includes(code) && !isAllowed && (
                <button
                  type="button"
                  class="quiet"
                  onClick={() => actions.choose({ known: [...known, column] })}
                >
                  Yes, it was
                </button>
              )}
              <ReadOtherwise finding={finding} column={column} studio={studio} actions={actions} />
              <button type="button" onClick={() => actions.setRole(column, "leave")}>
                Leave out {column}
              </button>
              {isLeak && !isAllowed && (
                <button
                  type="button"
                  class="quiet"
                  onClick={() => actions.choose({ allowLeak: [...allowLeak, column] })}
                >
                  Learn from {column} although it gives the outcome away
                </button>
              )}
              {isAllowed && (
                <span class="hint">
                  {isLeak ? "Learnt from, as you asked." : "Known at the start, you said."}
                </span>
              )}
            </>
          )}
        </div>
      )}
    </li>
  );
}

function Repeated({ blocker, actions }: StepProps & { readonly blocker: Blocker }) {
  const { column, message } = blocker;
  return (
    <div class="finding error">
      <p class="say">
        <b>{LEVELS.error}:</b> {sentence(message)}
      </p>
      <div class="mend">
        {column !== undefined && (
          <button type="button" onClick={() => actions.setRole(column, "person")}>
            {column} says whose row it is
          </button>
        )}
        {blocker.overrule === "rowsAreIndependent" && (
          <button type="button" class="quiet" onClick={() => actions.choose({ rowsAreIndependent: true })}>
            Every row is a person of its own
          </button>
        )}
      </div>
    </div>
  );
}

function capital(message: string): string {
  return message.charAt(0).toUpperCase() + message.slice(1);
}

/** With a full stop; the first word is mostly a column's name, and stays as it is written. */
function sentence(message: string): string {
  return /[.!?]$/.test(message) ? message : `${message}.`;
}
