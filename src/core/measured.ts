/**
 * A metric that cannot be computed on some rows is absent with a reason, not NaN and not an exception:
 * an ordinary split or a small group must never stop an audit.
 */

export interface Absent {
  readonly absent: string;
}

/** A value, or the reason why there is none. */
export type Measured<T = number> = T | Absent;

/** A value that is undefined here, with the reason. */
export function absent(reason: string): Absent {
  return { absent: reason };
}

/** Whether a value is undefined here. */
export function isAbsent(value: unknown): value is Absent {
  return typeof value === "object" && value !== null && "absent" in value;
}
