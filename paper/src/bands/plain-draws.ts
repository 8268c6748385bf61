/** Small steps that several laws take when they draw a person. */
import type { Random } from "graduate-survival/core";

export function within(value: number, least: number, most: number): number {
  return Math.min(Math.max(value, least), most);
}

export function round(value: number, digits: number): number {
  return Number(value.toFixed(digits));
}

/** The first values most often: the more so, the larger the power. */
export function pickEarly<Value>(random: Random, values: readonly Value[], power: number): Value {
  return values[Math.min(values.length - 1, Math.floor(values.length * random.uniform() ** power))];
}
