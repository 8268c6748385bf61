// What `--help` shows, at any width; and what is said of a command that is called wrongly.
import type { Command } from "commander";
import { describe, expect, test } from "vitest";
import { addTargets } from "../../paper/src/commands/reproduce.ts";
import { createProgram } from "../../src/node/cli.ts";
import { basicOptions, headingOf, MAX_BASIC, optionName } from "../../src/node/options/command-help.ts";
import { everyCommand } from "../../src/node/options/usage-errors.ts";
import { runCli } from "./run-cli.ts";

const checkout = { loadTargets: async () => addTargets };
const program = await createProgram(undefined, checkout);
/** Listed with the others, it has no targets yet. */
for (const one of program.commands) if (one.name() === "reproduce") addTargets(one);

/** "train", "reproduce nwtco" → its command, with the first word. */
const commands: readonly { readonly path: string; readonly first: string; readonly command: Command }[] =
  program.commands.flatMap((first) =>
    everyCommand(first).map((command) => ({
      path: command === first ? first.name() : `${first.name()} ${command.name()}`,
      first: first.name(),
      command,
    })),
  );

/** The page of a command at a width. */
async function helpOf(path: string, all: boolean, width: number): Promise<string> {
  const [first, second] = path.split(" ");
  const made = await createProgram(first, { all, ...checkout });
  const own = made.commands[0];
  const command = second === undefined ? own : own.commands.find((one) => one.name() === second);
  return command?.configureOutput({ getOutHelpWidth: () => width }).helpInformation() ?? "";
}

describe("the table of options", () => {
  test.each(commands)("every option of $path stands under a heading", ({ first, command }) => {
    const lost = command.options
      .filter(({ hidden }) => !hidden)
      .map(optionName)
      .filter((name) => headingOf(first, name) === "Other");
    expect(lost, "add them to src/node/options/command-help.ts").toEqual([]);
  });

  test.each(commands)(
    "$path shows ten options at most, then how to see the others",
    async ({ path, command }) => {
      const all = command.options.filter(({ hidden }) => !hidden).length;
      const page = await helpOf(path, false, 80);
      const shown = [...page.matchAll(/^ {2}--/gm)].length;
      expect(shown).toBeLessThanOrEqual(MAX_BASIC);
      expect(page.includes("--help all shows")).toBe(shown < all);
      if (shown < all) expect(page).toContain(`\n--help all shows ${all - shown} more.\n`);
    },
  );

  test("no command is given more than ten in the table", () => {
    for (const { first } of commands) expect(basicOptions(first)?.length ?? 0).toBeLessThanOrEqual(MAX_BASIC);
  });

  test.each(commands)("--help all of $path shows every option once", async ({ path, command }) => {
    const page = await helpOf(path, true, 80);
    const flags = [...page.matchAll(/^ {2}(--\S+)/gm)].map(([, flag]) => flag);
    const own = command.options.filter(({ hidden }) => !hidden).map(({ long }) => long);
    expect([...flags].sort()).toEqual([...own].sort());
  });
});

describe("help fits the terminal", () => {
  test.each([40, 60, 80])("no line is wider than %i columns", async (width) => {
    for (const { path } of commands) {
      const page = await helpOf(path, true, width);
      const wide = page.split("\n").filter((line) => [...line].length > width);
      // one word alone on its line cannot be made narrower
      expect(wide.filter((line) => line.trim().includes(" ") && !/^ {2}--\S+ <[^>]+>$/.test(line))).toEqual(
        [],
      );
    }
  });

  test("on 40 columns a description stands below its option", async () => {
    expect(await helpOf("train", false, 40)).toContain(
      "  --time <column>\n      time to the event or to censoring\n      (required)\n",
    );
  });
});

describe("ways to ask for help", () => {
  const all = runCli(["train", "--help", "all"]).stdout;
  test.each([[["train", "--help=all"]], [["train", "-h", "all"]], [["help", "train", "all"]]])(
    "%j",
    (args) => {
      expect(runCli(args)).toEqual({ code: 0, stdout: all, stderr: "" });
    },
  );
  test("in named groups", () => {
    const headings = [...all.matchAll(/^(\w+):$/gm)].map(([, heading]) => heading);
    expect(headings).toEqual(["Arguments", "Data", "Groups", "Model", "Training", "Scores", "Output"]);
  });
});

describe("called wrongly", () => {
  test.each([
    ["train x.csv --evnt rel", "unknown option '--evnt', did you mean '--event'?", "train"],
    ["train x.csv --evnt=rel", "unknown option '--evnt=rel', did you mean '--event'?", "train"],
    ["train x.csv -event rel", "unknown option '-event', did you mean '--event'?", "train"],
    ["train x.csv --determin", "unknown option '--determin', did you mean '--deterministic'?", "train"],
    ["train x.csv --colour red", "unknown option '--colour'", "train"],
    ["export x.model --onxn y", "unknown option '--onxn', did you mean '--onnx'?", "export"],
    ["train x.csv", "missing options: --time <column> and --event <column>", "train"],
    ["train x.csv --time t", "missing option: --event <column>", "train"],
    ["train", "missing argument: <table>", "train"],
    ["km x.csv --time", "missing value: --time <column>", "km"],
    ["km x.csv y", 'unexpected argument: "y" (km takes <table>)', "km"],
    [
      "km x.csv y.csv",
      "unexpected argument: \"y.csv\" (km takes <table>; several files: a folder or 'pattern')",
      "km",
    ],
    ["trian x.csv", "unknown command 'trian', did you mean 'train'?", ""],
    ["dicsover", "unknown command 'dicsover', did you mean 'discover'?", ""],
    ["reproduce nwtcoo", "unknown command 'nwtcoo', did you mean 'nwtco'?", "reproduce"],
    ["km x.csv --\x1b[31mred", "unknown option '--\\u001b[31mred'", "km"],
  ])("graduate %s", (args, message, command) => {
    const see = ["graduate", command, "--help"].filter((word) => word !== "").join(" ");
    expect(runCli(args.split(" "))).toEqual({
      code: 1,
      stdout: "",
      stderr: `graduate: ${message}\n  see \`${see}\`\n`,
    });
  });
});

describe("a name that promises another kind of file", () => {
  const outcome = ["--time", "t", "--event", "e"];
  test.each([
    [["boost", "m.model", "t.csv", "--out", "x.model"], "curves are written as CSV or Parquet", "a model"],
    [["boost", "m.model", "t.csv", "--save", "x.csv"], "the repair is written as JSON", "a CSV file"],
    [["predict", "m.model", "t.csv", "--out", "x.model"], "curves are written as CSV or Parquet", "a model"],
    [
      ["predict", "m.model", "t.csv", "--out", "x.csv.gz"],
      "curves are written as CSV or Parquet",
      "a compressed file",
    ],
    [["export", "m.model", "--onnx", "x.model"], "an ONNX file is written", "a model"],
    [["audit", "m.model", "t.csv", "--report", "x.PDF"], "the report is written as HTML", "a PDF file"],
    [["train", "t.csv", ...outcome, "--out", "x.html"], "a model is written", "a page"],
    [["train", "t.csv", ...outcome, "--checkpoint", "x.model"], "a checkpoint is written", "a model"],
    [["tune", "t.csv", ...outcome, "--plot", "x.png"], "the plot is written as SVG", "a PNG file"],
    [
      ["tune", "t.csv", ...outcome, "--results", "x.csv"],
      "the runs are written as lines of JSON",
      "a CSV file",
    ],
    [["km", "t.csv", ...outcome, "--svg", "x.html"], "the plot is written as SVG", "a page"],
  ])("graduate %j", (args, written, promised) => {
    const { code, stderr } = runCli(args);
    expect(code).toBe(1);
    expect(stderr.replace(/\s+/g, " ")).toContain(
      `graduate: ${written}, but the name is that of ${promised}: "x.`,
    );
    expect(stderr).toMatch(/\n {2}name a file that ends in \.\w+/);
  });
});

test("train and tune take --strata for --risk-strata, and say so", () => {
  const outcome = ["nowhere.csv", "--time", "t", "--event", "e"];
  const note = /^graduate: (--)?strata is now (--)?risk-strata; the old name still works here\n/;
  expect(runCli(["train", ...outcome, "--strata", "3"]).stderr).toMatch(note);
  expect(runCli(["tune", ...outcome, "--strata", "3"]).stderr).toMatch(note);
  expect(runCli(["tune", ...outcome, "--sweep", "strata=1,3"]).stderr).toMatch(note);
  expect(runCli(["tune", ...outcome, "--sweep", "risk-strata=1,3"]).stderr).not.toMatch(/old name/);
});
