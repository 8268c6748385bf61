/** Groups as files hold them: unique names, and expressions whose parsing time is bounded whoever wrote them. */
import { z } from "zod";
import { GraduateError } from "../../core/errors.ts";
import type { Group } from "../../data/groups/groups.ts";
import { parseGroup } from "../../data/groups/parse-group.ts";
import { describing, list } from "./schema-parts.ts";

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
