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

/** Maps each field that is null to the reason. */
export type Reasons = Readonly<Record<string, string>>;

/** Numbers as a document holds them: null where one is absent, and the reasons beside them. */
export function toPlainNumbers<Key extends string>(
  measured: Readonly<Record<Key, Measured>>,
): Readonly<Record<Key, number | null>> & { readonly absent: Reasons } {
  const entries = Object.entries<Measured>(measured);
  const reasons = entries.flatMap(([key, value]) => (isAbsent(value) ? [[key, value.absent] as const] : []));
  const values = entries.map(([key, value]) => [key, isAbsent(value) ? null : value] as const);
  return {
    ...(Object.fromEntries(values) as Record<Key, number | null>),
    absent: Object.fromEntries(reasons),
  };
}
