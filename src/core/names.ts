/**
 * A choice is written once, as an object from each name to what it means; this gives its names, as options and schemas
 * want them.
 */

/** The names of a choice, in the order in which it lists them. */
export function namesOf<Name extends string>(choice: Readonly<Record<Name, unknown>>): readonly Name[] {
  return Object.keys(choice) as Name[];
}
