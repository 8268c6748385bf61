// Reading and typing a CSV of a million rows and 20 columns (numbers, categories, dates, missing cells; about 150 MB),
// each time in a process of its own, so that peak memory is the reader's. Baseline: counting the lines of the same file
// in the same run. The two libraries of docs/decisions/003-csv-parser.md are timed on it too, given the same typing to
// do in the plainest way.
import { spawnSync } from "node:child_process";
import { createWriteStream, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

interface Timing {
  readonly name: string;
  readonly seconds: number;
  readonly baseline?: { readonly name: string; readonly seconds: number };
  readonly extra?: Record<string, number | string>;
}

/** What a child prints: the checks first. */
interface Measured {
  readonly rows: number;
  /** Of column lab0, missing cells left out. */
  readonly sum: number;
  readonly seconds: number;
  /** Processor time, which other work on the machine disturbs less. */
  readonly cpuSeconds: number;
  readonly peakMegabytes: number;
}

const ROWS = 1_000_000;
const REPEATS = 3;
const root = fileURLToPath(new URL("..", import.meta.url));
const dist = new URL("../dist/", import.meta.url).href;

/** Before and after every measured piece of work; `path` is the table. */
const OPENING = `
  const path = process.argv[1];
  const report = (rows, sum) => {
    const cpu = process.cpuUsage(cpuStart);
    const seconds = (performance.now() - start) / 1000;
    const peakMegabytes = process.resourceUsage().maxRSS / 1024;
    console.log(JSON.stringify({ rows, sum, seconds, cpuSeconds: (cpu.user + cpu.system) / 1e6, peakMegabytes }));
  };
  const cpuStart = process.cpuUsage();
  const start = performance.now();
`;

const READ = `
  import { readTable } from "${dist}data/read-table.js";
  import { tableSourceFromPath } from "${dist}node/table-file.js";
  ${OPENING}
  const table = await readTable(await tableSourceFromPath(path));
  const types = table.columns.map((column) => column.type[0]).join("");
  if (types !== "cncccnndbnnnnnnnnnnn") throw new Error("wrong types: " + types);
  const { values } = table.columns.find((column) => column.name === "lab0");
  let sum = 0;
  for (const value of values) if (value === value) sum += value;
  report(table.rows, sum);
`;

const READ_AND_ENCODE = `
  import { encode, fitEncoder } from "${dist}data/encode.js";
  import { readTable } from "${dist}data/read-table.js";
  import { tableSourceFromPath } from "${dist}node/table-file.js";
  ${OPENING}
  const table = await readTable(await tableSourceFromPath(path));
  const outcomes = ["id", "time", "status"];
  const features = table.columns.map((column) => column.name).filter((name) => !outcomes.includes(name));
  const encoder = fitEncoder(table, { features, missingIndicator: true });
  const { N, D, names, values } = encode(encoder, table);
  const { mean, sd } = encoder.columns.find(({ column }) => column === "lab0");
  const at = names.indexOf("lab0");
  let sum = 0;
  for (let row = 0; row < N; row++) if (values[row * D + at + 1] === 0) sum += values[row * D + at] * sd + mean;
  report(N, sum);
`;

const COUNT_LINES = `
  import { createReadStream } from "node:fs";
  ${OPENING}
  let lines = 0;
  for await (const chunk of createReadStream(path, { highWaterMark: 1 << 18 })) {
    for (let k = 0; k < chunk.length; k++) if (chunk[k] === 10) lines++;
  }
  report(lines - 1, 0);
`;

/** Columns from rows of strings: a Map of distinct texts until 256 of them are mostly numbers, then a Float64Array. */
const TYPING = `
  let columns, rows = 0;
  const isMissing = (text) => text.length === 0 || (text.length < 5 && /^(na|nan|null)$/i.test(text));
  const add = (cells) => {
    if (!columns) {
      columns = cells.map((name) => {
        const codes = new Int32Array(${ROWS});
        return { name, codeOf: new Map(), codes, values: undefined, settled: false };
      });
      return;
    }
    for (let k = 0; k < cells.length; k++) {
      const column = columns[k], text = cells[k];
      if (column.values) {
        const value = text.length === 0 ? NaN : Number(text);
        if (value !== value && !isMissing(text)) throw new Error(text);
        column.values[rows] = value;
        continue;
      }
      let code = column.codeOf.get(text);
      if (code === undefined) column.codeOf.set(text, (code = isMissing(text) ? -1 : column.codeOf.size));
      column.codes[rows] = code;
      if (!column.settled && column.codeOf.size > 256) {
        column.settled = true;
        const numbers = [...column.codeOf.keys()].map((key) => (isMissing(key) ? NaN : Number(key)));
        if (numbers.filter(Number.isFinite).length > 128) {
          const numberOf = (code) => (code < 0 ? NaN : numbers[code]);
          column.values = Float64Array.from({ length: ${ROWS} }, (_, row) => numberOf(column.codes[row]));
          column.codes = column.codeOf = undefined;
        }
      }
    }
    rows++;
  };
  const sumUp = () => {
    let sum = 0;
    for (const value of columns.find((column) => column.name === "lab0").values) if (value === value) sum += value;
    return sum;
  };
`;

const PAPAPARSE = `
  import { createReadStream } from "node:fs";
  import Papa from "papaparse";
  ${OPENING}${TYPING}
  await new Promise((resolve, reject) => {
    const chunk = ({ data }) => data.forEach(add);
    const input = createReadStream(path, { highWaterMark: 1 << 18 });
    Papa.parse(input, { delimiter: ",", skipEmptyLines: true, chunk, complete: resolve, error: reject });
  });
  report(rows, sumUp());
`;

const CSV_PARSE = `
  import { createReadStream } from "node:fs";
  import { parse } from "csv-parse";
  ${OPENING}${TYPING}
  const stream = createReadStream(path, { highWaterMark: 1 << 18 });
  for await (const cells of stream.pipe(parse({ delimiter: "," }))) add(cells);
  report(rows, sumUp());
`;

function runChild(script: string, path: string): Measured {
  const args = ["--input-type=module", "--eval", script, path];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: root, encoding: "utf8" });
  if (status !== 0) throw new Error(`the reader failed:\n${stderr}`);
  return JSON.parse(stdout) as Measured;
}

/** The run in the middle by time, every one of them checked. */
function measure(script: string, path: string, expectedSum: number | undefined): Measured {
  const runs = Array.from({ length: REPEATS }, () => runChild(script, path));
  for (const { rows, sum } of runs) {
    const isRight = expectedSum === undefined || Math.abs(sum - expectedSum) <= 1e-9 * expectedSum;
    if (rows !== ROWS || !isRight)
      throw new Error(`wrong: ${rows} rows, sum ${sum}, expected ${ROWS} and ${expectedSum}`);
  }
  return runs.sort((a, b) => a.seconds - b.seconds)[REPEATS >> 1];
}

/** Writes the table and returns the sum of lab0. */
async function writeTable(path: string): Promise<number> {
  let state = 12345;
  const random = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0; // Numerical Recipes' generator: the same table every time
    return state / 2 ** 32;
  };
  const pick = <T>(values: readonly T[]) => values[Math.floor(random() * values.length)];
  const out = createWriteStream(path);
  const labs = Array.from({ length: 11 }, (_, k) => `lab${k}`);
  out.write(`id,age,sex,stage,site,time,status,start,smoker,${labs.join(",")}\n`);
  let sum = 0;
  for (let row = 0; row < ROWS; ) {
    const lines: string[] = [];
    for (const end = Math.min(row + 1000, ROWS); row < end; row++) {
      const cells = [
        `P${String(row).padStart(7, "0")}`,
        (20 + random() * 70).toFixed(1),
        pick(["F", "M"]),
        pick(["I", "II", "III", "IV"]),
        pick(["General Hospital", '"Clinic, East"', "Harbour", "Hillside Medical Centre"]),
        String(Math.floor(random() * 5000)),
        pick(["0", "0", "0", "1"]),
        new Date(1e12 + Math.floor(random() * 5000) * 864e5).toISOString().slice(0, 10),
        pick(["TRUE", "FALSE", "FALSE", "NA"]),
      ];
      for (let k = 0; k < labs.length; k++) {
        const missing = random();
        let text = "";
        if (missing < 0.03) text = "";
        else if (missing < 0.05) text = "NA";
        else if (k < 8) text = (random() * 100).toFixed((k % 4) + 2);
        else if (k === 8) text = (random() * 1e-5).toExponential(6);
        else text = k === 9 ? String(random()) : String(Math.floor(random() * 1e6));
        if (k === 0 && missing >= 0.05) sum += Number(text);
        cells.push(text);
      }
      lines.push(cells.join(","));
    }
    if (!out.write(`${lines.join("\n")}\n`))
      await new Promise<void>((resolve) => out.once("drain", () => resolve()));
  }
  await new Promise<void>((resolve) => out.end(() => resolve()));
  return sum;
}

async function timeReader(name: string, script: string): Promise<Timing> {
  const folder = mkdtempSync(join(tmpdir(), "graduate-bench-"));
  const path = join(folder, "million.csv");
  try {
    const expectedSum = await writeTable(path);
    const reading = measure(script, path, expectedSum);
    const counting = measure(COUNT_LINES, path, undefined);
    return {
      name,
      seconds: reading.seconds,
      baseline: { name: "line count", seconds: counting.seconds },
      extra: {
        rowsPerSecond: Math.round(ROWS / reading.seconds),
        cpuSeconds: Number(reading.cpuSeconds.toFixed(2)),
        peakMegabytes: Math.round(reading.peakMegabytes),
        fileMegabytes: Math.round(statSync(path).size / 1e6),
        lineCountCpuSeconds: Number(counting.cpuSeconds.toFixed(2)),
      },
    };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

export const benches: { name: string; run(): Promise<Timing> }[] = [
  { name: "read-csv 1e6 × 20", run: () => timeReader("read-csv 1e6 × 20", READ) },
  {
    name: "read-csv and encode 1e6 × 20",
    run: () => timeReader("read-csv and encode 1e6 × 20", READ_AND_ENCODE),
  },
  { name: "read-csv with papaparse", run: () => timeReader("read-csv with papaparse", PAPAPARSE) },
  { name: "read-csv with csv-parse", run: () => timeReader("read-csv with csv-parse", CSV_PARSE) },
];
