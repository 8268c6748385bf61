/**
 * Prepare turns a table and a request into a study. The steps: read the outcome; check the table; choose the columns to
 * learn from; divide the rows; then, on the rows to fit to, choose the groups, the inputs, the encoder and the time
 * grid. A study can be divided again (`divideAgain`) or given another design (`redesign`) without reading or searching
 * anything twice.
 */

import { InputError } from "../core/errors.ts";
import { present } from "../core/present.ts";
import type { PhaseProgress } from "../core/progress.ts";
import { countOf } from "../core/text.ts";
import { checkFeatures } from "../data/checks/check-features.ts";
import { createNotice, type Notice } from "../data/checks/findings.ts";
import {
  type CheckedTable,
  checkIndependence,
  checkTable,
  type RowIndependence,
} from "../data/checks/sanity.ts";
import { chooseFeatures, type FeatureChoice, type FeatureRequest } from "../data/encode/features.ts";
import { chooseAutomaticGroups } from "../data/groups/automatic-groups.ts";
import {
  ALL_GROUP,
  type Group,
  type GroupMembers,
  type GroupsFile,
  groupsFromFile,
  refuseOutcomeGroups,
  widenTable,
} from "../data/groups/groups.ts";
import { pickOutcomes } from "../data/outcomes/outcomes.ts";
import { inspectHistory, modelOutcomes, readHistory } from "../data/outcomes/read-history.ts";
import { type OutcomeColumns, outcomeNames, pickOutcomeColumns } from "../data/outcomes/read-outcomes.ts";
import type { Split } from "../data/outcomes/split.ts";
import { fitTimeGrid } from "../data/outcomes/time-grid.ts";
import { findColumn, type Table } from "../data/table.ts";
import { completeEncoding, createDesign, type EncodingRequest } from "./design.ts";
import { createMembers } from "./members.ts";
import { chooseSplit, dropId, type SplitRequest } from "./split.ts";
import type { Study, Subject } from "./study.ts";

/** What a study is about: columns, people, groups, rows, time. */
export interface StudyRequest extends FeatureRequest, RowIndependence, SplitRequest, EncodingRequest {
  /** The groups whose mean curves are held to what is observed. */
  readonly groups?: readonly Group[];
  /** Groups and the automatic rule, as `parseGroupsFile` reads them. */
  readonly groupsFile?: GroupsFile;
  /** How many automatic groups (values and bands of the features) to add at most. */
  readonly autoGroups?: number;
  /** Time bins; 102 unless given. */
  readonly bins?: number;
  /** The end of the last bin; the largest training time unless given. */
  readonly horizon?: number;
  /** Rows that the encoder, time grid and groups are fitted to; the training rows unless several runs share a fit. */
  readonly fitRows?: Int32Array;
}

/** A study that is ready for training, with the request and the notices to show before a run. */
export interface PreparedStudy extends Study {
  readonly groups: readonly GroupMembers[];
  readonly request: StudyRequest;
  readonly checked: CheckedTable;
  readonly features: readonly string[];
  readonly leftOut: FeatureChoice["leftOut"];
  /** Notices for anyone who uses the outcome and the features. */
  readonly notes: readonly Notice[];
  /** Notices about rows that may belong to one person. */
  readonly independence: readonly Notice[];
  /** Notices that there are fewer automatic groups than were asked for. */
  readonly missingGroups: readonly Notice[];
}

/** Told when each of the steps begins. */
export type PrepareProgress = PhaseProgress<"preparing the table">;

/** The outcome, the checks, the features, the people and the split; groups, inputs and grid. */
const STEPS = 5;

/** `sha256` is the hash of the file that the table was read from. */
export function prepareStudy(
  table: Table,
  request: StudyRequest,
  sha256: string | null = null,
  onProgress?: PrepareProgress,
): PreparedStudy {
  const begin = (step: number) => onProgress?.("preparing the table", step, STEPS);
  begin(0);
  const inspected = inspectHistory(table, request);
  const history = readHistory(table, request, inspected);
  const { people } = history;
  begin(1);
  const checked = checkTable(table, request, inspected);
  begin(2);
  const { features, leftOut } = chooseFeatures(table, checked, dropProtected(table, dropId(table, request)));
  begin(3);
  const independence = checkIndependence(table, checked, request);
  let findings = request.features === undefined ? checked.findings : null;
  const columns = pickOutcomeColumns(request);
  const subject = {
    table,
    sha256,
    columns: { ...columns, ...present({ id: request.id }) },
    ...modelOutcomes(history, request),
    eventRule: inspected.eventRule,
    people,
    findings: () => {
      findings ??= checkTable(table, columns, inspected).findings;
      return findings;
    },
    membersOf: createMembers(table, "reject"),
    checked,
    features,
    leftOut,
    told: history.told,
    notes: [...history.told, ...checkFeatures(table, features, inspected)],
    independence,
  };
  begin(4);
  const study = divide(subject, request, chooseSplit(table, request, people), request.fitRows);
  begin(STEPS);
  return study;
}

/** The request with the protected columns among those that are not learnt from. */
function dropProtected<Request extends FeatureRequest>(table: Table, request: Request): Request {
  const { protected: hidden = [], features, drop = [], time, event } = request;
  for (const name of hidden) findColumn(table, name);
  const clash = hidden.find((name) => features?.includes(name) || name === time || name === event);
  if (clash !== undefined) {
    throw new InputError(
      `a protected column cannot be ${features?.includes(clash) ? "a feature" : "the outcome"}: "${clash}"`,
      {
        code: "protected.role",
        where: table.name,
        hint: "the model never sees a protected column; groups over it can be held all the same",
      },
    );
  }
  return hidden.length === 0 ? request : { ...request, drop: [...drop, ...hidden] };
}

type Undivided = Omit<PreparedStudy, keyof Study | keyof Divided> & Subject;
type Divided = Pick<PreparedStudy, "request" | "missingGroups">;

/** A study without the parts that cannot be sent to another thread. */
export type PlainStudy = Omit<PreparedStudy, "findings" | "membersOf" | "widened">;

/** The part of a study that can be sent to another thread. */
export function toPlainStudy(study: PreparedStudy): PlainStudy {
  const { findings: _findings, membersOf: _membersOf, widened: _widened, ...plain } = study;
  return plain;
}

/** Rebuilds the study in the receiving thread; nothing is read or searched again. */
export function fromPlainStudy(plain: PlainStudy): PreparedStudy {
  const membersOf = createMembers(plain.table, "reject");
  return {
    ...plain,
    membersOf,
    findings: () => plain.checked.findings,
    widened: widenTable(plain.table, membersOf(plain.inputGroups)),
  };
}

/** The same subject with another split; fitted to `fitRows` if given, otherwise to the training rows. */
export function divideAgain(study: PreparedStudy, split: Split, fitRows?: Int32Array): PreparedStudy {
  if (split === study.split && fitRows === undefined) return study;
  return divide(study, study.request, split, fitRows);
}

/** The same fitted study with other training, validation and test rows; everything fitted stays. */
export function withSplit(study: PreparedStudy, split: Split): PreparedStudy {
  return { ...study, split };
}

function divide(subject: Undivided, request: StudyRequest, split: Split, rows?: Int32Array): PreparedStudy {
  const { table, outcomes, membersOf } = subject;
  const fitRows = rows ?? split.train;
  const { groups, missingGroups } = chooseGroups(subject, fitRows, request);
  refuseOutcomeGroups(groups, outcomeNames(request));
  const design = createDesign(subject, { groups, fitRows, split }, request);
  const grid = fitTimeGrid(
    pickOutcomes(outcomes, fitRows),
    present({ T: request.bins, horizon: request.horizon }),
  );
  return {
    ...subject,
    ...design,
    table,
    request,
    split,
    fitRows,
    groups: membersOf(groups),
    missingGroups,
    grid,
  };
}

/** The same study as another kind of model sees it. */
export function redesign(study: PreparedStudy, asked: EncodingRequest): PreparedStudy {
  const request = completeEncoding(asked);
  const had = completeEncoding(study.request);
  const isSame = (Object.keys(request) as (keyof EncodingRequest)[]).every(
    (name) => request[name] === had[name],
  );
  if (isSame) return study;
  return {
    ...study,
    ...createDesign(study, study, request),
    request: { ...study.request, ...request },
  };
}

/** Everyone first, then the named groups, then the file's, then the automatic ones. */
function chooseGroups(
  { table, features, outcomes }: Undivided,
  rows: Int32Array,
  request: StudyRequest,
): { readonly groups: Group[]; readonly missingGroups: Notice[] } {
  const exclude = [
    ...outcomeNames(request as OutcomeColumns),
    ...(request.id === undefined ? [] : [request.id]),
  ];
  const named = request.groupsFile
    ? groupsFromFile(request.groupsFile, table, rows, { exclude })
    : [ALL_GROUP];
  const chosen = [...named, ...(request.groups ?? [])];
  const { autoGroups: limit = 0 } = request;
  if (limit === 0) return { groups: chosen, missingGroups: [] };
  const automatic = chooseAutomaticGroups(table, rows, outcomes.event, { columns: features, chosen, limit });
  const { length } = automatic;
  const why =
    length === 0
      ? "none found: every candidate has fewer than 100 rows or 10 events, or is much like a group named before"
      : `${length} found: others are too small or too much like one of these`;
  const missing = createNotice("warning", `${countOf(limit, "automatic group")} asked for, ${why}`);
  return { groups: [...chosen, ...automatic], missingGroups: length < limit ? [missing] : [] };
}
