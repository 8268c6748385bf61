/**
 * What was observed of some rows, before any model: the Kaplan-Meier curve of any event, and where several causes are
 * told apart the incidence of each (Aalen-Johansen), which the others at work keep below one minus Kaplan-Meier of its
 * own. Late entry, rows one after the other and weights count as they do in a report.
 */
import { kaplanMeier, type Table } from "graduate-survival";
import { type Outcomes, pickOutcomes, readHistory } from "graduate-survival/data";
import { present } from "graduate-survival/core";
import { aalenJohansen } from "graduate-survival/stats";
import type { CauseCurve, Choices, Curve } from "../protocol.ts";
import { outcomeOf, personOf } from "./request.ts";

export interface Observed {
  readonly rows: number;
  readonly events: number;
  /** Null where there is no row. */
  readonly curve: Curve | null;
  /** Empty where there is one kind of event. */
  readonly causes: readonly CauseCurve[];
}

export interface Observer {
  readonly outcomes: Outcomes;
  observe(isIn: (row: number) => boolean): Observed;
}

/** Points of a curve that a plot can show. */
const MOST_POINTS = 240;

/** Reads the outcome with all that it has; what cannot be read is refused. */
export function createObserver(table: Table, choices: Choices): Observer {
  const columns = outcomeOf(choices);
  const { outcomes, causes } = readHistory(table, {
    ...columns,
    ...(columns.start === undefined ? {} : present({ id: personOf(table, choices) })),
  });
  return {
    outcomes,
    observe(isIn) {
      const rows: number[] = [];
      for (let row = 0; row < table.rows; row++) if (isIn(row)) rows.push(row);
      const { cause, id: _, ...any } = pickOutcomes(outcomes, Int32Array.from(rows));
      const events = any.event.reduce((sum, one) => sum + one, 0);
      if (rows.length === 0) return { rows: 0, events, curve: null, causes: [] };
      const { time, survival } = kaplanMeier(any);
      const curve = thin({ time: [0, ...time], survival: [1, ...survival] });
      const named = causes === null || cause === undefined ? [] : causes;
      const incidences =
        named.length === 0 ? null : aalenJohansen({ ...any, cause: cause ?? [] }, { causes: named.length });
      return {
        rows: rows.length,
        events,
        curve,
        causes: named.map((name, k): CauseCurve => {
          const own = incidences?.causes[k].incidence ?? [];
          const thinned = thin({ time: [0, ...(incidences?.time ?? [])], survival: [0, ...own] });
          const ofCause = cause?.reduce((sum, one) => sum + (one === k + 1 ? 1 : 0), 0) ?? 0;
          return { name, events: ofCause, time: thinned.time, incidence: thinned.survival };
        }),
      };
    },
  };
}

function thin({ time, survival }: Curve): Curve {
  const { length } = time;
  if (length <= MOST_POINTS) return { time, survival };
  const places = Array.from({ length: MOST_POINTS }, (_, k) =>
    Math.round((k * (length - 1)) / (MOST_POINTS - 1)),
  );
  return { time: places.map((k) => time[k]), survival: places.map((k) => survival[k]) };
}
