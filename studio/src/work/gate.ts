/**
 * The gate: what is known of a table before anything is fitted, and what keeps a run from starting. An error of the
 * outcome has to be mended in the table; a leak, and several rows of one person, can be overruled by name, as on the
 * command line. Findings depend on the outcome alone and are searched once for each.
 */
import { describeTable, GraduateError, type Table } from "graduate";
import { checkIndependence, checkTable, inspectHistory } from "graduate/data";
import type { Blocker, Choices, FindingView, GateView } from "../protocol.ts";
import { createObserver, type Observed } from "./observed.ts";
import { columnsOf, outcomeOf } from "./request.ts";
import { describeTrouble } from "./trouble.ts";

interface Searched {
  readonly key: string;
  readonly view: Omit<GateView, "blockers">;
  readonly independent: (choices: Choices) => void;
}

/** Remembers what it found for the outcome it was asked of last. */
export function createGate(table: Table): (choices: Choices) => GateView {
  let searched: Searched | null = null;
  return (choices) => {
    const key = JSON.stringify(outcomeOf(choices));
    if (searched?.key !== key) searched = { key, ...searchTable(table, choices) };
    return { ...searched.view, blockers: listBlockers(table, choices, searched) };
  };
}

function searchTable(table: Table, choices: Choices): Omit<Searched, "key"> {
  const columns = outcomeOf(choices);
  const inspected = inspectHistory(table, columns);
  const checked = checkTable(table, columns, inspected);
  const { findings, events, censored, eventRule } = describeTable(table, columns);
  const { curve: everyone = null, causes = [] } = observeAll(table, choices) ?? {};
  return {
    view: {
      findings: findings.map(({ code, level, column, message }) => ({ code, level, column, message })),
      eventRule,
      events,
      censored,
      leftOut: checked.features.flatMap(({ name, usable: isUsed, reason }) =>
        isUsed ? [] : [{ name, reason: reason ?? "" }],
      ),
      everyone,
      causes,
    },
    independent: (asked) =>
      void checkIndependence(table, checked, { ...columns, ...independenceOf(table, asked) }),
  };
}

/** Null where the outcome cannot be used, which the findings say. */
function observeAll(table: Table, choices: Choices): Observed | null {
  try {
    return createObserver(table, choices).observe(() => true);
  } catch (error) {
    if (error instanceof GraduateError) return null;
    throw error;
  }
}

function independenceOf(table: Table, choices: Choices) {
  const [id] = columnsOf(table, choices, "person");
  return id === undefined ? { rowsAreIndependent: choices.rowsAreIndependent } : { id };
}

/** So that a fifth of them, which judges, is more than one. */
const LEAST_ROWS = 10;

const isLeak = ({ code, level }: FindingView) =>
  level === "error" && (code === "leak.event" || code === "leak.time");

function listBlockers(table: Table, choices: Choices, { view, independent }: Searched): Blocker[] {
  const learnt = new Set(columnsOf(table, choices, "learn"));
  const blockers = view.findings.flatMap((finding): Blocker[] => {
    const { message, code, level, column } = finding;
    if (level !== "error") return [];
    const named = column === null ? {} : { column };
    if (!isLeak(finding)) return [{ message, code, ...named, overrule: null }];
    const isTaken = column !== null && learnt.has(column) && !choices.allowLeak.includes(column);
    return isTaken ? [{ message, code, column, overrule: "allowLeak" }] : [];
  });
  if (blockers.length > 0) return blockers;
  if (table.rows < LEAST_ROWS) {
    const message = `${table.rows === 1 ? "there is one row" : `there are ${table.rows} rows`} in the table`;
    return [
      { message: `${message}: too few to train a model and judge it`, code: "rows.few", overrule: null },
    ];
  }
  if (view.events === 0) {
    const message = "nobody had the event, as it is read: there is nothing to learn from";
    return [{ message, code: "events.none", overrule: null }];
  }
  if (view.findings.some(({ code, column }) => code === "constant" && column === choices.time)) {
    const message = `every row has one and the same ${choices.time}: there is no time to predict`;
    return [{ message, code: "time.constant", overrule: null }];
  }
  if (learnt.size === 0) {
    return [{ message: "no column is left to learn from", code: "features.none", overrule: null }];
  }
  try {
    independent(choices);
    return [];
  } catch (error) {
    return [{ ...describeTrouble(error), overrule: "rowsAreIndependent" }];
  }
}
