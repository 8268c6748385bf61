// What holding a group that the model may not see costs, and what became of a curve from outside: in the terminal, in
// the document and on the page. The table is made here: `site` gives `origin` away, and people of origin b die sooner.
import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, test } from "vitest";
import { createRandom } from "../../src/core/random.ts";
import type { SolveReport } from "../../src/training/solve/hold.ts";
import { checkJson } from "../json-schemas.ts";
import { runCli, runJson, writeScratch } from "./run-cli.ts";

const quick = ["--network", "linear", "--steps", "10", "--draws", "0", "--threads", "1", "--seed", "1"];
const held = ["--group", "origin = b", "--group", "age > 60", "--protected", "origin"];

/** Rows of the table; `agreement`: how often the site is that of the person's origin. */
function makeTable(name: string, agreement: number): string {
  const random = createRandom(7);
  const lines = Array.from({ length: 900 }, () => {
    const origin = random.uniform() < 0.35 ? "b" : "a";
    const site = random.uniform() < agreement ? origin : random.uniform() < 0.5 ? "a" : "b";
    const age = 40 + Math.round(40 * random.uniform());
    const rate = 0.1 * Math.exp(0.03 * (age - 60)) * (origin === "b" ? 2.5 : 1);
    const died = -Math.log(1 - random.uniform()) / rate;
    const left = 15 * random.uniform();
    return [Math.min(died, left).toFixed(3), Number(died <= left), age, `site ${site}`, origin].join(",");
  });
  return writeScratch(name, `time,event,age,site,origin\n${lines.join("\n")}\n`);
}

function train(table: string, args: readonly string[]): SolveReport {
  const common = ["train", table, "--time", "time", "--event", "event", ...quick];
  const document = runJson<{ readonly solve: SolveReport }>([...common, ...args]);
  expect(checkJson("train", document)).toEqual([]);
  return document.solve;
}

describe("a group that the features give away", () => {
  let table: string;
  let solve: SolveReport;

  beforeAll(() => {
    table = makeTable("told-apart.csv", 0.85);
    solve = train(table, held);
  });

  test("has a frontier with what everyone pays, and the feature that tells", () => {
    const [{ group, auc, features, frontier, budget }] = solve.blind;
    expect(group).toBe("origin = b");
    expect(auc).toBeGreaterThan(0.75);
    expect(features[0].name).toMatch(/^site/);
    expect(frontier.length).toBeGreaterThan(1);
    frontier.forEach(({ share, distance, others, lost, concordance, ibs }, k) => {
      if (k > 0)
        expect([share < frontier[k - 1].share, distance < frontier[k - 1].distance]).toEqual([true, true]);
      expect(lost).toBeLessThanOrEqual(budget ?? 0);
      expect(others).toBeGreaterThanOrEqual(0);
      expect(concordance).toBeGreaterThan(0.5);
      expect(ibs).toBeGreaterThan(0);
      expect(ibs).toBeLessThan(0.3);
    });
  });

  test("an ensemble, which has no validation rows, is priced on its training rows", () => {
    const [{ frontier }] = train(table, [...held, "--ensemble", "2"]).blind;
    expect(frontier.every(({ concordance, ibs }) => concordance !== null && ibs !== null)).toBe(true);
  });

  test("is a line in the terminal and a section of the page, with the same numbers", () => {
    const page = writeScratch("price.html", "");
    const targets = writeScratch("targets.csv", "group,time,survival,se\nall,3,0.7,0.05\nall,8,0.4,0.06\n");
    const { code, stdout } = runCli([
      ...["train", table, "--time", "time", "--event", "event", ...quick, ...held],
      ...["--targets", targets, "--allow-clash", "all", "--report", page, "--replicates", "5"],
    ]);
    expect(code).toBe(0);
    const said = stdout.replace(/\s+/g, " ");
    const number = String.raw`(-?[\d.]+)`;
    const line = `distance ${number} → ${number}, gap of its mean curve ${number} → ${number}, ${number} nats`;
    const [, auc, before, after, gapBefore, gapAfter, lost] =
      said.match(`origin = b: not told, its features tell with AUC ${number}; ${line}`) ?? [];
    expect(Number(gapAfter)).toBeLessThan(Number(gapBefore));
    expect(Number(auc)).toBeGreaterThan(0.75);
    expect(Number(after)).toBeLessThan(Number(before));
    expect(Number(lost)).not.toBeNaN();
    expect(said).toMatch(
      / all: target 0\.400 ± 0\.118 at 8, local 0\.\d{3}, model 0\.\d{3}; \d+ events, [\d.]+ expected, p /,
    );
    const html = readFileSync(page, "utf8");
    expect(html).toContain('<h2 id="price">The price of holding</h2>');
    expect(html).toContain(`with an area under the curve of ${auc} (0.5 is chance)`);
    expect(html).toContain('<h2 id="targets">Held to outside curves</h2>');
  });
});

test("a group that the features do not tell is left alone, in the terminal and on the page", () => {
  const table = makeTable("hidden.csv", 0);
  const page = writeScratch("hidden.html", "");
  const { code, stdout } = runCli([
    ...["train", table, "--time", "time", "--event", "event", ...quick, ...held, "--report", page],
    ...["--replicates", "5"],
  ]);
  expect(code).toBe(0);
  expect(stdout.replace(/\s+/g, " ")).toMatch(
    /origin = b: not told, its features tell with AUC 0\.[45]\d; left as it is/,
  );
  expect(readFileSync(page, "utf8")).toContain("That is too little to go by");
});
