// Every command that reads a table or a model, and every option that says what an outcome is: taken, or refused by
// name with what to do instead.
import { describe, expect, test } from "vitest";
import { createProgram } from "../../src/node/cli.ts";
import { OUTCOME_FLAGS, refuseOutcomeFlag } from "../../src/node/options/outcome-refusals.ts";
import { valuesOption } from "../../src/node/options/table-options.ts";
import { runCli } from "./run-cli.ts";

/** The commands that read a table, a model, or both. */
const COMMANDS = [
  ...["describe", "km", "cif", "cox", "train", "compare", "tune"],
  ...["audit", "discover", "boost", "predict", "explain", "summary", "export"],
];
/** What takes an outcome from a table's columns takes all of it, but for what is named here. */
const REFUSED: Readonly<Record<string, readonly string[]>> = {
  describe: [],
  km: ["--causes", "--censored"],
  cif: [],
  cox: ["--causes"],
  train: [],
  compare: [],
  tune: [],
  audit: [],
  discover: [],
  boost: [],
  predict: OUTCOME_FLAGS.filter((flag) => flag !== "--id"),
  explain: OUTCOME_FLAGS.filter((flag) => flag !== "--id"),
  summary: OUTCOME_FLAGS,
  export: OUTCOME_FLAGS,
};

describe("outcomes on every command", async () => {
  const program = await createProgram(undefined);
  test.each(COMMANDS)("%s takes each, or refuses it by name", (name) => {
    const command = program.commands.find((one) => one.name() === name);
    const taken = OUTCOME_FLAGS.filter((flag) => command?.options.some(({ long }) => long === flag));
    const refused = OUTCOME_FLAGS.filter((flag) => refuseOutcomeFlag(name, flag) !== undefined);
    expect(refused).toEqual(REFUSED[name]);
    expect([...taken, ...refused].sort()).toEqual([...OUTCOME_FLAGS].sort());
  });
});

const mgus = ["test/tables/mgus2.csv", "--time", "months", "--event", "event"];
test.each([
  [
    ["cox", ...mgus, "--cause", "pcm", "--fine-gray", "--start", "ageMonths", "--id", "id"],
    "--fine-gray does not take --start",
  ],
  [["km", ...mgus, "--causes", "pcm,death"], "km does not take --causes: `graduate cif` takes it"],
  [["cox", ...mgus, "--causes=pcm,death"], "cox does not take --causes: --cause VALUE models one cause"],
  [
    ["boost", "a.model", mgus[0], "--entry", "age"],
    "--entry is given with a model, which knows its own entries",
  ],
  [
    ["discover", "a.model", mgus[0], "--causes", "pcm"],
    "--causes is given with a model, which knows its own causes",
  ],
  [["discover", mgus[0], "--curves", "x.csv", "--stop", "months"], "--stop is given without --start"],
  [["boost", mgus[0], "--curves", "x.csv", "--censored", "alive"], "--censored is given, and no cause"],
  [
    ["explain", "a.model", "b.csv", "--weights", "weight"],
    "explain does not take --weights: the model has its own",
  ],
  [["km", ...mgus, "--cause", "pcm"], "km does not take --cause: --event-is VALUE names the one event"],
  [["cif", ...mgus, "--cause=pcm"], "cif does not take --cause: --causes names every value"],
  [
    ["predict", "a.model", "b.csv", "--cause", "pcm"],
    "predict does not take --cause: risks and curves of every",
  ],
  [["km", ...mgus.slice(0, 1), "--event", "event", "--start", "months"], "missing option: --stop <column>"],
  [
    ["train", ...mgus, "--causes", "pcm,death", "--features", "sex", "--id", "id", "--rows-are-independent"],
    "both --id and --rows-are-independent are given",
  ],
  [["describe", ...mgus, "--censored", "censored"], "--censored is given, and no cause"],
  [["train", ...mgus, "--censored", "censored"], "--censored is given, and no cause"],
])("%j says what to do instead", (args, said) => {
  const { code, stdout, stderr } = runCli(args);
  expect([code, stdout]).toEqual([1, ""]);
  expect(stderr.replaceAll(/\s+/g, " ")).toContain(said);
});

test.each([
  ["pcm,death=dead", ["pcm", "death=dead"]],
  ['"died, of it"=died, lost', ["died, of it=died", "lost"]],
  ['"a, b","c"', ["a, b", "c"]],
  [' , "a,b" ,', ["a,b"]],
  // A quotation mark without another is a part of the value.
  ['5" pipe,leak', ['5" pipe', "leak"]],
  ["", []],
])("causes %s", (text, values) => {
  expect(valuesOption(text)).toEqual(values);
  expect(valuesOption(text, ["before"])).toEqual(["before", ...values]);
});
