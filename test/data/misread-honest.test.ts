// Honest tables as files, and the checks of what may be misread: marks, dates, codes, far times, names, spellings.
import { expect, test } from "vitest";
import { checkTable } from "../../src/data/checks/sanity.ts";
import { inspectHistory } from "../../src/data/outcomes/read-history.ts";
import { readTable, tableSourceFromBytes } from "../../src/data/reading/read-table.ts";
import { writeHonest } from "./honest-tables.ts";

const MISREAD = [
  "number.marks",
  "number.sentinel",
  "number.comma",
  "number.text",
  "date.ambiguous",
  "date.mixed",
  "levels.alike",
  "time.doubtful",
  "event.name",
  "id.spelling",
];
/** As many as the time allows; HONEST_TABLES=1000 is what decision 22 reports. */
const TABLES = Number(process.env.HONEST_TABLES ?? 100);
const FAMILY = Number(process.env.HONEST_FAMILY ?? 31);

test(`${TABLES} honest files: no error, at most 1 % with a warning`, { timeout: 600_000 }, async () => {
  const accused: string[] = [];
  let tables = 0;
  for (let seed = 0; seed < TABLES; seed++) {
    const { text, columns } = writeHonest(seed, FAMILY);
    const table = await readTable(tableSourceFromBytes("t.csv", new TextEncoder().encode(text)), {
      ids: ["pid"],
    });
    const inspected = inspectHistory(table, columns);
    const all = [...inspected.findings, ...checkTable(table, columns, inspected).findings];
    const found = all.filter(({ code }) => MISREAD.includes(code));
    if (found.length > 0) tables++;
    accused.push(...found.map(({ level, code, message }) => `${seed}: ${level} ${code} ${message}`));
  }
  if (process.env.HONEST_SAY) console.log({ tables, accused });
  expect({ accused, tables: tables <= TABLES / 100 }).toEqual({ accused, tables: true });
  expect(accused.filter((one) => / error /.test(one))).toEqual([]);
});
