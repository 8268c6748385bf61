/**
 * The gate: what is known of a table before anything is fitted, and what keeps a run from starting. An error of the
 * outcome has to be mended in the table; a leak, and several rows of one person, can be overruled by name, as on the
 * command line. Findings depend on the outcome alone and are searched once for each.
 */
import { describeTable, GraduateError, type Table } from "graduate-survival";
import { present } from "graduate-survival/core";
import {
  checkGroups,
  checkIndependence,
  checkTable,
  type Finding,
  inspectHistory,
  type OutcomeColumns,
  outcomeNames,
} from "graduate-survival/data";
import type { Blocker, Choices, FindingView, GateView } from "../protocol.ts";
import { createObserver, type Observed } from "./observed.ts";
import { columnsOf, outcomeOf, personOf } from "./request.ts";
import { describeTrouble, withoutOptions } from "./trouble.ts";

interface Searched {
  readonly key: string;
  readonly view: Omit<GateView, "blockers">;
  readonly independent: (choices: Choices) => void;
}

/** Remembers what it found for the outcome it was asked of last. */
export function createGate(table: Table): (choices: Choices) => GateView {
  let searched: Searched | null = null;
  return (choices) => {
    // With a start that is not read yet: what is said of it is left out.
    const key = JSON.stringify([outcomeOf(choices), personOf(table, choices)]);
    if (searched?.key !== key) searched = { key, ...searchTable(table, choices) };
    return { ...searched.view, blockers: listBlockers(table, choices, searched) };
  };
}

/** Rows one after the other cannot be read before it is known whose they are; until then each is read by itself. */
function readable(table: Table, choices: Choices): OutcomeColumns {
  const { start, ...others } = outcomeOf(choices);
  return personOf(table, choices) === undefined ? others : { ...others, ...present({ start }) };
}

function searchTable(table: Table, choices: Choices): Omit<Searched, "key"> {
  const columns = readable(table, choices);
  const inspected = inspectHistory(table, columns);
  const checked = checkTable(table, columns, inspected);
  const id = personOf(table, choices);
  const described = describeTable(table, { ...columns, ...present({ id }) });
  const { events, censored, eventRule } = described;
  const findings = [...described.findings, ...findFewEvents(inspected, events)];
  const { curve: everyone = null, causes = [] } = observeAll(table, choices) ?? {};
  return {
    view: {
      findings: findings
        // A start that is not read yet looks like a leak of the time.
        .filter(({ column }) => column === null || column !== choices.start)
        .map(viewFinding),
      eventRule,
      events,
      censored,
      leftOut: checked.features.flatMap(({ name, usable: isUsed, reason }) =>
        isUsed || name === choices.start ? [] : [{ name, reason: reason ?? "" }],
      ),
      everyone,
      causes,
    },
    independent: (asked) =>
      void checkIndependence(table, checked, { ...columns, ...independenceOf(table, asked) }),
  };
}

/** With its advice as far as the page can follow it. */
function viewFinding(finding: Finding): FindingView {
  const { code, level, column, message, evidence, sentence } = finding;
  const { hint = "" } = sentence;
  const said = hint === "" ? message : message.slice(0, -hint.length).replace(/[:.]? $/, "");
  const advice = withoutOptions(hint);
  const mark = evidence.mark === "point" || evidence.mark === "comma" ? evidence.mark : undefined;
  const shown = advice === "" ? said : `${said}. ${advice}`;
  return { code, level, column, message: shown, ...(code === "number.marks" && present({ mark })) };
}

/** Too few to say anything of everyone, whom no list of groups has; none at all are refused. */
function findFewEvents({ outcomes }: ReturnType<typeof inspectHistory>, events: number | null): Finding[] {
  if (outcomes === null || events === null || events === 0) return [];
  return checkGroups([{ name: "everyone", rows: Array.from(outcomes.time.keys()) }], outcomes);
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
  const id = personOf(table, choices);
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
    // A feature of two readings is refused where it is learnt from.
    const isFeature = column !== null && !outcomeNames(outcomeOf(choices)).includes(column);
    if (code === "number.marks" && isFeature && !learnt.has(column)) return [];
    if (!isLeak(finding)) return [{ message, code, ...named, overrule: null }];
    const isTaken = column !== null && learnt.has(column) && !choices.allowLeak.includes(column);
    return isTaken ? [{ message, code, column, overrule: "allowLeak" }] : [];
  });
  // Asked for beside the findings: an answer to one may settle others.
  const whose = askWhose(table, choices, independent);
  if (blockers.length > 0 || whose.length > 0) return [...blockers, ...whose];
  return refuseTable(table, choices, view, learnt.size);
}

/** Whose rows are whose, where people have several and nothing says so. */
function askWhose(table: Table, choices: Choices, independent: Searched["independent"]): Blocker[] {
  try {
    independent(choices.start === "" ? choices : { ...choices, rowsAreIndependent: false });
  } catch (error) {
    const overrule = choices.start === "" ? "rowsAreIndependent" : "person";
    return [{ ...describeTrouble(error), overrule }];
  }
  if (choices.start === "" || personOf(table, choices) !== undefined) return [];
  const message = "rows have a start, and no column says whose they are: choose it below, among the columns";
  return [{ message, code: "person.none", overrule: null }];
}

/** What no column is to blame for. */
function refuseTable(
  table: Table,
  { time }: Choices,
  { events, findings }: Searched["view"],
  learnt: number,
): Blocker[] {
  const refuse = (code: string, message: string): Blocker[] => [{ message, code, overrule: null }];
  if (table.rows < LEAST_ROWS) {
    const counted = table.rows === 1 ? "there is one row" : `there are ${table.rows} rows`;
    return refuse("rows.few", `${counted} in the table: too few to train a model and judge it`);
  }
  if (events === 0) {
    return refuse("events.none", "nobody had the event, as it is read: there is nothing to learn from");
  }
  if (findings.some(({ code, column }) => code === "constant" && column === time)) {
    return refuse("time.constant", `every row has one and the same ${time}: there is no time to predict`);
  }
  return learnt === 0 ? refuse("features.none", "no column is left to learn from") : [];
}
