/**
 * What an outcome may have beyond time and event: several causes, told by the values of the event column, and folded
 * away the columns of late entry, of rows one after the other, and of weights.
 */
import type { Choices, ColumnView, TableView } from "../protocol.ts";
import type { StepProps } from "./app.tsx";
import { mean, outcomeNames } from "./choosing.ts";
import { Field, Select } from "./controls.tsx";

/** An event column with fewer values has one kind of event; with more it is no list of causes. */
const FEWEST_VALUES = 3;
export const MOST_VALUES = 8;

type OutcomeProps = StepProps & { readonly table: TableView };

/** What a value means: as it is read, or the one event there is, or censored and a cause among several. */
const MEANINGS = [
  { value: "", text: "as it is read" },
  { value: "event", text: "the event, all others censored" },
  { value: "cause", text: "a cause, one of several" },
  { value: "censored", text: "censored" },
] as const;

export function Causes({ studio, actions, table }: OutcomeProps) {
  const { choices } = studio;
  const { event, eventIs, causes, causeNames } = choices;
  const values = listValues(table.columns.find(({ name }) => name === event));
  if (values.length === 0) return null;
  const isSeveral = Object.keys(causes).length > 0;
  return (
    <fieldset class="causes">
      <legend>What its values mean</legend>
      <p class="hint">
        {isSeveral
          ? "The model tells the causes apart: each has a risk of its own, and all together leave the rest."
          : "Where several causes compete, say which values are causes: each then has a risk of its own."}
      </p>
      <div class="fields">
        {values.map((value) => (
          <Select
            key={value}
            label={`Where it is ${value}`}
            value={causes[value] ?? (eventIs === value ? "event" : "")}
            options={isSeveral ? MEANINGS.slice(1) : MEANINGS}
            onChange={(meaning) => actions.choose(mean(choices, values, value, meaning))}
          />
        ))}
      </div>
      {isSeveral && (
        <div class="fields">
          {values
            .filter((value) => causes[value] === "cause")
            .map((value) => (
              <Field
                key={value}
                label={`What ${value} is called`}
                value={causeNames[value] ?? ""}
                placeholder={/^\d+$/.test(value) ? `cause ${value}` : value}
                onInput={(text) => actions.choose({ causeNames: { ...causeNames, [value]: text } })}
              />
            ))}
        </div>
      )}
    </fieldset>
  );
}

/** Values of an event column that may tell several causes apart; empty where they do not. */
function listValues(column: ColumnView | undefined): readonly string[] {
  const values = column?.values ?? [];
  return values.length < FEWEST_VALUES || values.length > MOST_VALUES ? [] : values;
}

const COLUMNS = [
  { name: "entry", label: "Entry", hint: "when a person came under observation, where later than time 0" },
  { name: "start", label: "Start", hint: "of each row, where people have several, one after the other" },
  { name: "weights", label: "Weights", hint: "how many people a row stands for" },
] as const;

/** A start is the entry where people have several rows: there is one of the two. */
function leaveOther(name: (typeof COLUMNS)[number]["name"]): Partial<Choices> {
  return name === "entry" ? { start: "" } : name === "start" ? { entry: "" } : {};
}

export function Beyond({ studio, actions, table }: OutcomeProps) {
  const { choices } = studio;
  const taken = outcomeNames(choices);
  const numbers = table.columns.filter(({ type }) => type === "number" || type === "date");
  const optionsOf = (own: string) => {
    const free = numbers.filter(({ name }) => name === own || !taken.includes(name));
    return [{ value: "", text: "none" }, ...free.map(({ name }) => ({ value: name, text: name }))];
  };
  if (numbers.every(({ name }) => taken.includes(name))) return null;
  return (
    <details class="expert">
      <summary>Late entry and weights, for experts</summary>
      <div class="fields">
        {COLUMNS.map(({ name, label, hint }) => (
          <Select
            key={name}
            label={label}
            value={choices[name]}
            options={optionsOf(choices[name])}
            hint={hint}
            onChange={(value) => actions.choose({ ...leaveOther(name), [name]: value })}
          />
        ))}
      </div>
    </details>
  );
}
