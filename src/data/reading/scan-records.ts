/**
 * Finds the fields of CSV records (RFC 4180) in blocks of UTF-8 bytes: where each begins and ends, without making
 * strings. Quotes count at the start of a field only; a doubled quote inside quotes is one quote; delimiters and line
 * ends inside quotes belong to the field; CRLF, LF and CR end a record. Blanks around an unquoted field are not part of
 * it. An empty line is a record of one empty field when a record follows, and nothing at all at the end of the file.
 * infer-types.ts decides what the fields mean, read-csv.ts which columns there are.
 */

const QUOTE = 0x22;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const SPACE = 0x20;
const TAB = 0x09;

/** What a byte means outside quotes. */
const ORDINARY = 0;
const DELIMITER = 1;
const LINE_END = 2;
const NUL = 3;

export type ScanProblem = "unterminated quote" | "text after a closing quote" | "zero byte";

/** Scanning state that outlives a block, and the fields of the block scanned last. */
export interface RecordScanner {
  readonly classes: Uint8Array; // [256]
  /** Blank lines that are rows only if another record follows. */
  blankLines: number;
  /** Field k is bytes[starts[k], ends[k]) of the scanned block. */
  starts: Int32Array;
  ends: Int32Array;
  /** Record r has the fields firstField[r] … firstField[r+1]−1. */
  firstField: Int32Array;
  records: number;
  /** What stopped the scan, if something did, in the record after the `records` good ones. */
  problem: ScanProblem | undefined;
}

/** Fields there is room for at first; grown as blocks need it. */
const FIRST_FIELDS = 256;
/**
 * Bytes a block must offer beyond its length: the scan ends on sentinels there instead of testing for the end at every
 * byte.
 */
export const SENTINEL_BYTES = 2;

export function createRecordScanner(delimiter: string): RecordScanner {
  const classes = new Uint8Array(256);
  classes[delimiter.charCodeAt(0)] = DELIMITER;
  classes[LINE_FEED] = LINE_END;
  classes[CARRIAGE_RETURN] = LINE_END;
  classes[0] = NUL;
  return {
    classes,
    blankLines: 0,
    starts: new Int32Array(FIRST_FIELDS),
    ends: new Int32Array(FIRST_FIELDS),
    firstField: new Int32Array(FIRST_FIELDS + 1), // a record has at least one field
    records: 0,
    problem: undefined,
  };
}

/**
 * Scans the complete records of bytes[0, length) and returns how many bytes they took; the rest belongs to a record
 * that needs more bytes, and must come again at the front of the next block. Doubled quotes are undone in place.
 */
export function scanRecords(
  scanner: RecordScanner,
  bytes: Uint8Array,
  length: number,
  isLast: boolean,
): number {
  const { classes } = scanner;
  let { starts, ends, firstField } = scanner;
  bytes[length] = LINE_FEED;
  bytes[length + 1] = QUOTE;
  scanner.problem = undefined;
  const escapedFields: number[] = [];
  let record = 0;
  let field = 0;
  let position = 0;
  let consumed = 0;
  firstField[0] = 0;

  scan: while (position < length) {
    const recordStart = position;
    const recordField = field;
    let isQuoted = false;
    let byteClass = ORDINARY;
    escapedFields.length = 0;
    do {
      let start = position;
      let end = position;
      if (bytes[position] === QUOTE) {
        isQuoted = true;
        start = ++position;
        let isEscaped = false;
        for (;;) {
          while (bytes[position] !== QUOTE && bytes[position] !== 0) position++;
          if (position < length && bytes[position] === 0) {
            scanner.problem = "zero byte";
            break scan;
          }
          if (position + 1 >= length) {
            if (position >= length && isLast) scanner.problem = "unterminated quote";
            if (position >= length || !isLast) break scan;
          } else if (bytes[position + 1] === QUOTE) {
            isEscaped = true;
            position += 2;
            continue;
          }
          break;
        }
        end = position++;
        if (isEscaped) escapedFields.push(field);
        while (bytes[position] === SPACE) position++;
        byteClass = classes[bytes[position]];
        if (byteClass === ORDINARY) {
          scanner.problem = "text after a closing quote";
          break scan;
        }
      } else {
        byteClass = classes[bytes[position]];
        while (byteClass === ORDINARY) byteClass = classes[bytes[++position]];
        end = position;
        if (start < end && (bytes[start] <= SPACE || bytes[end - 1] <= SPACE)) {
          while (start < end && (bytes[start] === SPACE || bytes[start] === TAB)) start++;
          while (end > start && (bytes[end - 1] === SPACE || bytes[end - 1] === TAB)) end--;
        }
      }
      if (byteClass === NUL) {
        scanner.problem = "zero byte";
        break scan;
      }
      if (field === starts.length) {
        growFields(scanner, 2 * field);
        ({ starts, ends, firstField } = scanner);
      }
      starts[field] = start;
      ends[field] = end;
      field++;
      position++;
    } while (byteClass === DELIMITER);

    // position is one past the line end; a record that stopped at the sentinel is complete only at the end of the file,
    // and one that stopped at a carriage return only when it is known whether a line feed follows
    if (!isLast && (position > length || (position === length && bytes[position - 1] === CARRIAGE_RETURN)))
      break;
    if (bytes[position - 1] === CARRIAGE_RETURN && position < length && bytes[position] === LINE_FEED)
      position++;
    if (field === recordField + 1 && !isQuoted && starts[recordField] === ends[recordField]) {
      field = recordField;
      scanner.blankLines++;
      consumed = Math.min(position, length);
      continue;
    }
    if (scanner.blankLines > 0) {
      // they were rows after all: put them in front, then come back to this record
      growFields(scanner, field + scanner.blankLines);
      ({ starts, ends, firstField } = scanner);
      for (field = recordField; scanner.blankLines > 0; scanner.blankLines--) {
        starts[field] = recordStart;
        ends[field] = recordStart;
        firstField[++record] = ++field;
      }
      position = recordStart;
      continue;
    }
    for (const escaped of escapedFields)
      ends[escaped] = undoubleQuotes(bytes, starts[escaped], ends[escaped]);
    firstField[++record] = field;
    consumed = Math.min(position, length);
  }
  scanner.records = record;
  return consumed;
}

function growFields(scanner: RecordScanner, count: number): void {
  if (count <= scanner.starts.length) return;
  for (const key of ["starts", "ends", "firstField"] as const) {
    const grown = new Int32Array(key === "firstField" ? count + 1 : count);
    grown.set(scanner[key]);
    scanner[key] = grown;
  }
}

function undoubleQuotes(bytes: Uint8Array, start: number, end: number): number {
  let to = start;
  for (let from = start; from < end; from++) {
    bytes[to++] = bytes[from];
    if (bytes[from] === QUOTE) from++;
  }
  return to;
}
