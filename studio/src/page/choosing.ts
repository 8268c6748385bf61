/** What follows from a choice for the others beside it. */
import type { Choices, TrainChoices } from "../protocol.ts";

/** One column says whose rows are whose: a second takes the place of the first. */
export function assignRole(
  roles: Choices["roles"],
  column: string,
  role: Choices["roles"][string],
): Choices["roles"] {
  const others = Object.entries(roles).map(([name, had]) => [
    name,
    role === "person" && had === "person" ? "leave" : had,
  ]);
  return { ...Object.fromEntries(others), [column]: role };
}

/** Without the fields that are undefined. */
export function clean(train: TrainChoices): TrainChoices {
  return Object.fromEntries(
    Object.entries(train).filter(([, value]) => value !== undefined),
  ) as unknown as TrainChoices;
}
