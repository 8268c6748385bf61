/**
 * Reads delimited text part by part, some of its columns only, in memory bounded by one part. A part is read as a table
 * of those rows alone would be, except for what only the whole can tell: the decimal mark, which the first number that
 * has one settles for all rows after it, and the order of 3/4/2021 in columns that are to be dates, which takes an
 * extra pass over the text beforehand. The grammar is that of read-csv.ts: a quoted line break, a ragged row or a stray
 * quote means the same in both.
 */
import { InputError, MAX_ROWS_NAMED } from "../../core/errors.ts";
import { present } from "../../core/present.ts";
import { type CategoryColumn, type Column, MISSING_CODE, type TablePart } from "../table.ts";
import {
  appendFields,
  type ColumnBuilder,
  censusOf,
  createColumnBuilder,
  finishColumn,
  listTexts,
} from "./column-builder.ts";
import {
  createEmptyFileError,
  createNoRowsError,
  findForcedTypes,
  findPositions,
  inWholeTable,
  markAsWritten,
  type TableChunk,
} from "./containers.ts";
import {
  agreeOnSlashDates,
  createBadNumbersError,
  type ForcedType,
  findDecimalMark,
  judgeSlashDates,
} from "./infer-types.ts";
import {
  type ColumnMarks,
  canHaveDecimalComma,
  createMarkCensus,
  decideMarks,
  type MarkCensus,
  mergeMarks,
  sayEither,
} from "./number-marks.ts";
import { type DecimalMark, parseDateText, type SlashOrder } from "./parse-cell.ts";
import {
  createRaggedError,
  type RaggedRow,
  type ReadCsvInput,
  readHeader,
  type ScannedBlock,
} from "./read-csv.ts";

/** `scan` is called twice where `dates` names a column. */
export interface ReadCsvChunksInput extends Omit<ReadCsvInput, "byteLength"> {
  /** The columns to read; the others are not looked at. */
  readonly columns: readonly string[];
  /** Those of them that are dates. */
  readonly dates: readonly string[];
  /** The number of rows at which a part is handed over. */
  readonly rowsAtOnce: number;
  /** The files read so far, where the text lies in several. */
  readonly parts?: readonly TablePart[];
}

/** A column of the text and what is known of it beyond one part. */
interface Wanted {
  readonly name: string;
  readonly position: number;
  readonly forced: ForcedType | undefined;
  /** Null where the column is no date. */
  readonly slashOrder: SlashOrder | null;
  readonly canHaveDecimalComma: boolean;
  /** Whether marks may stand between thousands by what the caller says: texts are kept, to be read with them. */
  readonly keepsTexts: boolean;
  mark: DecimalMark | undefined;
  /** The marks of all parts so far, and what they decided; null where nothing was in doubt. */
  readonly census: MarkCensus;
  marks: ColumnMarks | null;
  /** Whether an earlier part was handed over with numbers that have a mark before three digits. */
  hasGrouped: boolean;
}

export async function* readCsvChunks(input: ReadCsvChunksInput): AsyncGenerator<TableChunk> {
  const { name, rowsAtOnce } = input;
  const orders = input.dates.length === 0 ? new Map<string, SlashOrder>() : await findSlashOrders(input);
  let firstRow = 0;
  let builders: ColumnBuilder[] = [];
  let wanted: readonly Wanted[] = [];
  for await (const { block, header, rows } of countRows(name, input.scan(undefined))) {
    if (rows.from === 0) wanted = findWanted(input, header, orders, block.delimiter);
    if (builders.length === 0) builders = wanted.map((column) => createBuilder(name, column, rowsAtOnce));
    wanted.forEach((column, k) => {
      appendRecords(builders[k], block, column.position, header.length, rows);
    });
    input.onBlock(rows.to);
    if (rows.to - firstRow < rowsAtOnce) continue;
    yield await finishChunk(input, wanted, builders, firstRow, rows.to);
    firstRow = rows.to;
    builders = [];
  }
  if (builders.length > 0)
    yield await finishChunk(input, wanted, builders, firstRow, firstRow + builders[0].rows);
}

/** Rows [from, to) of the table that a block holds, and the first of its records that is a row. */
interface BlockRows {
  readonly from: number;
  readonly to: number;
  readonly firstRecord: number;
}

interface CountedBlock {
  readonly block: ScannedBlock;
  readonly header: readonly string[];
  readonly rows: BlockRows;
}

/** The blocks with their rows counted; refuses rows of another length than the header's, and a text without rows. */
async function* countRows(name: string, blocks: AsyncIterable<ScannedBlock>): AsyncGenerator<CountedBlock> {
  let header: readonly string[] | undefined;
  let from = 0;
  for await (const block of blocks) {
    const firstRecord = header === undefined ? 1 : 0;
    header ??= readHeader(name, block.bytes, block.scanner);
    const rows = { from, to: from + block.scanner.records - firstRecord, firstRecord };
    if (rows.to === from) continue;
    refuseRagged(name, block, header.length, rows);
    yield { block, header, rows };
    from = rows.to;
  }
  if (header === undefined) throw createEmptyFileError(name);
  if (from === 0) throw createNoRowsError(name);
}

export function refuseRagged(
  name: string,
  { scanner }: ScannedBlock,
  columns: number,
  rows: BlockRows,
): void {
  const { firstField, records } = scanner;
  if (firstField[records] - firstField[rows.firstRecord] === (rows.to - rows.from) * columns) {
    let record = rows.firstRecord;
    while (record < records && firstField[record + 1] - firstField[record] === columns) record++;
    if (record === records) return;
  }
  const ragged: RaggedRow[] = [];
  let count = 0;
  for (let record = rows.firstRecord; record < records; record++) {
    const fields = firstField[record + 1] - firstField[record];
    if (fields === columns) continue;
    count++;
    if (ragged.length < MAX_ROWS_NAMED)
      ragged.push({ row: rows.from + record - rows.firstRecord + 1, fields });
  }
  throw createRaggedError(name, columns, ragged, count);
}

function findWanted(
  input: ReadCsvChunksInput,
  header: readonly string[],
  orders: ReadonlyMap<string, SlashOrder>,
  delimiter: string,
): Wanted[] {
  const forced = findForcedTypes(input.name, header, input);
  const positions = findPositions(input.name, header, input.columns);
  const canHaveComma = canHaveDecimalComma(delimiter, input);
  return input.columns.map((name, k) => ({
    name,
    position: positions[k],
    forced: forced.get(name),
    // a date column forced to another type is read as that type
    slashOrder: forced.has(name) ? null : (orders.get(name) ?? null),
    canHaveDecimalComma: canHaveComma,
    mark: canHaveComma ? undefined : ".",
    census: createMarkCensus(),
    marks: null,
    hasGrouped: false,
    keepsTexts: input.thousands !== undefined || input.decimal === "comma",
  }));
}

function createBuilder(table: string, column: Wanted, expectedRows: number): ColumnBuilder {
  const { name, slashOrder, canHaveDecimalComma, mark } = column;
  const forced = slashOrder === null ? column.forced : "category";
  const keepsTexts = column.keepsTexts || (column.marks?.thousands ?? null) !== null;
  const builder = createColumnBuilder({ table, name, forced, canHaveDecimalComma, keepsTexts, expectedRows });
  builder.mark = mark;
  return builder;
}

function appendRecords(
  builder: ColumnBuilder,
  { scanner, bytes }: ScannedBlock,
  position: number,
  stride: number,
  { from, to, firstRecord }: BlockRows,
): void {
  const { starts, ends, firstField } = scanner;
  const first = firstField[firstRecord] + position;
  appendFields(builder, { bytes, starts, ends, first, stride, rows: to - from });
}

function finishChunk(
  input: ReadCsvChunksInput,
  wanted: readonly Wanted[],
  builders: readonly ColumnBuilder[],
  firstRow: number,
  end: number,
): Promise<TableChunk> {
  const { name, parts } = input;
  const files = present({ parts });
  return inWholeTable({ table: { name }, firstRow, ...files }, () => {
    decidePart(input, wanted, builders);
    const columns = markAsWritten(
      wanted.map((column, k) => finishPart(column, builders[k])),
      input,
    );
    return { table: { name, rows: end - firstRow, columns }, firstRow, ...files };
  });
}

/** What the parts so far say of marks; refuses what an earlier part was read against. */
function decidePart(
  input: ReadCsvChunksInput,
  wanted: readonly Wanted[],
  builders: readonly ColumnBuilder[],
): void {
  const censuses = wanted.map(({ census, slashOrder }, k) => {
    const own = slashOrder === null ? censusOf(builders[k]) : null;
    if (own !== null) mergeMarks(census, own);
    return own === null ? null : census;
  });
  const canHaveComma = wanted[0]?.canHaveDecimalComma ?? false;
  const decided = decideMarks(input.name, censuses, input, canHaveComma);
  wanted.forEach((column, k) => {
    const before = column.marks;
    const now = decided[k] ?? null;
    const isDoubtful = (marks: ColumnMarks | null) => marks?.remark?.isDoubtful === true;
    const isOther =
      (before?.thousands ?? null) !== (now?.thousands ?? null) || isDoubtful(before) !== isDoubtful(now);
    const needsTexts = now !== null && now.thousands !== null && builders[k].mode === "numbers";
    if ((isOther && column.hasGrouped) || needsTexts)
      throw createLateMarkError(input.name, column, now ?? before);
    column.marks = now;
    column.hasGrouped ||= [...column.census.grouped, ...column.census.certain].some((one) => one !== null);
  });
}

function createLateMarkError(table: string, { name }: Wanted, marks: ColumnMarks | null): InputError {
  const mark = marks?.remark?.mark ?? (marks?.thousands === "," ? "comma" : "point");
  return new InputError(`"${name}" has a ${mark} that may stand before decimals or between thousands`, {
    code: "number.marks",
    where: `${table}, column "${name}"`,
    hint: `a long table is read part by part, and an earlier part may be read already; ${sayEither(mark)}`,
  });
}

function finishPart(wanted: Wanted, builder: ColumnBuilder): Column {
  wanted.mark ??= builder.mark ?? findMark(builder);
  const column = finishColumn(builder, { marks: wanted.marks });
  if (column === "reread") {
    // Mostly text, yet more different numbers than a category has: no model can have learnt from it as numbers.
    const { table, name, bad: cells, texts, infinities, forced } = builder;
    throw createBadNumbersError({ table, name, cells, count: texts + infinities, texts, forced });
  }
  if (wanted.slashOrder === null || column.type !== "category") return column;
  return toDates(column, wanted.slashOrder);
}

function findMark(builder: ColumnBuilder): DecimalMark | undefined {
  for (const text of listTexts(builder)) {
    const mark = findDecimalMark(text);
    if (mark !== undefined) return mark;
  }
  return undefined;
}

/**
 * The column as dates; unchanged where one of its texts is not a date, so that the encoder refuses it with its rows.
 */
function toDates(column: CategoryColumn, slashOrder: SlashOrder): Column {
  const days = Float64Array.from(column.levels, (text) => parseDateText(text, slashOrder));
  if (days.some(Number.isNaN)) return column;
  const values = Float64Array.from(column.codes, (code) => (code === MISSING_CODE ? Number.NaN : days[code]));
  return { name: column.name, type: "date", values };
}

/** The order in every column that is to be a date, found as when the whole table is read. */
async function findSlashOrders(input: ReadCsvChunksInput): Promise<Map<string, SlashOrder>> {
  const { name, dates } = input;
  /** What the texts of a column allow so far; a column with a text that is no date is left out. */
  let open: Map<string, Set<SlashOrder | "either">> | undefined;
  for await (const { block, header, rows } of countRows(name, input.scan(undefined))) {
    findPositions(name, header, dates);
    const isForced = (column: string) =>
      input.category?.includes(column) === true || input.number?.includes(column) === true;
    open ??= new Map(header.filter((column) => !isForced(column)).map((column) => [column, new Set()]));
    for (const [column, found] of open) {
      const builder = createColumnBuilder({
        table: name,
        name: column,
        forced: "category",
        canHaveDecimalComma: false,
        expectedRows: rows.to - rows.from,
      });
      appendRecords(builder, block, header.indexOf(column), header.length, rows);
      const judged = judgeSlashDates(listTexts(builder));
      if (judged !== null) found.add(judged);
      else if (!dates.includes(column) && hasOtherTexts(builder)) open.delete(column);
    }
  }
  const judged = new Map([...(open ?? [])].map(([column, found]) => [column, agreeInColumn(found)]));
  const { order } = agreeOnSlashDates([...judged.values()], input.dateOrder);
  return new Map(
    dates.map((date) => {
      const own = judged.get(date);
      return [date, own === "month-first" || own === "day-first" ? own : order];
    }),
  );
}

function hasOtherTexts(builder: ColumnBuilder): boolean {
  for (const text of listTexts(builder)) if (Number.isNaN(parseDateText(text, "month-first"))) return true;
  return false;
}

/** A column with both orders holds no dates. */
function agreeInColumn(found: ReadonlySet<SlashOrder | "either">): SlashOrder | "either" | null {
  if (found.has("month-first") && found.has("day-first")) return null;
  if (found.has("month-first")) return "month-first";
  if (found.has("day-first")) return "day-first";
  return found.has("either") ? "either" : null;
}
