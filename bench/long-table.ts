/**
 * A table of N rows × 20 columns by a known law, written as CSV or Parquet without being held in memory: thirteen
 * numbers x1…x13 (x1…x3 log-normal, the others normal), site, arm, grade, smoker, sex, time and event. Hazards are
 * proportional, Weibull with shape 1.3: P(T > t) = exp(−(t/8)^1.3 exp(η)), η linear in all features (EFFECTS); censoring
 * at 10 u^0.7; times are rounded up to thousandths. Rows depend on the seed alone, so a shorter table is the beginning
 * of a longer.
 */
import { createWriteStream } from "node:fs";
import { finished } from "node:stream/promises";

const SITES = ["centre", "east", "north", "south", "west"];
const ARMS = ["a", "b", "c"];
const GRADES = ["1", "2", "3", "4"];
const NUMBERS = 13;
const LOG_NORMAL = 3;

/** The coefficient of every column of a design whose references are the first levels. */
export const EFFECTS: Readonly<Record<string, number>> = {
  ...Object.fromEntries(Array.from({ length: NUMBERS }, (_, k) => [`x${k + 1}`, ((k % 5) - 2) / 10])),
  siteeast: 0.3,
  sitenorth: -0.2,
  sitesouth: 0,
  sitewest: 0.1,
  armb: -0.3,
  armc: 0.2,
  grade: 0.15,
  smoker: 0.4,
  sexM: 0.2,
};

interface LongRow {
  readonly numbers: number[]; // [NUMBERS], with four decimals
  readonly site: string;
  readonly arm: string;
  readonly grade: number;
  readonly smoker: number;
  readonly sex: string;
  readonly time: number;
  readonly event: number;
}

async function* drawRows(N: number, seed: number): AsyncGenerator<LongRow> {
  const { createRandom } = await import("../dist/core/random.js");
  const random = createRandom(seed);
  const pick = (levels: readonly string[]) => levels[random.integer(levels.length)];
  for (let row = 0; row < N; row++) {
    const numbers = Array.from({ length: NUMBERS }, (_, k) => {
      const z = random.normal();
      return Math.round(1e4 * (k < LOG_NORMAL ? Math.exp(z) : z)) / 1e4;
    });
    const [site, arm, grade] = [pick(SITES), pick(ARMS), Number(pick(GRADES))];
    const smoker = random.uniform() < 0.3 ? 1 : 0;
    const sex = random.uniform() < 0.5 ? "M" : "F";
    let eta = EFFECTS.grade * grade + EFFECTS.smoker * smoker;
    for (let k = 0; k < NUMBERS; k++) eta += EFFECTS[`x${k + 1}`] * numbers[k];
    eta += (EFFECTS[`site${site}`] ?? 0) + (EFFECTS[`arm${arm}`] ?? 0) + (EFFECTS[`sex${sex}`] ?? 0);
    const death = 8 * (-Math.log(1 - random.uniform()) * Math.exp(-eta)) ** (1 / 1.3);
    const censoring = 10 * random.uniform() ** 0.7;
    const time = Math.max(1, Math.ceil(1000 * Math.min(death, censoring))) / 1000;
    yield { numbers, site, arm, grade, smoker, sex, time, event: death <= censoring ? 1 : 0 };
  }
}

const NUMBER_NAMES = Array.from({ length: NUMBERS }, (_, k) => `x${k + 1}`);
const LINES_AT_ONCE = 20_000;
const ROW_GROUP_ROWS = 100_000;

/** Writes the table as CSV. */
export async function writeLongCsv(path: string, N: number, seed = 1): Promise<void> {
  const out = createWriteStream(path);
  let lines = [[...NUMBER_NAMES, "site", "arm", "grade", "smoker", "sex", "time", "event"].join(",")];
  const flush = async () => {
    const text = `${lines.join("\n")}\n`;
    lines = [];
    await new Promise((resolve) => out.write(text, resolve));
  };
  for await (const { numbers, site, arm, grade, smoker, sex, time, event } of drawRows(N, seed)) {
    lines.push(`${numbers.join(",")},${site},${arm},${grade},${smoker},${sex},${time},${event}`);
    if (lines.length === LINES_AT_ONCE) await flush();
  }
  if (lines.length > 0) await flush();
  out.end();
  await finished(out);
}

/** Writes the same rows as Parquet, one row group in memory at a time. */
export async function writeLongParquet(path: string, N: number, seed = 1): Promise<void> {
  const { ByteWriter, ParquetWriter } = await import("hyparquet-writer");
  const out = createWriteStream(path);
  const bytes = new ByteWriter();
  const doubles = (name: string) => ({ name, type: "DOUBLE" as const, repetition_type: "REQUIRED" as const });
  const texts = (name: string) => ({
    name,
    type: "BYTE_ARRAY" as const,
    converted_type: "UTF8" as const,
    repetition_type: "REQUIRED" as const,
  });
  const measured = [...NUMBER_NAMES, "grade", "smoker", "time", "event"];
  const worded = ["site", "arm", "sex"];
  const schema = [
    { name: "root", num_children: measured.length + worded.length },
    ...measured.map(doubles),
    ...worded.map(texts),
  ];
  const writer = new ParquetWriter({ writer: bytes, schema });
  const numbers = measured.map(() => new Float64Array(ROW_GROUP_ROWS));
  const words: string[][] = worded.map(() => []);
  let rows = 0;
  const flush = async () => {
    if (rows > 0) {
      await writer.write({
        rowGroupSize: rows,
        columnData: [
          ...measured.map((name, c) => ({ name, data: numbers[c].subarray(0, rows) })),
          ...worded.map((name, c) => ({ name, data: words[c].slice(0, rows) })),
        ],
      });
    }
    rows = 0;
    const part = new Uint8Array(bytes.buffer, 0, bytes.index).slice();
    bytes.index = 0;
    await new Promise((resolve) => out.write(part, resolve));
  };
  for await (const row of drawRows(N, seed)) {
    const values = [...row.numbers, row.grade, row.smoker, row.time, row.event];
    for (let c = 0; c < values.length; c++) numbers[c][rows] = values[c];
    words[0][rows] = row.site;
    words[1][rows] = row.arm;
    words[2][rows] = row.sex;
    if (++rows === ROW_GROUP_ROWS) await flush();
  }
  await flush();
  await writer.finish();
  await flush();
  out.end();
  await finished(out);
}
