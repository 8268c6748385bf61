/**
 * The fifth step: one person's curve. A row of the table, or values that are typed; sliders ask what would be predicted
 * of someone who differs in these values alone. That is what the model says, not what a treatment would do.
 */
import { useEffect, useId, useState } from "preact/hooks";
import type { ModelView, PersonInput, PersonValues, PersonView, Trouble } from "../protocol.ts";
import type { StepProps } from "./app.tsx";
import type { Refusal } from "./client.ts";
import { Field, Next, Select, TroubleCard } from "./controls.tsx";
import { PersonCard } from "./person-card.tsx";
import { Readings } from "./person-readings.tsx";
import { OpenModel } from "./verdict-step.tsx";

/** Milliseconds of quiet before a changed value is predicted. */
const PREDICT_AFTER = 60;

export function PeopleStep({ studio, actions }: StepProps) {
  const { model, trouble } = studio;
  if (model === null) {
    return (
      <section class="welcome">
        <h1>Whose curve?</h1>
        <p class="lead">Train a model first, or open one from a file.</p>
        <OpenModel actions={actions} />
        {trouble !== null && <TroubleCard trouble={trouble} />}
      </section>
    );
  }
  return <Person key={model.name} model={model} studio={studio} actions={actions} />;
}

function Person({ model, actions }: StepProps & { readonly model: ModelView }) {
  const [row, setRow] = useState(model.rows > 0 ? "1" : "");
  const [values, setValues] = useState<PersonValues>({});
  const { view, trouble } = usePerson(actions, model, rowOf(row, model), values);
  return (
    <>
      <div class="title">
        <h1>One person at a time</h1>
        <p class="lead">What the model predicts, and what it would for someone who differs in one thing.</p>
        <OpenModel actions={actions} isSmall />
      </div>
      <div class="person">
        <section class="card" aria-label="The person">
          {model.rows > 0 && (
            <Field
              label="Row"
              type="number"
              value={row}
              hint={`1 to ${model.rows}; empty for someone who is not among them`}
              onInput={(text) => {
                setRow(text);
                setValues({});
              }}
            />
          )}
          {model.inputs.map((input) => (
            <Input
              key={input.name}
              input={input}
              value={values[input.name] ?? view?.values[input.name] ?? ""}
              isChanged={input.name in values}
              onInput={(text) => setValues({ ...values, [input.name]: text })}
            />
          ))}
          <button
            type="button"
            class="quiet"
            disabled={Object.keys(values).length === 0}
            onClick={() => setValues({})}
          >
            As it was
          </button>
        </section>
        <section class="card" aria-label="What the model says">
          {trouble !== null && <TroubleCard trouble={trouble} />}
          {view !== null && <Readings view={view} unit={model.unit} />}
        </section>
      </div>
      {model.rows > 0 && <PersonCard actions={actions} row={rowOf(row, model)} values={values} />}
      <Next to="audit" />
    </>
  );
}

function rowOf(text: string, { rows }: ModelView): number | null {
  const row = Number(text);
  return text.trim() !== "" && Number.isInteger(row) && row >= 1 && row <= rows ? row : null;
}

function usePerson(
  actions: StepProps["actions"],
  model: ModelView,
  row: number | null,
  values: PersonValues,
) {
  const [view, setView] = useState<PersonView | null>(null);
  const [trouble, setTrouble] = useState<Trouble | null>(null);
  useEffect(() => {
    let isCurrent = true;
    const timer = setTimeout(() => {
      actions.desk.viewPerson({ row, values }).then(
        (one) => {
          if (!isCurrent) return;
          setView(one);
          setTrouble(null);
        },
        (error: Refusal) => isCurrent && setTrouble(error.trouble),
      );
    }, PREDICT_AFTER);
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [actions, model, row, values]);
  return { view, trouble };
}

interface InputProps {
  readonly input: PersonInput;
  readonly value: string;
  readonly isChanged: boolean;
  readonly onInput: (text: string) => void;
}

function Input({ input, value, isChanged, onInput }: InputProps) {
  const { name } = input;
  const id = useId();
  if (input.kind === "choice") {
    const known = value === "" || input.values.includes(value) ? input.values : [...input.values, value];
    const options = [{ value: "", text: "missing" }, ...known.map((one) => ({ value: one, text: one }))];
    return <Select label={name} value={value} options={options} onChange={onInput} />;
  }
  const { minimum, maximum, step, usual } = input;
  return (
    <div class={`field slider${isChanged ? " changed" : ""}`}>
      <label class="name" for={id}>
        {name}
      </label>
      <input
        id={id}
        type="range"
        min={minimum}
        max={maximum}
        step={step}
        value={value === "" ? usual : value}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
      <input
        type="number"
        aria-label={`${name}, as a number`}
        value={value}
        step="any"
        onInput={(event) => onInput(event.currentTarget.value)}
      />
    </div>
  );
}
