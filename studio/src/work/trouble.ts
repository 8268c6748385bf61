/** Errors in the words that a page shows; what the library did not throw on purpose is our mistake, and said so. */
import { GraduateError } from "graduate-survival";
import { present } from "graduate-survival/core";
import type { Trouble } from "../protocol.ts";

const COLUMN = /column "(.*)"$/s;
/** An option of the command line: the page has controls for it. */
const OPTION = /(^|\s|\()--[a-z]/;

/** Sentences and their parts without those that name an option; "" where all do. */
export function withoutOptions(text: string): string {
  const sentences = text.split(/(?<=[.?]) /).map((sentence) =>
    sentence
      .split("; ")
      .filter((part) => !OPTION.test(part))
      .join("; "),
  );
  return sentences.filter((sentence) => sentence !== "").join(" ");
}

export function describeTrouble(error: unknown): Trouble {
  if (error instanceof GraduateError) {
    const { message, code, where } = error;
    const hint = withoutOptions(error.hint ?? "") || undefined;
    const column = where === undefined ? undefined : COLUMN.exec(where)?.[1];
    return { message, code, ...present({ where, hint, column }) };
  }
  const said = error instanceof Error ? error.message : String(error);
  return {
    message: `this should not have happened: ${said}`,
    hint: "the page still has your table; please tell us what you did",
  };
}
