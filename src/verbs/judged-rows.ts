/**
 * Which rows of a model's study are used for what. To judge: rows that are new to the model. To search for groups: also
 * rows it knows, separate from the rows that confirm. To repair curves: rows that fit and rows that judge, neither of
 * which it has learnt from. A network that has learnt from its validation rows too, because its output layer was solved
 * on them or because it is an ensemble, has its test rows alone: they are divided, and without any there is nothing to
 * do. Where the split is unknown, every row is used and a warning says what that is worth.
 */
import { InputError } from "../core/errors.ts";
import { present } from "../core/present.ts";
import type { BinnedRightCensored } from "../data/outcomes/outcomes.ts";
import { type People, pickPeople } from "../data/outcomes/people.ts";
import { joinRows, type Split, splitByOrder } from "../data/outcomes/split.ts";
import type { BoostRowSets } from "./boost.ts";
import { flagRows, isSameRows, type ModelStudy } from "./model-study.ts";

/**
 * The rows for an audit: as `chooseJudgedRows`, but where the model has learnt from every row of its table and not all
 * rows are asked for, there is nothing to judge.
 */
export function requireJudgedRows(
  study: ModelStudy,
  options: { readonly allRows?: boolean } = {},
): JudgedRows {
  const judged = chooseJudgedRows(study, options);
  const isLearnt = study.acquaintance === "stored" || study.acquaintance === "redrawn";
  if (!isLearnt || study.split.test.length > 0 || options.allRows === true) return judged;
  throw new InputError("the model was trained on every row of this table, and none is left to judge it by", {
    code: "rows.spent",
    where: study.table.name,
    hint:
      "give rows it has not seen, or keep rows for the test in training: --split 0.6,0.2,0.2; " +
      "--all-rows (in code allRows) judges all the same, with a warning",
  });
}

/** Rows to judge a model on. */
export interface JudgedRows {
  readonly rows: Int32Array;
  /** "test rows", "rows of the table". */
  readonly which: string;
  /** Whether they are the test rows of the table that the model was trained on. */
  readonly isTest: boolean;
  /** Whether the model is known to have learnt from some of them, or to have been chosen by them. */
  readonly isSeen: boolean;
  readonly warning: string | null;
}

/** `allRows`: every row of the model's own table, whether seen in training or not. */
export function chooseJudgedRows(study: ModelStudy, { allRows = false } = {}): JudgedRows {
  const { split, acquaintance, table } = study;
  const { test } = split;
  if (acquaintance === "given") return judgeGiven(study);
  const isSeen = false;
  if (acquaintance === "new") {
    return { rows: test, which: "rows of the table", isTest: false, isSeen, warning: null };
  }
  const isKnown = acquaintance === "stored" || acquaintance === "redrawn";
  if (isKnown && test.length > 0 && !allRows) {
    return { rows: test, which: "test rows", isTest: true, isSeen, warning: tellOfTestRows(study) };
  }
  const which = "rows of the table, those it was trained on among them";
  const rows = Int32Array.from({ length: table.rows }, (_, row) => row);
  const warning = isKnown ? (allRows ? ALL_ROWS : NO_TEST_ROWS) : warnOfUnknown(study);
  return { rows, which, isTest: false, isSeen: true, warning };
}

/** The test rows that the caller names. Those of them that the model has seen are said, if its file knows. */
function judgeGiven(study: ModelStudy): JudgedRows {
  const { model, split, isOwnTable, stored } = study;
  const { test: rows } = split;
  if (rows.length === 0) throw new InputError('no row of the split is in "test"', { code: "split.test" });
  const isSame = stored === null ? rows.length === model.training.rows.test : isSameRows(stored.test, rows);
  const [warning = null] = warnOfSeenRows(study);
  return { rows, which: "test rows", isTest: isOwnTable && isSame, isSeen: warning !== null, warning };
}

/** A Cox model has not seen its validation rows; those of a network decided at least when it stopped. */
function warnOfSeenRows({ model, split: { test }, stored, table }: ModelStudy): string[] {
  if (stored === null) return [];
  const { train, validation } = stored;
  const known = flagRows(model.predictor.kind === "cox" ? train : joinRows(train, validation), table.rows);
  const seen = test.filter((row) => known[row] === 1).length;
  return seen === 0
    ? []
    : [`the model has seen ${seen} of the ${test.length} test rows of the split: ${BY_HEART}`];
}

/** What is to be said of a given split: rows that are not what it calls them. */
function warnOfGiven(study: ModelStudy): string[] {
  const { split, spent } = study;
  const isPart = spent.length > 0 && split.validation.length > 0;
  const part = `the model has learnt from ${spent.length} validation rows of the split: they are left out`;
  return [...(isPart ? [part] : []), ...warnOfSeenRows(study)];
}

const BY_HEART = "what it learnt by heart will look right";
const ALL_ROWS = `the model was trained on this table: of the rows it has seen, ${BY_HEART}`;
const NO_TEST_ROWS = `the model was trained on every row of this table: ${BY_HEART}. Give rows it has not seen`;
const GIVE_ROWS = "Give its split with --split FILE, or rows it has not seen";

/** What is to be said where nobody can tell which rows the model has learnt from. */
function warnOfUnknown(study: ModelStudy): string {
  return `${sayUnknown(study)}: ${BY_HEART}. ${GIVE_ROWS}`;
}

function sayUnknown({ overlap, isOwnTable, table }: ModelStudy): string {
  if (overlap !== undefined) {
    return `the model has learnt from about ${overlap} of these ${table.rows} rows, and nothing says which`;
  }
  return isOwnTable
    ? "the model was trained on this table, and nothing says which rows it has not seen"
    : `the model's file is of an earlier version and does not say whether its ${table.rows} rows were these`;
}

function tellOfTestRows({ split, acquaintance }: ModelStudy): string {
  const judged = `the model was trained on this table: only its ${split.test.length} test rows are judged`;
  return acquaintance === "redrawn" ? `${judged}; ${REDRAWN}` : judged;
}

const REDRAWN = "its file is of an earlier version and keeps no split, so these were drawn again by its seed";

/** Whether a network has learnt from all rows of its table but the test rows; these alone are new to it. */
function hasTestRowsAlone({ model, split, acquaintance, spent }: ModelStudy): boolean {
  if (model.predictor.kind === "cox" || split.validation.length > 0) return false;
  return acquaintance === "stored" || acquaintance === "redrawn" || spent.length > 0;
}

/** Says how the test rows of such a network are divided: "one half", what becomes of it, and of the others. */
function tellOfDivision(study: ModelStudy, share: string, first: string, others: string): string[] {
  const { model, split, table, acquaintance, people } = study;
  const { test } = split;
  const learnt = `the model has learnt from its ${model.training.solve?.solvedOn ?? "training rows"}`;
  if (test.length === 0) {
    throw new InputError(`${learnt}, and the table has no others`, {
      code: "rows.spent",
      where: table.name,
      hint: "give a table of rows it has not seen, or keep rows for the test in training: --split 0.6,0.2,0.2",
    });
  }
  const whose = people === null ? "" : `the ${pickPeople(people, test).count} people in `;
  const division = `${share} of ${whose}its ${test.length} test rows ${first}, and ${others}`;
  const sentence = `${learnt}: ${division}${acquaintance === "redrawn" ? `; ${REDRAWN}` : ""}`;
  return [sentence, ...(acquaintance === "given" ? warnOfGiven(study) : [])];
}

/** Rows to search and rows to confirm on or, where no split is known, rows to divide at random. */
export interface SearchedRows {
  readonly rows: Int32Array;
  /** Positions among the rows of those that confirm, none of which the model has seen. Null: any half of the rows. */
  readonly confirm: Int32Array | null;
  /** Names of the rows: "training rows", "validation rows", "rows". */
  readonly names: { readonly search: string; readonly confirm: string };
  /** How many rows trained the model, where they are from this table; null otherwise. */
  readonly trainingRows: number | null;
  readonly warnings: readonly string[];
}

/**
 * The rows to search and, separately, the rows that the model has not seen. A Cox model learns only from its training
 * rows: those are searched, and validation and test rows confirm. A network can know its training rows by heart, and
 * the validation rows decided when it stopped: those are searched, and the test rows confirm. If it has learnt from
 * these too, curves and group means are right there by construction: one half of the test rows is searched, by seed,
 * and the other confirms.
 */
export function chooseSearchedRows(study: ModelStudy): SearchedRows {
  const { split, acquaintance } = study;
  if (hasTestRowsAlone(study)) {
    return {
      rows: split.test,
      confirm: null,
      names: { search: "test rows", confirm: "test rows" },
      trainingRows: split.train.length,
      warnings: tellOfDivision(study, "one half", "is searched", "the other half confirms"),
    };
  }
  const sets = acquaintance === "new" || acquaintance === "unknown" ? null : chooseSets(study);
  if (sets === null) {
    const { rows, isTest, warning } = chooseJudgedRows(study);
    const name = isTest ? "test rows" : "rows";
    const warnings = warning === null ? [] : [warning];
    return { rows, confirm: null, names: { search: name, confirm: name }, trainingRows: null, warnings };
  }
  const { search, confirm, names } = sets;
  const rows = joinRows(search, confirm);
  const confirms = flagRows(confirm, study.table.rows);
  const warning =
    `the model was trained on this table: its ${search.length} ${names.search} are searched, and ` +
    `its ${confirm.length} ${names.confirm}, which it has not seen, confirm`;
  return {
    rows,
    confirm: Int32Array.from(rows.keys()).filter((place) => confirms[rows[place]] === 1),
    names,
    trainingRows: split.train.length,
    warnings:
      acquaintance === "given"
        ? warnOfGiven(study)
        : [acquaintance === "redrawn" ? `${warning}; ${REDRAWN}` : warning],
  };
}

/** Null when a set is empty. */
function chooseSets({ model, split: { train, validation: valid, test } }: ModelStudy) {
  const isCox = model.predictor.kind === "cox";
  const search = isCox ? train : valid;
  const confirm = isCox ? joinRows(valid, test) : test;
  if (search.length === 0 || test.length === 0) return null;
  const names = {
    search: isCox ? "training rows" : "validation rows",
    confirm: isCox && valid.length > 0 ? "validation and test rows" : "test rows",
  };
  return { search, confirm, names };
}

/** How to divide a boost's rows where nothing says which fit. */
export interface FitShare {
  /** Share of the unseen rows used for fitting; half of them unless given. */
  readonly fit?: number;
  /** Seed of that division. */
  readonly seed: number;
}

/** Which rows fit a boost and which judge it. */
export interface ChosenBoostRows {
  readonly rows: BoostRowSets;
  readonly warnings: string[];
}

/** Which rows of a model's study fit a boost and which judge it. */
export function chooseBoostRows(study: ModelStudy, options: FitShare): ChosenBoostRows {
  const { split, acquaintance, people, outcomes } = study;
  const rowsOf = (one: Split): BoostRowSets => divideUnseen(one, { people, event: outcomes.event }, options);
  if (hasTestRowsAlone(study)) {
    const { fit } = options;
    const warnings =
      fit === undefined
        ? tellOfDivision(study, "one half", "fits", "the other half judges")
        : tellOfDivision(study, `a share of ${fit}`, "fits", "the others judge");
    return { rows: rowsOf(split), warnings };
  }
  if (acquaintance === "given") return { rows: rowsOf(split), warnings: warnOfGiven(study) };
  if (acquaintance === "new") return { rows: rowsOf(split), warnings: [] };
  if (acquaintance !== "unknown") {
    const unseen = split.validation.length + split.test.length;
    const warning =
      `the model was trained on this table: only the ${unseen} rows that it has not learnt from are used` +
      (acquaintance === "redrawn" ? `; ${REDRAWN}` : "");
    return { rows: rowsOf(split), warnings: [warning] };
  }
  if (options.fit === undefined) {
    throw new InputError(sayUnknown(study), {
      code: "split.unknown",
      hint:
        "give its split with --split FILE, or rows it has not seen; " +
        "--fit SHARE goes on all the same, on rows that it may know by heart",
    });
  }
  const warning =
    "the model was trained on rows of this table: " +
    "on those it learnt by heart there is little to repair, and what is said of them is too good";
  return { rows: rowsOf(split), warnings: [warning] };
}

/** Share of the unseen rows used for fitting where nothing says which do. */
const DEFAULT_FIT = 0.5;

/** Validation rows fit and test rows judge, unless a share of both is asked for or one of them is empty. */
export function divideUnseen(
  { validation: valid, test }: Split,
  { people, event }: { readonly people: People | null; readonly event: BinnedRightCensored["event"] | null },
  { fit, seed }: FitShare,
): BoostRowSets {
  if (fit === undefined && valid.length > 0 && test.length > 0) return { fit: valid, held: test };
  const unseen = joinRows(valid, test);
  if (unseen.length < 2) {
    throw new InputError(`too few rows that the model has not learnt from: ${unseen.length}`, {
      code: "rows.few",
      hint: "give a table of other rows",
    });
  }
  const share = fit ?? DEFAULT_FIT;
  const places = splitByOrder(unseen.length, {
    seed,
    fractions: [share, 0, 1 - share],
    ...present({
      people: people === null ? undefined : pickPeople(people, unseen),
      stratifyBy: event === null ? undefined : Uint8Array.from(unseen, (row) => event[row]),
    }),
  });
  return { fit: places.train.map((k) => unseen[k]), held: places.test.map((k) => unseen[k]) };
}
