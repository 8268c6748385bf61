/** The first step: a table from this computer, its outcome, what speaks against it, and what each column is for. */
import { useMemo } from "preact/hooks";
import type { ColumnView, Role, TableView } from "../protocol.ts";
import type { StepProps } from "./app.tsx";
import { count, FileDrop, Next, Select, TroubleCard } from "./controls.tsx";
import { Findings } from "./findings.tsx";
import { Outcome } from "./outcome.tsx";
import { Bars } from "./plots.tsx";
import { TABLE_FILES } from "./table-files.ts";

const UNIT_OF_EXAMPLES = "days";
const EXAMPLES = [
  { name: "nwtco", words: "4,028 children with Wilms tumour: does it come back?" },
  { name: "flchain", words: "7,874 people and a blood protein: how long do they live?" },
] as const;

export function TableStep({ studio, actions }: StepProps) {
  const { table, trouble } = studio;
  const open = (file: File) => void actions.openTable(file);
  const mend = trouble !== null && <ReadingTrouble studio={studio} actions={actions} />;
  if (table === null) {
    return (
      <section class="welcome">
        <h1>Survival curves that are right for every group you name</h1>
        <p class="lead">
          Give the page your data. It finds what is wrong with it, trains a model that is held to your groups,
          and says how far off the model could still be. All of it happens in this browser.
        </p>
        <FileDrop label="Table" accept={TABLE_FILES} onFile={open}>
          <strong>Drop a file here</strong>
          <span>
            or <u>choose one</u>: CSV, gzip or Parquet, one row a person
          </span>
        </FileDrop>
        {mend}
        <p class="or">or try one of these</p>
        <div class="examples">
          {EXAMPLES.map(({ name, words }) => (
            <button
              type="button"
              class="example"
              key={name}
              onClick={() =>
                void actions.openTable({
                  name: `${name}.csv`,
                  address: addressOf(name),
                  unit: UNIT_OF_EXAMPLES,
                })
              }
            >
              <strong>{name}</strong>
              <span>{words}</span>
            </button>
          ))}
        </div>
        <p class="promise">
          The file is read by this page and stays on your computer. The page has no server to send it to: its
          policy allows it to load its own files and nothing else. You can pull the network cable now.
        </p>
      </section>
    );
  }
  const blocked = studio.gate === null || studio.gate.blockers.length > 0;
  return (
    <>
      <div class="title">
        <h1>
          <bdi>{table.name}</bdi>
        </h1>
        <p class="lead">
          {count(table.rows)} rows, {count(table.columns.length)} columns
        </p>
        <FileDrop label="Table" accept={TABLE_FILES} onFile={open} isSmall>
          Choose another
        </FileDrop>
      </div>
      {mend}
      <Outcome studio={studio} actions={actions} table={table} />
      <Findings studio={studio} actions={actions} table={table} />
      <Columns studio={studio} actions={actions} table={table} />
      <Next to="groups" isReady={!blocked} why={sayWhy(studio)} />
    </>
  );
}

function addressOf(name: string): string {
  return new URL(`datasets/${name}.csv`, document.baseURI).href;
}

function sayWhy({ gate, choices }: StepProps["studio"]): string {
  if (choices.time === "" || choices.event === "") return "Say which column is the time and which the event.";
  if (gate === null) return "Looking at the data…";
  return "Something above has to be settled first.";
}

/** A file that cannot be read; where one column is to blame, it can be left out. */
function ReadingTrouble({ studio, actions }: StepProps) {
  const { trouble, file, choices } = studio;
  if (trouble === null) return null;
  const { column, code } = trouble;
  const canLeave = code === "number.text" && column !== undefined && file !== null;
  const category = [...choices.category, column ?? ""];
  return (
    <TroubleCard trouble={trouble}>
      {canLeave && (
        <>
          <button type="button" onClick={() => void actions.openTable(file, category, column)}>
            Leave out {column}
          </button>
          <button type="button" class="quiet" onClick={() => void actions.openTable(file, category)}>
            Read {column} as text
          </button>
        </>
      )}
      <button type="button" class="quiet" onClick={actions.dismiss}>
        Close
      </button>
    </TroubleCard>
  );
}

const ROLES: readonly { readonly value: Role; readonly text: string }[] = [
  { value: "learn", text: "learn from it" },
  { value: "hold", text: "hold the model to it, do not show it" },
  { value: "person", text: "says whose row it is" },
  { value: "leave", text: "leave it out" },
];

function Columns({ studio, actions, table }: StepProps & { readonly table: TableView }) {
  const { choices, gate } = studio;
  const { time, event, origin, entry, start, weights, roles } = choices;
  const reasons = useMemo(() => new Map(gate?.leftOut.map(({ name, reason }) => [name, reason])), [gate]);
  return (
    <section class="card">
      <h2>Columns</h2>
      <p class="lead">
        Only what was known at the start may be learnt from. A column that the model must not see, such as
        race, can still be one it is held to.
      </p>
      <div class="scroll">
        <table class="columns">
          <thead>
            <tr>
              <th scope="col">Column</th>
              <th scope="col">Values</th>
              <th scope="col">What is in it</th>
              <th scope="col" class="right">
                Missing
              </th>
              <th scope="col">What it is for</th>
            </tr>
          </thead>
          <tbody>
            {table.columns.map((column) => {
              const { name } = column;
              const outcome =
                name === time
                  ? "the time"
                  : name === event
                    ? "the event"
                    : name === entry
                      ? "the entry"
                      : name === origin || name === start
                        ? "the start"
                        : name === weights
                          ? "the weight"
                          : "";
              const role = roles[name] ?? "learn";
              return (
                <tr key={name} class={outcome !== "" ? "outcome" : role}>
                  <ColumnCells column={column} rows={table.rows} />
                  <td>
                    {outcome !== "" ? (
                      <span class="chip">{outcome}</span>
                    ) : (
                      <Select
                        label="Role"
                        isBare
                        value={role}
                        options={ROLES}
                        onChange={(value) => actions.setRole(name, value as Role)}
                      />
                    )}
                    {outcome === "" && reasons.has(name) && <small class="why">{reasons.get(name)}</small>}
                  </td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
    </section>
  );
}

/** "17 %", "under 1 %". */
function roughly(share: number): string {
  const points = Math.round(100 * share);
  return points === 0 ? "under 1 %" : `${points} %`;
}

function ColumnCells({ column, rows }: { readonly column: ColumnView; readonly rows: number }) {
  const { name, type, bars, words, missing } = column;
  return (
    <>
      <th scope="row">
        <bdi>{name}</bdi>
        <small>{type === "boolean" ? "true or false" : type}</small>
      </th>
      <td>
        <Bars bars={bars} />
      </td>
      <td class="words">{words}</td>
      <td class="right">{missing === 0 ? "–" : `${count(missing)} (${roughly(missing / rows)})`}</td>
    </>
  );
}
