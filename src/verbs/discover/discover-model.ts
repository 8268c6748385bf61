/**
 * Discover for a model on a table: rows the model knows are searched and rows it has not seen confirm, where the two
 * can be told apart; the columns are the model's own unless others are asked for.
 */

import type { Backend } from "../../compute/backend.ts";
import { present } from "../../core/present.ts";
import type { Finding } from "../../data/checks/findings.ts";
import { requireSingleCause } from "../../data/outcomes/outcomes.ts";
import { selectRows } from "../../data/table.ts";
import { predictRows } from "../audit-model.ts";
import { predictCauseRows } from "../causes/audit-cause-model.ts";
import { isolateCause, placeCause } from "../causes/cause-alone.ts";
import { chooseSearchedRows } from "../judged-rows.ts";
import type { ModelStudy } from "../model-study.ts";
import { chooseSearchColumns, type LeftOutColumn, type SearchColumnsRequest } from "./columns.ts";
import { type DiscoverOptions, type Discovery, discover } from "./discover.ts";

/** What was found, on which rows, and which columns were not searched. */
export interface ModelDiscovery {
  readonly found: Discovery;
  /** Names of the searched and of the confirming rows: "training rows", "rows". */
  readonly which: { readonly search: string; readonly confirm: string };
  readonly leftOut: readonly LeftOutColumn[];
  /** What should be said of the outcome; the warnings have the same as sentences. */
  readonly findings: readonly Finding[];
  readonly warnings: readonly string[];
}

/** The columns of a request, and how far to search. */
export type ModelDiscoverOptions = Omit<DiscoverOptions, "columns"> &
  Pick<SearchColumnsRequest, "columns" | "drop"> & {
    /** Of a model of several causes, the one whose events are searched. */
    readonly cause?: string;
  };

/** Searches the rows of a model's study. */
export async function discoverModel(
  study: ModelStudy,
  backend: Backend | null,
  { columns: asked, drop, cause, ...options }: ModelDiscoverOptions = {},
): Promise<ModelDiscovery> {
  const place = placeCause(study.model.causes, cause);
  const { rows, confirm, names, trainingRows, warnings } = chooseSearchedRows(study);
  const { curves, binned, people } =
    place === null
      ? await predictRows(study, rows, backend)
      : await predictCause(study, rows, backend, place);
  const table = selectRows(study.table, rows);
  const { columns, leftOut } = chooseSearchColumns(table, study.columns, {
    ...present({ columns: asked, drop }),
    model: study.model,
    id: study.columns.id ?? null,
  });
  const found = discover(
    {
      curves,
      outcomes: requireSingleCause(binned, "a search for groups"),
      table,
      ...present({ confirmRows: confirm ?? undefined, trainingRows: trainingRows ?? undefined, people }),
    },
    { ...options, columns },
  );
  return {
    found,
    which: names,
    leftOut,
    findings: study.told,
    warnings: [...study.told.map(({ message }) => message), ...warnings, ...study.warnings],
  };
}

/** The cause as if it were the only kind of event: events at risk are searched, and these are the cause's own. */
async function predictCause(study: ModelStudy, rows: Int32Array, backend: Backend | null, place: number) {
  const { curves, binned, people } = await predictCauseRows(study, rows, backend);
  return { ...isolateCause(curves, binned, place), people };
}
