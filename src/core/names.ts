/**
 * A choice is written once, as an object that maps each name to its meaning; this returns its names, as options and
 * schemas need them.
 */

/** The names of a choice, in the order in which it lists them. */
export function namesOf<Name extends string>(choice: Readonly<Record<Name, unknown>>): readonly Name[] {
  return Object.keys(choice) as Name[];
}
