/**
 * What mends a finding about the outcome's own columns, which cannot be left out: a date to count from, what the values
 * of the event mean, or the file again, corrected. What only the file can mend is said so.
 */
import type { ColumnView, FindingView, TableView } from "../protocol.ts";
import type { StepProps } from "./app.tsx";
import { countFrom, listNothing, mean, readAsCodes, readWithCommas } from "./choosing.ts";
import { FileDrop } from "./controls.tsx";
import { MOST_VALUES } from "./outcome-causes.tsx";
import { TABLE_FILES } from "./table-files.ts";

type MendProps = StepProps & { readonly finding: FindingView; readonly table: TableView };

/** Cells that no choice on the page can make good. */
const IN_THE_FILE = [
  "time.values",
  "time.doubtful",
  "date.mixed",
  "time.missing",
  "time.nonpositive",
  "event.values",
  "event.missing",
  "entry.order",
  "interval.overlap",
  "weights.values",
];

export function OutcomeMend({ finding, studio, actions, table }: MendProps) {
  const { code, level } = finding;
  const { choices } = studio;
  if (level !== "error") return null;
  const column = table.columns.find(({ name }) => name === finding.column);
  if (code === "time.values" && column?.type === "date" && choices.origin === "") {
    const dates = table.columns.filter(({ type, name }) => type === "date" && name !== column.name);
    if (dates.length > 0) {
      return (
        <div class="mend">
          {dates.map(({ name }) => (
            <button type="button" key={name} onClick={() => actions.choose(countFrom(choices, name))}>
              Count days from {name}
            </button>
          ))}
        </div>
      );
    }
  }
  const isNamed = code === "event.name";
  const isEvent = (code === "event.values" || isNamed) && column?.name === choices.event;
  const values = isEvent ? (column?.values ?? []) : [];
  if (values.length > 1 && values.length <= MOST_VALUES)
    return <EventMend actions={actions} studio={studio} values={values} isNamed={isNamed} />;
  if (finding.column !== null && (code === "number.marks" || code === "date.ambiguous"))
    return (
      <div class="mend">
        <ReadOtherwise finding={finding} column={finding.column} studio={studio} actions={actions} />
      </div>
    );
  if (!IN_THE_FILE.includes(code)) return null;
  return (
    <div class="mend">
      {code === "time.doubtful" && finding.column !== null && (
        <ReadOtherwise finding={finding} column={finding.column} studio={studio} actions={actions} />
      )}
      <span class="hint">Correct or remove these rows in the file, and choose it again.</span>
      <FileDrop
        label="Corrected file"
        accept={TABLE_FILES}
        onFile={(file) => void actions.openTable(file)}
        isSmall
      >
        Choose the corrected file
      </FileDrop>
    </div>
  );
}

/** A column whose cells were not read as they were meant. */
export function ReadOtherwise({
  finding: { code, mark },
  column,
  studio,
  actions,
}: StepProps & { readonly finding: FindingView; readonly column: string }) {
  const { choices, gate } = studio;
  if (code === "number.marks" && mark !== undefined) {
    const other = mark === "point" ? "comma" : "point";
    return (
      <>
        <button type="button" onClick={() => void actions.readAgain({ decimal: mark, thousands: other })}>
          Its {mark}s stand before decimals
        </button>
        <button type="button" onClick={() => void actions.readAgain({ decimal: other, thousands: mark })}>
          Its {mark}s stand between thousands
        </button>
      </>
    );
  }
  if (code === "date.ambiguous") {
    return (
      <>
        <button type="button" onClick={() => void actions.readAgain({ dateOrder: "month-first" })}>
          3/4 is March 4
        </button>
        <button type="button" onClick={() => void actions.readAgain({ dateOrder: "day-first" })}>
          3/4 is 3 April
        </button>
      </>
    );
  }
  if (code === "time.doubtful" || code === "number.sentinel") {
    return (
      <button
        type="button"
        onClick={() => void actions.readAgain({ asWritten: [...(choices.asWritten ?? []), column] })}
      >
        The values of {column} are meant as they are
      </button>
    );
  }
  if (code === "number.comma") {
    return (
      <button
        type="button"
        onClick={() => void actions.readAgain(readWithCommas(choices, gate?.findings ?? [], column))}
      >
        Read {column} with decimal commas
      </button>
    );
  }
  if (code !== "number.large") return null;
  return (
    <button type="button" onClick={() => void actions.readAgain(readAsCodes(choices, column))}>
      Read {column} as codes
    </button>
  );
}

/** Several values that happened: all of them are causes, or one is the event. */
function EventMend({
  studio,
  actions,
  values,
  isNamed,
}: StepProps & { readonly values: ColumnView["values"]; readonly isNamed: boolean }) {
  // Where the column's name turns its values around, none of them means nothing by itself.
  const nothing = isNamed ? [] : listNothing(values);
  const happened = values.filter((value) => !nothing.includes(value));
  return (
    <div class="mend">
      {happened.length > 1 && happened.length < values.length && (
        <button
          type="button"
          onClick={() => actions.choose(mean(studio.choices, values, happened[0], "cause"))}
        >
          {listWords(happened)} are causes that compete
        </button>
      )}
      {happened.map((value) => (
        <button
          type="button"
          class="quiet"
          key={value}
          onClick={() => actions.choose(mean(studio.choices, values, value, "event"))}
        >
          Only {value} is the event
        </button>
      ))}
    </div>
  );
}

/** "1, 2 and 3" */
function listWords(words: readonly string[]): string {
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
}
