/**
 * Builds a group from tests on columns, shown as chips, beside the expression that they make. The expression is what
 * counts: it can be written by hand, and its people and events are counted as it changes.
 */
import { useEffect, useState } from "preact/hooks";
import type { ColumnView, GroupView, NamedGroup } from "../protocol.ts";
import type { StepProps } from "./app.tsx";
import { count, Field, Select } from "./controls.tsx";

/** Milliseconds of quiet before an expression is counted. */
const COUNT_AFTER = 120;
const BARE = /^[\p{L}_][\p{L}\p{M}\p{N}_.]*$/u;
const NUMBER = /^[-+]?(\d+\.?\d*|\.\d+)$/;
const COMPARISONS = ["=", "!=", ">=", "<", ">", "<="] as const;

/** A name or value as an expression writes it. */
function write(text: string): string {
  return BARE.test(text) || NUMBER.test(text) ? text : `"${text.replaceAll('"', '""')}"`;
}

/** An "and" between tests; one within quotes, of which an even number follows everywhere else, belongs to a name. */
const AND = /\s*&\s*(?=(?:[^"]*"[^"]*")*[^"]*$)/;

/** The tests of an expression, as far as it is a plain list of them. */
const chipsOf = (expression: string) => (expression.trim() === "" ? [] : expression.trim().split(AND));

interface BuilderProps extends StepProps {
  readonly onAdd: (group: NamedGroup) => void;
}

export function GroupBuilder({ studio, actions, onAdd }: BuilderProps) {
  const { table, choices } = studio;
  const { time, event, roles } = choices;
  const columns = (table?.columns ?? [])
    .filter(({ name }) => name !== time && name !== event)
    // What is left out can still make a group, and comes last.
    .sort((a, b) => Number(roles[a.name] === "leave") - Number(roles[b.name] === "leave"));
  const [expression, setExpression] = useState("");
  const [name, setName] = useState("");
  const view = useCounts(studio, actions, { name: name.trim() || expression, expression });
  const isGood = view !== null && view.trouble === null;
  const chips = chipsOf(expression);
  return (
    <div class="builder">
      <h3>Build one</h3>
      <TestFields
        columns={columns}
        onTest={(test) => setExpression([...chips, test].join(" & "))}
        isFurther={chips.length > 0}
      />
      {chips.length > 0 && (
        <ul class="chips" aria-label="Tests">
          {chips.map((chip, k) => (
            <li class="chip test" key={chip}>
              {chip}
              <button
                type="button"
                aria-label={`Remove ${chip}`}
                onClick={() => setExpression(chips.filter((_, other) => other !== k).join(" & "))}
              >
                ×
              </button>
            </li>
          ))}
        </ul>
      )}
      <div class="fields">
        <Field
          label="Expression"
          isCode
          value={expression}
          placeholder="age >= 60 & sex = F"
          onInput={setExpression}
        />
        <Field label="Called" value={name} placeholder="the expression itself" onInput={setName} />
      </div>
      <p class="live" role="status">
        {expression.trim() === "" ? (
          "Join tests by & (and) or | (or)."
        ) : view === null ? (
          "Counting…"
        ) : view.trouble !== null ? (
          <span class="bad">{view.trouble.message.split("\n")[0]}</span>
        ) : (
          <>
            <strong>{count(view.rows)}</strong> people, <strong>{count(view.events)}</strong> events
            {view.few !== null && <span class="chip few">too few to say</span>}
          </>
        )}
      </p>
      <button
        type="button"
        disabled={!isGood}
        onClick={() => {
          onAdd({ name: name.trim() || expression.trim(), expression: expression.trim() });
          setExpression("");
          setName("");
        }}
      >
        Add group
      </button>
    </div>
  );
}

interface TestProps {
  readonly columns: readonly ColumnView[];
  readonly onTest: (test: string) => void;
  readonly isFurther: boolean;
}

function TestFields({ columns, onTest, isFurther }: TestProps) {
  const [column, setColumn] = useState("");
  const [comparison, setComparison] = useState<string>("=");
  const [value, setValue] = useState("");
  const own = columns.find(({ name }) => name === column) ?? columns[0];
  const values = own?.values ?? [];
  const isList = values.length > 0 && (own.type !== "number" || values.length <= 12);
  const shown = isList && !values.includes(value) ? values[0] : value;
  return (
    <div class="fields tests">
      <Select
        label="Column"
        value={own?.name ?? ""}
        options={columns.map(({ name }) => name)}
        onChange={(next) => {
          setColumn(next);
          setValue("");
        }}
      />
      <Select label="Is" value={comparison} options={COMPARISONS} onChange={setComparison} />
      {isList ? (
        <Select label="Value" value={shown} options={values} onChange={setValue} />
      ) : (
        <Field label="Value" value={value} onInput={setValue} placeholder={own?.words} />
      )}
      <button
        type="button"
        class="quiet"
        disabled={own === undefined || shown.trim() === ""}
        onClick={() => onTest(`${write(own.name)} ${comparison} ${write(shown.trim())}`)}
      >
        {isFurther ? "And this" : "Add test"}
      </button>
    </div>
  );
}

/** Who is in a group that is being written; null while nobody knows. */
function useCounts(
  studio: StepProps["studio"],
  actions: StepProps["actions"],
  group: NamedGroup,
): GroupView | null {
  const [view, setView] = useState<GroupView | null>(null);
  const { expression } = group;
  const { choices } = studio;
  // A name changes no count.
  useEffect(() => {
    setView(null);
    if (expression.trim() === "") return;
    let isCurrent = true;
    const timer = setTimeout(() => {
      actions.desk.viewGroups(choices, [group]).then(
        ([one]) => isCurrent && setView(one),
        () => undefined,
      );
    }, COUNT_AFTER);
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [expression, choices.time, choices.event, choices.eventIs, choices.causes]);
  return view;
}
