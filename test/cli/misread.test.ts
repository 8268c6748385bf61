// One door for outcomes: every command that reads one refuses what has two meanings, naming both, and passes on what was
// decided, in words and in its JSON document. Every reproducer of what 0.2.0 read without a word is here.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createRandom } from "../../src/core/random.ts";
import { checkJson } from "../json-schemas.ts";
import { runCli } from "./run-cli.ts";

const folder = mkdtempSync(join(tmpdir(), "graduate-misread-"));
afterAll(() => rmSync(folder, { recursive: true }));
const run = (...args: readonly string[]) => runCli(args, "", folder);

const N = 300;
const grouped = (days: number) => (days < 1000 ? String(days) : String(days).replace(/(\d{3})$/, ".$1"));
const comma = (value: number) => value.toFixed(1).replace(".", ",");

/** A table with this cell in each row, beside two measurements, and curves that fall evenly. */
function write(
  name: string,
  header: string,
  cells: (row: number, random: ReturnType<typeof createRandom>) => readonly string[],
  separator = ",",
): void {
  const random = createRandom(12);
  const mark = (value: number) => (separator === ";" ? comma(value) : value.toFixed(1));
  const rows = Array.from({ length: N }, (_, row) => [
    ...cells(row, random),
    mark(40 + 30 * random.uniform()),
    mark(2 + 3 * random.uniform()),
    ...[9, 7, 5, 4].map((tenth) => mark(tenth / 10)),
  ]);
  const names = [...header.split(","), "age", "lab", "S1", "S2", "S3", "S4"];
  const lines = [names, ...rows].map((fields) => fields.join(separator));
  writeFileSync(join(folder, name), `${lines.join("\n")}\n`);
}

const days = (random: ReturnType<typeof createRandom>) => 20 + random.integer(2400);
const slash = (random: ReturnType<typeof createRandom>, year: number) =>
  `${1 + random.integer(12)}/${1 + random.integer(12)}/${year}`;

/** Every command that takes an outcome of a table, and what is added to it. */
const ON_TABLES: Readonly<Record<string, readonly string[]>> = {
  describe: [],
  km: [],
  cox: ["--features", "age,lab"],
  train: ["--features", "age,lab", "--method", "cox", "--draws", "0"],
  compare: ["--features", "age,lab", "--methods", "cox,start", "--replicates", "100", "--bins", "8"],
  tune: ["--features", "age,lab", "--sweep", "method=cox", "--workers", "1", "--results", "runs.jsonl"],
};
const ON_CURVES = ["audit", "boost", "discover"] as const;

const withOutcome = (command: string, table: string, outcome: readonly string[]) =>
  run(command, table, ...outcome, ...ON_TABLES[command]);

beforeAll(() => {
  write("decided.csv", "time,event", (_, random) => [grouped(days(random)), String(random.integer(2))], ";");
  write("doubtful.csv", "time,event", (_, random) => [grouped(days(random)), String(random.integer(2))]);
  write("slashes.csv", "from,time,event", (_, random) => [
    slash(random, 2010),
    slash(random, 2015),
    String(random.integer(2)),
  ]);
  write("alive.csv", "time,alive", (_, random) => [String(days(random)), String(random.integer(2))]);
  write("code.csv", "time,event", (row, random) => [
    row === 7 ? "9999" : String(days(random)),
    String(row % 2),
  ]);
  write("far.csv", "time,event", (row, random) => [
    row === 7 ? "1e9" : String(days(random)),
    String(row % 2),
  ]);
  write("numbered.csv", "time,event", (row) => [
    String(20010101 + 100 * (row % 12) + (row % 28)),
    String(row % 2),
  ]);
  write("hex.csv", "time,event", (row, random) => [
    row === 7 ? "0x10" : String(days(random)),
    String(row % 2),
  ]);
});

const OUTCOME = ["--time", "time", "--event", "event"];
const HORIZON = ["--horizon", "3000"];

describe("an outcome with two meanings is refused by every command, with what to say", () => {
  const faults: readonly (readonly [string, readonly string[], string, string])[] = [
    [
      "doubtful.csv",
      OUTCOME,
      "numbers of time may be decimals or thousands",
      "--decimal point or --thousands point",
    ],
    ["slashes.csv", [...OUTCOME, "--origin", "from"], "could be day/month or month/day", "--date-order"],
    [
      "alive.csv",
      ["--time", "time", "--event", "alive"],
      "alive sounds like people without the event",
      "--event-is 0",
    ],
    ["code.csv", OUTCOME, 'time has a time that looks like a code for "missing"', "--as-written time"],
    ["far.csv", OUTCOME, "time has a time far beyond all others", "--as-written time"],
    ["numbered.csv", OUTCOME, "times of time are dates written as numbers", "--origin"],
  ];
  const plain = (text: string) => text.replaceAll(/\s+/g, " ");

  test.each(faults)("%s", (table, outcome, message, hint) => {
    for (const command of Object.keys(ON_TABLES)) {
      const { code, stdout, stderr } = withOutcome(command, table, outcome);
      const said = plain(command === "describe" ? stdout : stderr);
      expect(said, command).toContain(message);
      if (command === "describe") expect([code, said.includes("error")]).toEqual([0, true]);
      else expect([code, said.includes(hint)], `${command}: ${said}`).toEqual([1, true]);
    }
    for (const command of ON_CURVES) {
      const { code, stderr } = run(command, "--curves", table, ...outcome, ...HORIZON);
      expect([code, plain(stderr).includes(message)], command).toEqual([1, true]);
    }
  });

  test("cif, of causes", () => {
    const ofCauses = ["--event", "event", "--causes", "1", "--censored", "0"];
    const { code, stderr } = run("cif", "doubtful.csv", "--time", "time", ...ofCauses);
    expect([code, plain(stderr).includes("--decimal point or --thousands point")]).toEqual([1, true]);
  });

  test("numbers in hexadecimal or binary are texts", () => {
    for (const command of Object.keys(ON_TABLES)) {
      const { code, stderr } = withOutcome(command, "hex.csv", OUTCOME);
      expect([code, stderr.includes('text in a number column: "time" has "0x10"')], command).toEqual([
        1,
        true,
      ]);
    }
    writeFileSync(join(folder, "few.csv"), "time,event\n10,1\n0b11,0\n12,1\n");
    for (const command of ["km", "cox", "train"]) {
      const { code, stderr } = run(command, "few.csv", ...OUTCOME);
      expect([code, stderr.includes("times must be numbers: 1 row of time is not")]).toEqual([1, true]);
    }
  });

  test("both readings are named, and where", () => {
    const { stderr } = run("km", "doubtful.csv", ...OUTCOME);
    expect(plain(stderr)).toMatch(
      /"(\d\.\d{3})" is \1 or \d{4} \(the column also has \d{3}, and no other number tells\) in doubtful\.csv, row \d+, column "time" say --decimal point or --thousands point/,
    );
  });

  test("what is said is believed", () => {
    const ends = (table: string, ...more: readonly string[]) => {
      const { code, stdout, stderr } = run("km", table, ...OUTCOME, ...more, "--json");
      expect([code, stderr]).toEqual([0, ""]);
      return JSON.parse(stdout).groups[0].time.at(-1);
    };
    expect(ends("doubtful.csv", "--decimal", "point")).toBeLessThan(1000);
    expect(ends("doubtful.csv", "--thousands", "point")).toBeGreaterThan(2000);
    expect(ends("code.csv", "--as-written", "time")).toBe(9999);
    const dated = (order: string) => ends("slashes.csv", "--origin", "from", "--date-order", order);
    expect(dated("day-first")).not.toBe(dated("month-first"));
    const alive = run("km", "alive.csv", "--time", "time", "--event", "alive", "--event-is", "0", "--json");
    expect([alive.code, alive.stderr]).toEqual([0, ""]);
  });
});

describe("what the table decided is passed on by every command", () => {
  const SAID =
    /time is read with a point between thousands: "\d\.\d{3}" is \d{4}, since the\s+table writes decimals with a\s+comma/;
  const code = "number.marks";

  function expectTold(command: string, args: readonly string[]): void {
    const { code: exit, stdout, stderr } = run(command, ...args, "--json");
    expect(exit, stderr).toBe(0);
    const document = JSON.parse(stdout);
    expect(
      document.findings.map((one: { code: string }) => one.code),
      command,
    ).toContain(code);
    expect(checkJson(command, document), command).toEqual([]);
    const text = run(command, ...args);
    const said = `${text.stdout}${text.stderr}`.replaceAll(/\n +/g, " ");
    expect(said, command).toMatch(SAID);
  }

  test.each(Object.keys(ON_TABLES))("%s", (command) => {
    expectTold(command, ["decided.csv", ...OUTCOME, ...ON_TABLES[command]]);
  });

  test("cif", () => {
    expectTold("cif", ["decided.csv", ...OUTCOME, "--causes", "1", "--censored", "0"]);
  });

  test.each(ON_CURVES)("%s --curves", (command) => {
    const few = command === "audit" ? ["--draws", "0"] : [];
    expectTold(command, ["--curves", "decided.csv", ...OUTCOME, ...HORIZON, ...few]);
  });

  test("of a model: audit, discover, boost, predict --calibrate, explain --card", () => {
    const train = ["train", "decided.csv", ...OUTCOME, ...ON_TABLES.train, "--out", "decided.model"];
    expect(run(...train).code).toBe(0);
    for (const command of ["audit", "discover", "boost"]) {
      const few = command === "audit" ? ["--draws", "0"] : [];
      expectTold(command, ["decided.model", "decided.csv", ...few]);
    }
    const bound = ["--lower-bound", "0.9", "--calibrate", "decided.csv", "--no-curves", "--at", "100"];
    expect(run("predict", "decided.model", "decided.csv", ...bound).stderr.replaceAll(/\n +/g, " ")).toMatch(
      SAID,
    );
    const card = run("explain", "decided.model", "decided.csv", "--row", "3", "--card", "card.html");
    expect(card.stderr.replaceAll(/\n +/g, " ")).toMatch(SAID);
  });

  test("a model refuses rows whose features have two meanings", () => {
    expect(run("train", "decided.csv", ...OUTCOME, ...ON_TABLES.train, "--out", "other.model").code).toBe(0);
    const rows = ["age,lab", ...Array.from({ length: 9 }, (_, k) => (k % 2 ? `917,${k}` : `1.02${k},${k}`))];
    writeFileSync(join(folder, "new.csv"), `${rows.join("\n")}\n`);
    const refused = run("predict", "other.model", "new.csv");
    expect([refused.code, refused.stdout]).toEqual([1, ""]);
    expect(refused.stderr).toContain('new.csv, row 1, column "age"');
    expect(refused.stderr).toContain("say --decimal point or --thousands point");
    expect(run("predict", "other.model", "new.csv", "--thousands", "point").code).toBe(0);
  });
});

describe("ids", () => {
  test("that are one number are two people, which is said", () => {
    const stays = ["007,0,3,0", "007,3,7,1", "7,0,5,0", "1E2,0,4,1", "10E1,0,6,0"];
    writeFileSync(join(folder, "ids.csv"), `pid,start,stop,event\n${stays.join("\n")}\n`);
    const args = ["km", "ids.csv", "--start", "start", "--stop", "stop", "--event", "event", "--id", "pid"];
    const { code, stdout, stderr } = run(...args, "--json");
    expect(code, stderr).toBe(0);
    expect(JSON.parse(stdout).observed.id).toEqual({ column: "pid", people: 4 });
    expect(stderr).toContain("ids of pid differ only in how a number is written");
  });
});

describe("features", () => {
  test("with codes for missing, and levels that are one text, are warned of", () => {
    write("coded.csv", "time,event,bmi,site", (row, random) => [
      String(days(random)),
      String(row % 2),
      row % 9 === 0 ? "-999" : String(20 + random.integer(20)),
      random.integer(2) === 0 ? "caf\u00e9" : "cafe\u0301",
    ]);
    for (const command of ["describe", "train"]) {
      const more = command === "train" ? ["--method", "cox", "--draws", "0", "--drop", "S1,S2,S3,S4"] : [];
      const { stdout, stderr } = run(command, "coded.csv", ...OUTCOME, ...more);
      const said = `${stdout}${stderr}`.replaceAll(/\s+/g, " ");
      expect(said).toContain("bmi is -999 in 34 rows, while all others are from 20 to 39");
      expect(said).toContain("two levels of site differ only in how an accented letter is composed");
    }
    const km = run("km", "coded.csv", ...OUTCOME, "--by", "site");
    expect(km.stderr).toContain("two levels of site differ only");
  });
});
