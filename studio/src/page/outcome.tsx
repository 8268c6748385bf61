/** Which column is the time and which the event, how they are read, and what that gives: counts and a curve. */
import { Fragment } from "preact";
import { useMemo } from "preact/hooks";
import type { TableView } from "../protocol.ts";
import type { StepProps } from "./app.tsx";
import { chooseTime, countFrom } from "./choosing.ts";
import { count, Field, Select } from "./controls.tsx";
import { Beyond, Causes } from "./outcome-causes.tsx";
import { CauseLegend, drawCauses } from "./cause-plots.tsx";
import { drawObserved, Figure } from "./plots.tsx";

/** Values of an event column that a list offers. */
const MOST_VALUES = 20;

export function Outcome({ studio, actions, table }: StepProps & { readonly table: TableView }) {
  const { choices, gate } = studio;
  const { time, event, eventIs, origin, unit } = choices;
  const names = [
    { value: "", text: "choose a column" },
    ...table.columns.map(({ name }) => ({ value: name, text: name })),
  ];
  const dates = table.columns.filter(({ type, name }) => type === "date" && name !== time);
  const isDate = table.columns.find(({ name }) => name === time)?.type === "date";
  const values = table.columns.find(({ name }) => name === event)?.values.slice(0, MOST_VALUES) ?? [];
  const why = (name: "time" | "event") => (choices[name] === table.guess[name] ? table.why[name] : undefined);
  return (
    <section class="card outcome-card">
      <div>
        <h2>What happens, and when</h2>
        <div class="fields">
          <Select
            label="Time"
            value={time}
            options={names}
            onChange={(value) => actions.choose(chooseTime(choices, value))}
            hint={why("time")}
          />
          <Select
            label="Event"
            value={event}
            options={names}
            onChange={(value) => actions.choose({ event: value, eventIs: "", causes: {}, causeNames: {} })}
            hint={why("event")}
          />
          {values.length > 0 && Object.keys(choices.causes).length === 0 && (
            <Select
              label="Happened where it is"
              value={eventIs}
              options={[{ value: "", text: "as it is read" }, ...values]}
              onChange={(value) => actions.choose({ eventIs: value })}
              hint={gate?.eventRule}
            />
          )}
          {isDate && (
            <Select
              label="Counted from"
              value={origin}
              options={[{ value: "", text: "choose a date" }, ...dates.map(({ name }) => name)]}
              onChange={(value) => actions.choose(countFrom(choices, value))}
            />
          )}
          <Field
            label="Unit"
            value={unit}
            placeholder="days, months, years"
            onInput={(value) => actions.choose({ unit: value.trim() })}
          />
        </div>
        <Causes studio={studio} actions={actions} table={table} />
        <Beyond studio={studio} actions={actions} table={table} />
      </div>
      <Counts studio={studio} />
    </section>
  );
}

function Counts({ studio }: { readonly studio: StepProps["studio"] }) {
  const { gate, choices } = studio;
  const { everyone = null, causes = [] } = gate ?? {};
  const { unit } = choices;
  const draw = useMemo(
    () => (causes.length > 0 ? drawCauses(causes, unit) : everyone && drawObserved(everyone, unit)),
    [everyone, causes, unit],
  );
  if (gate === null || gate.events === null || gate.censored === null || draw === null) {
    return (
      <p class="hint waiting">
        {gate === null
          ? "Choose time and event to see a curve."
          : "A curve follows when what is said below is settled."}
      </p>
    );
  }
  const { events, censored } = gate;
  return (
    <div class="counts">
      <p class="say">
        {causes.length === 0 ? (
          <>
            <strong>{count(events)}</strong> had the event
          </>
        ) : (
          causes.map(({ name, events: own }, k) => (
            <Fragment key={name}>
              {k > 0 && ", "}
              <strong>{count(own)}</strong> had <bdi>{name}</bdi>
            </Fragment>
          ))
        )}
        , <strong>{count(censored)}</strong> were observed without {causes.length === 0 ? "it" : "any"}.
      </p>
      {causes.length > 0 && <CauseLegend causes={causes} />}
      <Figure
        label={causes.length > 0 ? "Incidence of each cause, stacked" : "Kaplan-Meier curve of everyone"}
        draw={draw}
        height={210}
      />
    </div>
  );
}
