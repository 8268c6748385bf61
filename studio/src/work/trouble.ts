/** Errors in the words that a page shows; what the library did not throw on purpose is our mistake, and said so. */
import { GraduateError } from "graduate";
import { present } from "graduate/core";
import type { Trouble } from "../protocol.ts";

const COLUMN = /column "(.*)"$/s;

/** Of a hint what is no option of the command line: the page has controls for it. */
function withoutOptions(hint: string | undefined): string | undefined {
  const parts = hint?.split("; ").filter((part) => !/(^|\s|\()--[a-z]/.test(part)) ?? [];
  return parts.length === 0 ? undefined : parts.join("; ");
}

export function describeTrouble(error: unknown): Trouble {
  if (error instanceof GraduateError) {
    const { message, code, where } = error;
    const hint = withoutOptions(error.hint);
    const column = where === undefined ? undefined : COLUMN.exec(where)?.[1];
    return { message, code, ...present({ where, hint, column }) };
  }
  const said = error instanceof Error ? error.message : String(error);
  return {
    message: `this should not have happened: ${said}`,
    hint: "the page still has your table; please tell us what you did",
  };
}
