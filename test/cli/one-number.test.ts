// One name, one number: of one trained model, everything that the terminal, the JSON documents, the report, boost,
// certify and discover say of a group is the same number under the same name.
import { readFileSync } from "node:fs";
import { parseHTML } from "linkedom";
import { beforeAll, describe, expect, test } from "vitest";
import { splitTable } from "../../src/data/outcomes/split.ts";
import { readTableFile } from "../../src/node/options/table-options.ts";
import { formatNumber, formatP } from "../../src/report/words/text-table.ts";
import type { Certificates } from "../../src/stats/certificates/certificates.ts";
import type { AuditedScores, AuditTable } from "../../src/verbs/audit.ts";
import type { BoostVerdict } from "../../src/verbs/boost.ts";
import type { Discovery } from "../../src/verbs/discover/discover.ts";
import { runCli, writeScratch } from "./run-cli.ts";

const TABLE = "datasets/nwtco/nwtco.csv";
const GROUP = "stage >= 3";
const model = writeScratch("one.model", "");
const page = writeScratch("one.html", "");

type Audit = AuditTable & { readonly certificates: Certificates };

function run(args: readonly string[]): string {
  const { code, stdout, stderr } = runCli(args);
  if (code !== 0) throw new Error(stderr);
  return stdout;
}

/** The cells of a row of each printed table that has the group, under its headings. */
function readTables(text: string): Record<string, string>[] {
  const split = (line: string) => line.trim().split(/\s{2,}/);
  return text.split("\n\n").flatMap((part) => {
    const [head, ...lines] = part.split("\n");
    const line = lines.find((one) => one.startsWith(`${GROUP} `));
    if (!/^group\s/.test(head) || line === undefined) return [];
    const cells = split(line);
    return [Object.fromEntries(split(head).map((title, k) => [title, cells[k]]))];
  });
}

let trained: AuditTable;
let audited: Audit;
let one: AuditedScores;
let printed: Record<string, string>[];

beforeAll(() => {
  const asked = ["--replicates", "5", "--draws", "40", "--certify", "0.05"];
  const request = [
    "--time",
    "edrel",
    "--event",
    "rel",
    "--drop",
    "seqno,instit",
    "--method",
    "cox",
    "--draws",
    "40",
  ];
  const json = run(["train", TABLE, ...request, "--group", GROUP, "--out", model, "--json"]);
  trained = (JSON.parse(json) as { test: AuditTable }).test;
  audited = JSON.parse(run(["audit", model, TABLE, ...asked, "--json"])) as Audit;
  [one] = audited.groups;
  printed = readTables(run(["audit", model, TABLE, ...asked, "--report", page, "--small-cells", "show"]));
}, 60_000);

describe("of one group", () => {
  test("train and audit score the same rows alike; supported repeats, paper is over all bins", () => {
    const { intervals: _, ...plain } = one;
    expect(trained.groups[0]).toEqual(plain);
    const { ece, distanceL2, distanceVariance, supported, paper } = one;
    expect(supported).toEqual({ bins: 93, ece, distanceL2, distanceVariance });
    expect([paper.ece, paper.distanceL2, paper.totalScore]).not.toEqual([ece, distanceL2, one.totalScore]);
    expect(one.intervals?.supported.ece).toEqual(one.intervals?.ece);
    expect(one.intervals?.distanceL2Root.estimate).toBeCloseTo(Math.sqrt(distanceL2 ?? 0), 12);
  });

  test("the terminal prints the document's numbers", () => {
    const [scores, verdict, intervals, certificate] = printed;
    expect(scores).toEqual({
      group: GROUP,
      n: String(one.n),
      events: String(one.events),
      C: formatNumber(one.concordance, 3),
      ECE: formatNumber(one.ece),
      floor: formatNumber(one.noiseFloor?.ece),
      p: formatP(one.noiseFloor?.p),
      L2: one.distanceL2?.toExponential(1),
      "max z": formatNumber(one.distanceVariance, 2),
      IBS: formatNumber(one.ibs),
      "indiv. p": formatP(one.logrankIndividual.p),
      bins: `${one.supported.bins}/102`,
    });
    const gap = formatNumber(Math.sqrt(one.distanceL2 ?? 0));
    expect(verdict).toEqual({
      group: GROUP,
      "r.m.s. gap": gap,
      "up to": formatNumber(one.bound),
      p: formatP(one.departure?.p),
      "adj. p": formatP(one.departure?.adjustedP),
      verdict: "no disagreement shown",
    });
    expect(one.agreement).toBe("noDisagreementShown");
    expect(intervals).toMatchObject({
      "ECE below": formatNumber(one.intervals?.ece.upper),
      "r.m.s. gap": gap,
      below: formatNumber(one.intervals?.distanceL2Root.upper),
    });
    expect(certificate).toMatchObject({ bins: "93", "observed gap": gap, tight: formatNumber(one.bound) });
  });

  test("the report has them under their names", () => {
    const { document } = parseHTML(readFileSync(page, "utf8"));
    const cells = [...document.querySelectorAll('tr[data-group="1"] td[data-value]')].map((cell) => [
      cell.getAttribute("data-key"),
      Number(cell.getAttribute("data-value")),
    ]);
    const { observed, expected } = one.logrankIndividual;
    expect(Object.fromEntries(cells)).toEqual({
      n: one.n,
      events: one.events,
      concordance: one.concordance,
      ece: one.ece,
      rootGap: Math.sqrt(one.distanceL2 ?? 0),
      bound: one.bound,
      ratio: (observed ?? 0) / (expected ?? 0),
      "noiseFloor.ece": one.noiseFloor?.ece,
      "noiseFloor.adjustedP": one.noiseFloor?.adjustedP,
      "logrankIndividual.adjustedP": one.logrankIndividual.adjustedP,
      distanceVariance: one.distanceVariance,
      "intervals.ece": one.intervals?.ece.upper,
      "intervals.distanceL2Root": one.intervals?.distanceL2Root.upper,
      ibs: one.ibs,
      certificate: audited.certificates.groups[1].exact,
    });
    const glance = document.querySelector('.glance a[href="#group-1"]')?.closest("tr");
    const points = `${(100 * (one.bound ?? 0)).toFixed(1)} points`;
    expect(glance?.textContent).toContain(`could be off by up to ${points}`);
    expect(glance?.querySelector('[role="img"]')?.getAttribute("aria-label")).toContain(
      `ECE ${formatNumber(one.ece)}. A perfect model shows ${formatNumber(one.noiseFloor?.ece)}`,
    );
    expect(document.querySelector("#group-1")?.textContent).toContain(
      `off by up to ${points} on average over time`,
    );
  });

  test("certificates are over the same bins, and the tight one at 0.05 is the bound", () => {
    const [, certificate] = audited.certificates.groups;
    expect(certificate.bins).toBe(one.supported.bins);
    expect(certificate.distance).toBeCloseTo(Math.sqrt(one.distanceL2 ?? 0), 12);
    expect(certificate.tight).toBe(one.bound);
  });

  test("boost's before is the audit of the same rows", () => {
    const { verdict } = JSON.parse(run(["boost", model, TABLE, "--json"])) as { verdict: BoostVerdict };
    const before = verdict.groups.find(({ name }) => name === GROUP);
    expect(before).toMatchObject({ n: one.n, events: one.events, bins: one.supported.bins });
    expect([before?.distance.before, before?.ece.before]).toEqual([one.distanceL2, one.ece]);
    expect(verdict.ibs.before).toBe(audited.overall.ibs);
    expect(verdict.concordance.before).toBe(audited.overall.concordance);
  });

  test("discover's observed and predicted events are the audit's", async () => {
    const asked = ["--columns", "age", "--cross", "1", "--json"];
    const found = JSON.parse(run(["discover", model, TABLE, ...asked])) as Discovery;
    const { expression, confirm } = found.groups[0];
    // Validation and test rows confirm: a split that calls both of them test.
    const table = await readTableFile(TABLE, {});
    const { rows } = table;
    const { train } = splitTable(table, { time: "edrel", event: "rel" }, { seed: 1 });
    const seen = new Set(train);
    const split = Array.from({ length: rows }, (_, row) => `${row + 1},${seen.has(row) ? "train" : "test"}`);
    const file = writeScratch("confirm.csv", `row,set\n${split.join("\n")}\n`);
    const judged = JSON.parse(
      run([
        "audit",
        model,
        TABLE,
        "--split",
        file,
        "--group",
        `found: ${expression}`,
        "--draws",
        "0",
        "--json",
      ]),
    ) as Audit;
    const group = judged.groups.find(({ name }) => name === "found");
    expect([group?.n, group?.events]).toEqual([confirm.n, confirm.observed]);
    expect(group?.logrankIndividual.expected).toBeCloseTo(confirm.expected, 9);
  });
});
