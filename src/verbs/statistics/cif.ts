/**
 * Cumulative incidence of competing causes over the distinct times, by group (Aalen-Johansen), with Gray's test between
 * the groups for every cause. It turns a table into the document that `graduate cif` prints; a page may call it as
 * well.
 */
import { InputError } from "../../core/errors.ts";
import { isAbsent } from "../../core/measured.ts";
import type { PhaseProgress } from "../../core/progress.ts";
import { checkGroupColumns } from "../../data/checks/check-cells.ts";
import { type PlainFinding, toPlainFinding } from "../../data/checks/findings.ts";
import { groupByColumns } from "../../data/groups/group-by.ts";
import { joinGroupedTimes } from "../../data/outcomes/intervals.ts";
import { pickOutcomes } from "../../data/outcomes/outcomes.ts";
import { type HistoryColumns, readHistory } from "../../data/outcomes/read-history.ts";
import type { Table } from "../../data/table.ts";
import { aalenJohansen, type CauseIncidence, type CausesInput } from "../../stats/causes/aalen-johansen.ts";
import { grayTest } from "../../stats/causes/gray.ts";
import type { IntervalScale } from "../../stats/kaplan-meier.ts";
import type { CoxTestEntry } from "./cox-document.ts";

/** Which curves to estimate. */
export interface CifRequest extends Omit<HistoryColumns, "eventIs"> {
  /** The causes, each a value of the event column, or "value=name". */
  readonly causes: readonly string[];
  /** Curves for each value of these columns. */
  readonly by?: readonly string[];
  /** The scale on which the limits are symmetric; "log" unless given, as in R's survfit. */
  readonly interval?: IntervalScale;
  /** The unit of the times, for axis and table. */
  readonly timeUnit?: string;
  /** Whether times that differ only by rounding are tied, by R's rule; true unless given. */
  readonly timefix?: boolean;
}

/** What `graduate cif --json` prints (schemas/cif.schema.json) and its text is made from. */
export interface CifDocument {
  readonly groups: readonly CifGroup[];
  /** Gray's test of every cause; null where there is one group only. */
  readonly gray: readonly (CoxTestEntry & { readonly cause: string })[] | null;
  /** Rows left out because a --by column is missing there. */
  readonly omitted: number;
  readonly interval: IntervalScale;
  readonly timeUnit: string | null;
  readonly timefix: boolean;
  /** What should be said of the outcome; the warnings have the same as sentences. */
  readonly findings: readonly PlainFinding[];
  readonly warnings: readonly string[];
}

/** The curves of one group; all lists are over its distinct times. */
export interface CifGroup {
  readonly name: string;
  /** People, rows where no id is named. */
  readonly n: number;
  readonly causes: readonly CifCause[];
  /** The probability of no event of any cause. */
  readonly survival: Float64Array;
  readonly atRisk: Float64Array;
  readonly censored: Float64Array;
}

/** The incidence of one cause. */
export interface CifCause extends CauseIncidence {
  readonly name: string;
  readonly time: Float64Array;
}

/** Told how many of the groups are there; the tests are one more. */
export type CifProgress = PhaseProgress<"estimating">;

/** Estimates the curves and tests. */
export function cifDocument(table: Table, request: CifRequest, onProgress?: CifProgress): CifDocument {
  const { interval = "log", timefix = true, timeUnit = null } = request;
  const history = readHistory(table, request);
  const findings = [...history.told, ...checkGroupColumns(table, request.by ?? [])].map(toPlainFinding);
  const warnings = findings.map(({ message }) => message);
  refuseRecurrent(table, history.findings);
  const names = history.causes ?? [];
  const by = groupByColumns(table, request.by ?? []);
  const outcomes = timefix ? joinGroupedTimes(history.outcomes, by.groupOfRow) : history.outcomes;
  const tell = (done: number) => onProgress?.("estimating", done, by.groups.length + 1);
  const groups = by.groups.map(({ name, rows }, g) => {
    tell(g);
    const own = pickOutcomes(outcomes, rows);
    const { time, atRisk, censored, survival, causes } = aalenJohansen(own as CausesInput, {
      causes: names.length,
      interval,
      timefix: false,
    });
    const n = new Set(own.id ?? own.time.keys()).size;
    const named = causes.map((cause, c) => ({ name: names[c], time, ...cause }));
    return { name, n, causes: named, survival, atRisk, censored };
  });
  tell(groups.length);
  const gray =
    groups.length < 2
      ? null
      : names.map((cause, c) => {
          const test = grayTest(outcomes as CausesInput, by.groupOfRow, groups.length, {
            cause: c + 1,
            timefix: false,
          });
          if (isAbsent(test)) return { cause, chi2: null, df: null, p: null, absent: test.absent };
          return { cause, chi2: test.chi2, df: test.df, p: test.p, absent: null };
        });
  tell(groups.length + 1);
  return { groups, gray, omitted: by.omitted, interval, timeUnit, timefix, findings, warnings };
}

/** An incidence counts people, each of whom has one event at most. */
function refuseRecurrent(
  table: Table,
  findings: readonly { readonly code: string; readonly message: string }[],
) {
  const recurrent = findings.find(({ code }) => code === "event.recurrent");
  if (recurrent === undefined) return;
  throw new InputError("rows follow an event of the same person: an incidence counts first events only", {
    code: "event.recurrent",
    where: table.name,
    hint: "end every person's rows with the first event",
  });
}
