/**
 * Building blocks of the header's schema. Lists and dictionaries stop at their first bad entry: a hostile header of a
 * million wrong entries makes one complaint, not a million. Numbers come in two kinds: `finite`, where a prediction
 * depends on them, and `anyNumber`, which may be NaN or infinite (spelled out, see container.ts), for what a run
 * reports. `describing` checks a schema against its type, in both directions, at compile time.
 */

import * as z from "zod";
import { GraduateError } from "../../core/errors.ts";
import type { Part } from "../../core/sentence.ts";
import type { Notice } from "../../data/checks/findings.ts";
import type { Group } from "../../data/groups/groups.ts";
import { parseGroup } from "../../data/groups/parse-group.ts";
import { SPECIAL_NUMBERS } from "../container/container.ts";

type Plain<T> = T extends readonly (infer E)[]
  ? readonly Plain<E>[]
  : T extends object
    ? { readonly [K in keyof T]-?: Plain<T[K]> }
    : T;

/** Equal except for `readonly`; an optional field counts as a field, so that none can be forgotten. */
type Same<A, B> = [Plain<A>, Plain<B>] extends [Plain<B>, Plain<A>] ? unknown : never;

/** Does not compile where the schema yields anything but a T. */
export function describing<T>() {
  return <S extends z.ZodType>(schema: S & Same<z.output<S>, T>): z.ZodType<T> =>
    schema as unknown as z.ZodType<T>;
}

export const count = z.int().min(0);

function readNumber(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) ? value : SPECIAL_NUMBERS.get(value);
}

function refuse(context: z.RefinementCtx, message: string, ...path: (string | number)[]): never {
  context.addIssue({ code: "custom", path, message });
  return z.NEVER;
}

export const anyNumber: z.ZodType<number> = z
  .unknown()
  .transform((value, context) => readNumber(value) ?? refuse(context, "expected a number"));

export const finite: z.ZodType<number> = anyNumber.refine(Number.isFinite, "expected a finite number");

/** Like `list(anyNumber)`, without the overhead per number. */
export const numbers: z.ZodType<readonly number[]> = z.unknown().transform((value, context) => {
  if (!Array.isArray(value)) return refuse(context, "expected a list");
  const read = value.map(readNumber);
  const wrong = read.indexOf(undefined);
  return wrong === -1 ? (read as number[]) : refuse(context, "expected a number", wrong);
});

/** The same for finite numbers. */
export const finites: z.ZodType<number[]> = numbers.transform((values, context) => {
  const wrong = values.findIndex((value) => !Number.isFinite(value));
  return wrong === -1 ? (values as number[]) : refuse(context, "expected a finite number", wrong);
});

/** The entries as the schema gives them; refuses the first bad one at its key. */
function checkEntries<Key extends string | number, T>(
  entries: Iterable<readonly [Key, unknown]>,
  entry: z.ZodType<T>,
  context: z.RefinementCtx,
): [Key, T][] {
  const checked: [Key, T][] = [];
  for (const [key, one] of entries) {
    const result = entry.safeParse(one);
    if (!result.success) {
      const [{ path, message }] = result.error.issues;
      return refuse(context, message, key, ...(path as (string | number)[]));
    }
    checked.push([key, result.data]);
  }
  return checked;
}

export function list<T>(entry: z.ZodType<T>): z.ZodType<readonly T[]> {
  return z.unknown().transform((value, context) => {
    if (!Array.isArray(value)) return refuse(context, "expected a list");
    const checked = checkEntries(value.entries(), entry, context);
    return checked === z.NEVER ? z.NEVER : checked.map(([, one]) => one);
  });
}

export function dictionary<T>(entry: z.ZodType<T>): z.ZodType<Readonly<Record<string, T>>> {
  return z.unknown().transform((value, context) => {
    if (typeof value !== "object" || value === null || Array.isArray(value))
      return refuse(context, "expected an object");
    const checked = checkEntries(Object.entries(value), entry, context);
    return checked === z.NEVER ? z.NEVER : Object.fromEntries(checked);
  });
}

/**
 * Any JSON object; its depth is bounded before it is parsed. Numbers are plain: 1e999 is refused, and so is NaN when
 * writing.
 */
export const jsonObject = z.custom<object>(
  (value) => typeof value === "object" && value !== null && !Array.isArray(value) && isJson(value),
  "expected a JSON object of finite numbers",
);

function isJson(value: unknown): boolean {
  switch (typeof value) {
    case "string":
    case "boolean":
      return true;
    case "number":
      return Number.isFinite(value);
    case "object":
      return value === null || Object.values(value).every(isJson);
    default:
      return false;
  }
}

/**
 * The first complaint as a sentence, `training.history[3].loss: expected a number`; `under` is the path to the schema's
 * value.
 */
export function explainIssue(error: z.ZodError, ...under: (string | number)[]): string {
  const [{ path, message }] = error.issues;
  const place = [...under, ...path]
    .map((step) => (typeof step === "number" ? `[${step}]` : `.${String(step)}`))
    .join("")
    .replace(/^\./, "");
  const text = place === "" ? message : `${place}: ${message}`;
  return text.length > MAX_COMPLAINT ? `${text.slice(0, MAX_COMPLAINT)}…` : text;
}

/** Keys come from outside: long ones are cut to fit a sentence. */
const MAX_COMPLAINT = 200;

/*
 * Groups as files hold them: unique names, and expressions whose parsing time is bounded whoever wrote them.
 */

/** Letters in all group expressions together: parsing them takes under a second. */
const MAX_EXPRESSIONS = 1 << 20;

const group = describing<Group>()(z.strictObject({ name: z.string(), expression: z.string() }));

export const groupsSchema = list(group).superRefine((all, context) => {
  checkGroups(all, context);
});

/** Complains at most once, at a path below `under`; true where there is nothing to complain about. */
export function checkGroups(
  all: readonly { readonly name: string; readonly expression?: string }[],
  context: { addIssue(issue: { code: "custom"; path: (string | number)[]; message: string }): void },
  ...under: (string | number)[]
): boolean {
  const complain = (message: string, ...path: (string | number)[]) => {
    context.addIssue({ code: "custom", path: [...under, ...path], message });
    return false;
  };
  const letters = all.reduce((sum, { expression }) => sum + (expression?.length ?? 0), 0);
  if (letters > MAX_EXPRESSIONS)
    return complain(`expected expressions of at most ${MAX_EXPRESSIONS} letters`);
  if (new Set(all.map(({ name }) => name)).size < all.length) return complain("expected different names");
  const wrong = all.findIndex(({ expression }) => expression !== undefined && !isGroupExpression(expression));
  return wrong === -1 || complain("expected a group expression", wrong, "expression");
}

function isGroupExpression(text: string): boolean {
  try {
    parseGroup(text);
    return true;
  } catch (error) {
    if (error instanceof GraduateError) return false;
    throw error;
  }
}

/*
 * What training reported about its table, as a model file keeps it: sentences in parts (core/sentence.ts), each with
 * its level. A report needs the parts, because it words counts of few people and values of single people differently
 * from the terminal.
 */
const text = z.string();

const part = describing<Part>()(
  z.union([
    text,
    z.discriminatedUnion("kind", [
      z.strictObject({ kind: z.literal("count"), count, noun: text }),
      z.strictObject({ kind: z.literal("whole"), lead: z.enum(["all", "none of the"]), count, noun: text }),
      z.strictObject({
        kind: z.literal("share"),
        part: count,
        whole: count,
        before: z.enum(["the", "the other"]).exactOptional(),
        noun: text.exactOptional(),
        percent: z.boolean().exactOptional(),
        these: z.boolean().exactOptional(),
      }),
      z.strictObject({
        kind: z.literal("among"),
        part: count,
        partNoun: text,
        whole: count,
        wholeNoun: text,
      }),
      z.strictObject({ kind: z.literal("percent"), part: count, whole: count, of: text.exactOptional() }),
      z.strictObject({ kind: z.literal("verb"), count, one: text, many: text }),
      z.strictObject({ kind: z.literal("rows"), text, count }),
      z.strictObject({ kind: z.literal("value"), text, instead: text }),
    ]),
  ]),
);

export const notices = list(
  describing<Notice>()(
    z.strictObject({
      level: z.enum(["error", "warning", "note"]),
      sentence: z.strictObject({
        parts: list(part),
        consequence: text.exactOptional(),
        hint: text.exactOptional(),
      }),
    }),
  ),
);
