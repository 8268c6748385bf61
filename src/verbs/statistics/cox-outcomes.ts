/**
 * The outcome of a Cox fit: which event or cause is modelled, of which rows, and what should be said of it.
 * Cause-specific hazards censor the other causes; a subdistribution keeps them apart.
 */
import { InputError } from "../../core/errors.ts";
import { present } from "../../core/present.ts";
import type { Finding } from "../../data/checks/findings.ts";
import type { Outcomes } from "../../data/outcomes/outcomes.ts";
import { findSpellings, type RowKeys } from "../../data/outcomes/people.ts";
import { listCompeting } from "../../data/outcomes/read-causes.ts";
import { type HistoryColumns, isPlainOutcome, readHistory } from "../../data/outcomes/read-history.ts";
import { findColumn, type Table } from "../../data/table.ts";
import type { CoxRequest } from "./cox.ts";
import type { CoxDocument } from "./cox-document.ts";

/** The outcome with what should be said of it; a cause besides that of the request is an event only if it competes. */
export function readCoxOutcomes(
  table: Table,
  request: CoxRequest,
): { readonly outcomes: Outcomes; readonly told: readonly Finding[] } {
  const columns = nameEvent(table, request);
  const { id, ...plain } = columns;
  // Rows with an id missing are left out with the other incomplete rows.
  const history = readHistory(table, isPlainOutcome(plain) ? plain : columns);
  const spellings = isPlainOutcome(plain) ? findSpellings(table, present({ id })) : [];
  const { id: _, ...outcomes } = history.outcomes;
  return { outcomes, told: [...history.told, ...spellings] };
}

/** The columns of the outcome, with the event or the causes that the request's cause stands for. */
function nameEvent(table: Table, request: CoxRequest): HistoryColumns {
  const { cause, censored, fineGray } = request;
  const refuse = (message: string, hint: string) => {
    throw new InputError(message, { code: "outcomes.options", where: table.name, hint });
  };
  if (cause === undefined) {
    if (fineGray) refuse("no cause is named whose incidence is modelled", "name it: --cause VALUE");
    return request;
  }
  if (request.eventIs !== undefined) refuse("both --cause and --event-is are given", "give one of them");
  if (fineGray !== true) return { ...request, eventIs: cause };
  const { start, strata, ridge } = request;
  const beyond = Object.entries({ start, strata, ridge }).find(([, one]) => one !== undefined);
  if (beyond !== undefined)
    refuse(`--fine-gray does not take --${beyond[0]}`, "leave it out, or fit the cause-specific hazard");
  const competing = listCompeting(findColumn(table, request.event), table.rows, cause, censored);
  if (competing.length === 0)
    refuse(
      `no cause competes with "${cause}" in ${request.event}`,
      "leave --fine-gray out: it is Cox's model then",
    );
  return { ...request, causes: [cause, ...competing] };
}

/**
 * Errors must be robust where weights say how many people a row stands for, and where rows stay at risk with a weight
 * after another cause: each row is then a cluster of its own.
 */
export function eachAlone({ weight, cause }: Outcomes, rows: Int32Array): RowKeys | undefined {
  if (weight === undefined && cause === undefined) return undefined;
  return { count: rows.length, codes: Int32Array.from(rows.keys()) };
}

/** How rows were observed, where there is more to say than time and event. */
export function observedOf({ entry, start, weights }: CoxRequest): Pick<CoxDocument, "observed"> {
  const from = start ?? entry;
  if (from === undefined && weights === undefined) return {};
  return { observed: { entry: from ?? null, weights: weights ?? null } };
}

/** Which cause was modelled, how, and beside which others; nothing where the request names none. */
export function causeOf(
  table: Table,
  { event, cause, fineGray, censored }: CoxRequest,
): Pick<CoxDocument, "cause"> {
  if (cause === undefined) return {};
  if (fineGray !== true) return { cause: { value: cause, model: "cause-specific", competing: null } };
  const competing = listCompeting(findColumn(table, event), table.rows, cause, censored);
  return { cause: { value: cause, model: "subdistribution", competing } };
}
