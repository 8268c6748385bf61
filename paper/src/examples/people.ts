/** What the examples share: people of the paper's little tables, their step curves, and everyone as a group. */
import { isAbsent, type Measured } from "graduate-survival/core";
import type { BinnedRightCensored, Curves } from "graduate-survival/data";
import type { NamedRows } from "graduate-survival/objectives";

/** A person from the paper's little tables, with the prediction. */
export interface ExamplePerson {
  readonly time: number;
  readonly event: 0 | 1;
  /** Predicted survival is 1 before `time` and this value from then on. */
  readonly after: number;
}

/** The examples are made so that their scores are defined. */
export function requireMeasured<Value>(value: Measured<Value>): Value {
  if (isAbsent(value)) throw new Error(`an example without a value: ${value.absent}`);
  return value as Value;
}

export function stepCurves(people: readonly ExamplePerson[], T: number): Curves {
  const rows = people.flatMap(({ time, after }) =>
    Array.from({ length: T }, (_, t) => (t + 1 < time ? 1 : after)),
  );
  return { N: people.length, T, survival: Float64Array.from(rows) };
}

export function binPeople(people: readonly ExamplePerson[], T: number): BinnedRightCensored {
  return {
    T,
    bin: Int32Array.from(people, ({ time }) => time),
    event: Uint8Array.from(people, ({ event }) => event),
  };
}

export function everyone(N: number): NamedRows {
  return { name: "all", rows: Int32Array.from({ length: N }, (_, row) => row) };
}
