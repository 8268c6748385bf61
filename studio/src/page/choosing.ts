/** What follows from a choice for the others beside it. */
import type { Choices, TrainChoices } from "../protocol.ts";
import { UNIT_OF_DATES, unitOfName } from "../unit.ts";

/** Another time: counted from nothing yet, and in the unit of its name unless a unit was typed. */
export function chooseTime(
  { time, origin, unit, entry, start, weights }: Choices,
  chosen: string,
): Partial<Choices> {
  const isTyped = unit !== "" && unit !== (origin === "" ? unitOfName(time) : UNIT_OF_DATES);
  // A column is in the outcome once.
  const freed = Object.entries({ entry, start, weights }).filter(([, name]) => name === chosen);
  return {
    time: chosen,
    origin: "",
    unit: isTyped ? unit : unitOfName(chosen),
    ...Object.fromEntries(freed.map(([role]) => [role, ""])),
  };
}

/** Times from a date on are days. */
export function countFrom({ unit }: Choices, origin: string): Partial<Choices> {
  return { origin, unit: unit === "" && origin !== "" ? UNIT_OF_DATES : unit };
}

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

/** Columns that the outcome has; they have no role. */
export function outcomeNames({ time, event, origin, entry, start, weights }: Choices): string[] {
  return [time, event, origin, entry, start, weights].filter((name) => name !== "");
}
