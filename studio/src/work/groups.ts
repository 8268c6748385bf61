/**
 * Groups before a model: suggestions (values of categories, bands of numbers, and crosses of the two), and for any
 * expression how many people and events it has and their Kaplan-Meier curve, or incidences of several causes.
 * Suggestions need enough of both; what a
 * person writes may have fewer, and is told so at once.
 */
import { type Group, GraduateError, type Table } from "graduate-survival";
import {
  checkGroups,
  chooseAutomaticGroups,
  columnsOf as columnsOfGroup,
  evaluateGroup,
  inspectHistory,
  parseGroup,
} from "graduate-survival/data";
import type { Choices, GroupView, NamedGroup } from "../protocol.ts";
import { createObserver } from "./observed.ts";
import { columnsOf, outcomeOf, toGroup } from "./request.ts";
import { describeTrouble } from "./trouble.ts";

/** As many as fit on a screen beside their curves. */
const MOST_SUGGESTED = 10;
const MOST_CROSSED = 4;
/** The least that a suggestion needs, as for automatic groups. */
const LEAST_ROWS = 100;
const LEAST_EVENTS = 10;

export function suggestGroups(table: Table, choices: Choices): NamedGroup[] {
  const { outcomes } = inspectHistory(table, outcomeOf(choices));
  if (outcomes === null) return [];
  const rows = Int32Array.from({ length: table.rows }, (_, row) => row);
  const columns = [...columnsOf(table, choices, "hold"), ...columnsOf(table, choices, "learn")];
  const single = chooseAutomaticGroups(table, rows, outcomes.event, { columns, limit: MOST_SUGGESTED });
  return [...single, ...crossGroups(table, single, outcomes.event)];
}

/** Pairs of groups of different columns, the most even first. */
function crossGroups(table: Table, groups: readonly Group[], event: Uint8Array): NamedGroup[] {
  const members = groups.map(({ expression }) => evaluateGroup(parseGroup(expression), table));
  const column = ({ expression }: Group) => columnsOfGroup(parseGroup(expression))[0];
  const crossed: { readonly expression: string; readonly events: number }[] = [];
  for (let a = 0; a < groups.length; a++) {
    for (let b = a + 1; b < groups.length; b++) {
      if (column(groups[a]) === column(groups[b])) continue;
      let rows = 0;
      let events = 0;
      for (let row = 0; row < event.length; row++) {
        if (members[a][row] !== 1 || members[b][row] !== 1) continue;
        rows++;
        events += event[row];
      }
      if (rows < LEAST_ROWS || events < LEAST_EVENTS) continue;
      crossed.push({ expression: `${groups[a].expression} & ${groups[b].expression}`, events });
    }
  }
  const most = crossed.sort((one, other) => other.events - one.events).slice(0, MOST_CROSSED);
  return most.map(({ expression }) => ({ name: expression, expression }));
}

export function viewGroups(table: Table, choices: Choices, groups: readonly NamedGroup[]): GroupView[] {
  const observer = openObserver(table, choices);
  return groups.map((group) => {
    const none = { ...group, rows: 0, events: 0, curve: null, causes: [], few: null };
    try {
      const { name, expression } = toGroup(group);
      const isIn = evaluateGroup(parseGroup(expression), table);
      if (observer === null) return { ...none, trouble: null };
      const members = Array.from(isIn.keys()).filter((row) => isIn[row] === 1);
      const [few] = checkGroups([{ name, rows: members }], observer.outcomes);
      const seen = observer.observe((row) => isIn[row] === 1);
      return { ...group, ...seen, few: few?.message ?? null, trouble: null };
    } catch (error) {
      return { ...none, trouble: describeTrouble(error) };
    }
  });
}

/** Null where the outcome cannot be used, which the first step says. */
function openObserver(table: Table, choices: Choices) {
  try {
    return createObserver(table, choices);
  } catch (error) {
    if (error instanceof GraduateError) return null;
    throw error;
  }
}
