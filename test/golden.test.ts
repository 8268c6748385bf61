// Every folder of test/golden, run and compared to the last character; UPDATE_GOLDEN=1 makes what comes out what is
// expected.
import { rmSync } from "node:fs";
import { parseHTML } from "linkedom";
import { afterAll, expect, test } from "vitest";
import { SORT_SCRIPT } from "../src/report/page/render-report.ts";
import { runCli } from "./cli/run-cli.ts";
import {
  findCases,
  keepOutcome,
  parseDocument,
  prepareInputs,
  runCase,
  settle,
  showExpected,
  showOutcome,
} from "./golden-case.ts";
import { checkJson } from "./json-schemas.ts";

const COLUMNS = 100;
const cases = findCases();
const inputs = prepareInputs();
afterAll(() => rmSync(inputs, { recursive: true }));

test("every command has its folder, and its help is kept", () => {
  const commands = [...runCli(["--help"]).stdout.matchAll(/^ {2}(\w+) /gm)].map((match) => match[1]);
  expect(commands).toContain("train");
  const names = new Set(cases.map(({ name }) => name));
  expect(commands.filter((command) => !names.has(`${command}/help`))).toEqual([]);
});

test.each(cases)("$name", (one) => {
  const outcome = runCase(one, inputs);
  const { code, stdout, stderr, touched, pages } = outcome;
  const isUpdate = process.env.UPDATE_GOLDEN === "1";
  if (!isUpdate) expect(showOutcome(one, outcome)).toBe(showExpected(one));
  // Whatever is expected, these hold.
  expect(touched, "input is left as it was").toEqual([]);
  expect([0, 1, 2]).toContain(code);
  expect(stderr, "no stack").not.toMatch(/^\s+at .*\.(js|ts):\d+/m);
  if (code === 1) expect([stdout, stderr !== ""]).toEqual(["", true]);
  if (stdout !== "" && one.args.includes("--json"))
    expect(checkJson(one.args[0], parseDocument(stdout)), "its published schema").toEqual([]);
  else if (!one.name.startsWith("predict/")) {
    for (const line of settle(stdout).split("\n"))
      expect([...line].length, line).toBeLessThanOrEqual(COLUMNS);
  }
  for (const page of pages) expectHarmless(page);
  if (isUpdate) keepOutcome(one, outcome);
});

/** A page that runs nothing but the script of a report, if any, and loads nothing, whatever stands in the table. */
function expectHarmless(page: string): void {
  const { document } = parseHTML(page);
  const scripts = [...document.querySelectorAll("script")].map((script) => script.textContent);
  expect([[], [SORT_SCRIPT]]).toContainEqual(scripts);
  const foreign = "img, iframe, object, embed, link, form, [src], [onload], [onerror], [onclick]";
  expect([...document.querySelectorAll(foreign)].map((element) => element.outerHTML)).toEqual([]);
}
