/**
 * Writes predictions for people part by part, with the columns that verbs/people/people-columns.ts lists: CSV with
 * probabilities to ten decimals (all their digits where causes make 1 together) and empty cells where a number is
 * absent, or Parquet with the numbers themselves, in row groups. Ids and names of columns are text from outside: a file
 * gets them as they are, quoted where CSV needs it, and a terminal gets them safe to show.
 */
import { safeLine } from "../../core/text.ts";
import type { PeopleColumn, PeoplePart, PeopleTable } from "../../verbs/people/people-columns.ts";
import type { ByteOutput } from "./growing-file.ts";
import { PIECE_BYTES, PROBABILITY_BYTES, writeProbability } from "./prediction-output.ts";
import { openRowGroups, ROW_GROUP_ROWS } from "./row-groups.ts";

/** What is known of some people: at least how many they are. */
interface Part {
  readonly curves: { readonly N: number };
}

/** A table that grows by the people of a part. */
export interface PeopleOutput<People extends Part = PeoplePart> {
  /** Parts come in the order of the table. */
  write(part: People): Promise<void>;
  finish(): Promise<void>;
}

const COMMA = 0x2c;
const LINE_FEED = 0x0a;
/** Bytes that one UTF-16 unit takes at most. */
const UNIT_BYTES = 3;
/** A field with one of these is written in quotation marks. */
const QUOTED = /[",\r\n]/;

/** `isShown`: the text goes to standard output, perhaps a terminal's. */
export function openCsvPeople<People extends Part>(
  output: ByteOutput,
  { columns, rowsEach }: PeopleTable<People>,
  isShown: boolean,
): PeopleOutput<People> {
  const encoder = new TextEncoder();
  const toField = (text: string) => {
    const said = isShown ? safeLine(text) : text;
    return QUOTED.test(said) ? `"${said.replaceAll('"', '""')}"` : said;
  };
  let bytes = new Uint8Array(2 * PIECE_BYTES);
  let at = 0;
  let isBegun = false;

  function makeRoom(more: number): void {
    if (at + more <= bytes.length) return;
    const larger = new Uint8Array(2 * (at + more));
    larger.set(bytes.subarray(0, at));
    bytes = larger;
  }

  function writeText(text: string): void {
    makeRoom(UNIT_BYTES * text.length);
    at += encoder.encodeInto(text, bytes.subarray(at)).written;
  }

  function writeCell({ kind }: Pick<PeopleColumn, "kind">, cell: number | string | null): void {
    if (cell === null || cell === "") return;
    if (typeof cell === "string") writeText(toField(cell));
    else if (kind === "probability") {
      makeRoom(PROBABILITY_BYTES);
      at = writeProbability(cell, bytes, at);
    } else writeText(String(cell));
  }

  async function pass(): Promise<void> {
    if (at > 0) await output.write(bytes.subarray(0, at));
    at = 0;
  }

  return {
    async write(part) {
      if (!isBegun) writeText(`${columns.map(({ name }) => name).join(",")}\n`);
      isBegun = true;
      for (let i = 0; i < part.curves.N; i++) {
        for (let k = 0; k < rowsEach; k++) {
          for (const [c, column] of columns.entries()) {
            makeRoom(1);
            if (c > 0) bytes[at++] = COMMA;
            writeCell(column, column.cell(part, i, k));
          }
          makeRoom(1);
          bytes[at++] = LINE_FEED;
          if (at >= PIECE_BYTES) await pass();
        }
      }
      await pass();
    },
    finish: () => output.finish(),
  };
}

const REQUIRED = { repetition_type: "REQUIRED" } as const;
const DOUBLE = { type: "DOUBLE" } as const;
/** How Parquet declares the cells of a kind. */
const DECLARED = {
  count: { type: "INT64", ...REQUIRED },
  probability: { ...DOUBLE, ...REQUIRED },
  number: { ...DOUBLE, ...REQUIRED },
  measured: { ...DOUBLE, repetition_type: "OPTIONAL" },
  text: { type: "BYTE_ARRAY", converted_type: "UTF8", ...REQUIRED },
} as const;

export async function openParquetPeople<People extends Part>(
  output: ByteOutput,
  { columns, rowsEach }: PeopleTable<People>,
): Promise<PeopleOutput<People>> {
  const schema = columns.map(({ name, kind }) => ({ name, ...DECLARED[kind] }));
  const groups = await openRowGroups(output, schema);
  const cells = columns.map(() => [] as (number | bigint | string | null)[]); // [columns] of [rows]

  async function writeGroup(): Promise<void> {
    await groups.write(cells);
    for (const own of cells) own.length = 0;
  }

  return {
    async write(part) {
      for (let i = 0; i < part.curves.N; i++) {
        for (let k = 0; k < rowsEach; k++) {
          for (const [c, column] of columns.entries()) {
            const cell = column.cell(part, i, k);
            cells[c].push(column.kind === "count" ? BigInt(cell ?? 0) : cell);
          }
          if (cells[0].length === ROW_GROUP_ROWS) await writeGroup();
        }
      }
    },
    async finish() {
      await writeGroup();
      await groups.finish();
    },
  };
}
