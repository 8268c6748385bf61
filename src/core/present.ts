/**
 * Objects without their undefined fields. Optional fields are exact here: absent, or a value. An object with optional
 * fields is written as `{ a, ...present({ b, c }) }`, without a condition for each field.
 */

/** The same fields, each either absent or defined. */
export type Present<Fields> = { [Key in keyof Fields]?: Exclude<Fields[Key], undefined> };

/** A copy without the fields that are undefined; null, 0 and "" stay. */
export function present<Fields extends object>(fields: Fields): Present<Fields> {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined),
  ) as Present<Fields>;
}
