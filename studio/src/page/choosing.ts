/** What follows from a choice for the others beside it. */
import type { Choices, FindingView, TrainChoices } from "../protocol.ts";
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

/** Values that say in any study that nothing happened, as the library reads them, in small letters. */
export const NOTHING_WORDS: readonly string[] = [
  ...["no", "n", "alive", "censored", "censor", "none"],
  ...["lost", "lost to follow-up", "0", "false"],
];
/** As clear to a person, but no word of the library's. */
const DENIAL = /^(no|not|without) /i;

/** Which values likely mean censored: those that the library knows, or the one denial, which can be named to it. */
export function listNothing(values: readonly string[]): readonly string[] {
  const known = values.filter((value) => NOTHING_WORDS.includes(value.trim().toLowerCase()));
  if (known.length > 0) return known;
  const denials = values.filter((value) => DENIAL.test(value.trim()));
  return denials.length === 1 ? denials : [];
}

/** One event ends the causes. The first cause says of every other value what it likely is. */
export function mean(
  { causes }: Choices,
  values: readonly string[],
  value: string,
  meaning: string,
): Partial<Choices> {
  if (meaning === "event") return { eventIs: value, causes: {} };
  if (meaning === "") return { eventIs: "", causes: {} };
  const nothing = listNothing(values);
  const likely = (one: string) => causes[one] ?? (nothing.includes(one) ? "censored" : "cause");
  const all = Object.fromEntries(values.map((one) => [one, one === value ? meaning : likely(one)]));
  return { eventIs: "", causes: all as Choices["causes"] };
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

/** What a column is read as anew is learnt from again: that it was of no use was said of what it was read as. */
function takeBack(roles: Choices["roles"], column: string): Choices["roles"] {
  const { [column]: own, ...others } = roles;
  return own === "leave" ? others : roles;
}

/**
 * One column with decimal commas. The mark holds for the whole file: other columns with commas, which may be those of
 * thousands, stay the categories that they are.
 */
export function readWithCommas(
  { category, number, roles }: Choices,
  findings: readonly Pick<FindingView, "code" | "column">[],
  column: string,
): Pick<Choices, "number" | "category" | "roles"> {
  const others = findings.flatMap(({ code, column: other }) =>
    code === "number.comma" && other !== null && !number.includes(other) ? [other] : [],
  );
  const kept = new Set([...category, ...others]);
  kept.delete(column);
  return { number: [...number, column], category: [...kept], roles: takeBack(roles, column) };
}

export function readAsCodes(
  { category, roles }: Choices,
  column: string,
): Pick<Choices, "category" | "roles"> {
  return { category: [...category, column], roles: takeBack(roles, column) };
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
