/**
 * Converts plain lists, once and at the door, to the typed arrays the library works on. What already has the right type
 * is passed on as it is, so that nothing is copied inside. Booleans are events; anything else but 0 and 1 is refused,
 * since a 2 would count as censored.
 */
import { InputError, nameRows } from "./errors.ts";

export function toFloat64(values: ArrayLike<number>): Float64Array {
  return values instanceof Float64Array ? values : Float64Array.from(values);
}

export function toInt32(values: ArrayLike<number>): Int32Array {
  return values instanceof Int32Array ? values : Int32Array.from(values);
}

/** 1 = event, 0 = censored. */
export function toEvents(values: ArrayLike<number | boolean>): Uint8Array {
  if (values instanceof Uint8Array) {
    for (let i = 0; i < values.length; i++) if (values[i] > 1) refuseEvents(values);
    return values;
  }
  const events = new Uint8Array(values.length);
  for (let i = 0; i < values.length; i++) {
    const event = Number(values[i]);
    if (event !== 0 && event !== 1) refuseEvents(values);
    events[i] = event;
  }
  return events;
}

function refuseEvents(values: ArrayLike<number | boolean>): never {
  const strange: number[] = [];
  for (let i = 0; i < values.length; i++) {
    const event = Number(values[i]);
    if (event !== 0 && event !== 1) strange.push(i);
  }
  throw new InputError(`event is neither 0 nor 1: ${values[strange[0]]}`, {
    code: "event.value",
    where: nameRows(strange.map((row) => row + 1)),
    hint: "1 or true = event, 0 or false = censored",
  });
}
