// `graduate boost`, `discover` and `audit --curves` with causes, late entry, start–stop rows and weights: what a repair
// wrote is audited by the command it prints, and a repair that was kept gives the same curves on other rows.
import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, test } from "vitest";
import { root, runCli, runJson, writeScratch } from "./run-cli.ts";

const [header, ...lines] = readFileSync(`${root}test/tables/mgus2.csv`, "utf8").trimEnd().split("\n");
const monthsOf = (line: string) => Number(line.split(",")[header.split(",").indexOf("months")]);
const part = (name: string, rest: number) =>
  writeScratch(name, `${[header, ...lines.filter((_, row) => row % 3 !== rest)].join("\n")}\n`);
/** Rows that train and are repaired, and others that share two thirds of their lines but are another file. */
const here = part("here.csv", 0);
const others = part("others.csv", 1);
const causes = ["--event", "event", "--causes", "pcm,death", "--censored", "censored"];
const timed = ["--time", "months", ...causes];
const small = ["--bins", "8", "--network", "linear", "--steps", "1", "--threads", "1"];
const model = writeScratch("causes.model", "");
const saved = writeScratch("causes.json", "");
const scratch = (name: string) => writeScratch(name, "");

type Change = Readonly<Record<"before" | "after", number | null>>;
interface CauseDocument {
  readonly boost: { readonly kind: string };
  readonly verdict: {
    readonly causes: readonly {
      readonly name: string;
      readonly ibs: Change;
      readonly groups: readonly { readonly name: string; readonly distance: Change }[];
    }[];
  };
}
interface AuditDocument {
  readonly causes: readonly {
    readonly overall: { readonly ibs: number };
    readonly groups: readonly { readonly name: string; readonly distanceL2: number }[];
  }[];
}

beforeAll(() => {
  const asked = [...timed, "--drop", "id,ageMonths,exitMonths,weight,sex", "--split", "0.3,0.35,0.35"];
  expect(runCli(["train", here, ...asked, ...small, "--method", "nll", "--out", model]).code).toBe(0);
});

describe("a model of two causes", () => {
  test("is repaired, and the repair is carried out on other rows as their audit sees it", () => {
    const pair = ["pcm", "death"].map((name) => `${name}=${scratch(`${name}.csv`)}`).join(",");
    const { stdout: text } = runCli(["boost", model, here, "--group", "sex = F", "--save", saved]);
    const fitted = JSON.parse(readFileSync(saved, "utf8")) as CauseDocument;
    expect([fitted.boost.kind, fitted.verdict.causes.length]).toEqual(["cause hazards", 2]);
    const applied = ["boost", model, others, "--apply", saved, "--out", pair];
    const { verdict } = runJson<CauseDocument>(applied);
    const judged = ["audit", others, ...timed, "--curves", pair, "--group", "sex = F", "--draws", "0"];
    const audit = runJson<AuditDocument>(judged);
    verdict.causes.forEach(({ ibs, groups }, k) => {
      const { overall, groups: audited } = audit.causes[k];
      expect(ibs.after).toBeCloseTo(overall.ibs, 12);
      const women = groups.find(({ name }) => name === "sex = F");
      expect(women?.distance.after).toBeCloseTo(audited[0].distanceL2, 12);
    });
    expect(text.replaceAll(/\s+/g, " ")).toContain(
      "the Brier score of any cause by 0.5 %, three standard errors",
    );
    expect(text.match(/from Aalen-Johansen/g)).toHaveLength(2);
    const said = text.split("\n").filter((line) => !line.includes(saved));
    for (const line of said) expect([...line].length, line).toBeLessThanOrEqual(100);
  });

  test("the same curves from files, beside their table, are repaired and searched", () => {
    const pair = ["pcm", "death"].map((name) => `${name}=${scratch(`given-${name}.csv`)}`).join(",");
    expect(runCli(["boost", model, others, "--apply", saved, "--out", pair]).code).toBe(0);
    const given = [others, "--curves", pair, ...timed];
    const { verdict } = runJson<CauseDocument>(["boost", ...given, "--group", "sex = F"]);
    expect(verdict.causes.map(({ name }) => name)).toEqual(["pcm", "death"]);
    const { events } = runJson<{ events: Record<string, number> }>(["discover", ...given, "--cause", "pcm"]);
    // Whoever has the event after the last bin is censored in it.
    const names = readFileSync(pair.slice(pair.lastIndexOf("=") + 1), "utf8")
      .split("\n")[0]
      .split(",");
    const horizon = Number(/\((.*)\)/.exec(names.at(-1) ?? "")?.[1]);
    const had = lines.filter((line, row) => row % 3 !== 1 && /,pcm,/.test(line) && monthsOf(line) <= horizon);
    expect(events.search + events.confirm).toBe(had.length);
  });

  test.each([
    [["--method", "mcboost"], "MCBoostSurv is of one kind of event"],
    [["--out", "pcm=a.csv"], 'no curves of a cause: "death"'],
    [["--out", "curves.csv"], "the file does not say of which cause its curves are"],
    [["--weights", "weight"], "--weights is given with a model, which knows its own weights"],
  ])("%j is refused", (more, said) => {
    const { code, stderr } = runCli(["boost", model, here, ...more]);
    expect([code, stderr]).toEqual([1, expect.stringContaining(said)]);
  });

  test("a repair is no model: export and predict say what to do", () => {
    for (const args of [
      ["export", saved, "--onnx", scratch("x.onnx")],
      ["predict", saved, here],
    ]) {
      const { code, stderr } = runCli(args);
      expect([code, stderr]).toEqual([1, expect.stringContaining("a repair that `graduate boost` saved")]);
      expect(stderr.replaceAll(/\s+/g, " ")).toContain(
        "graduate boost MODEL TABLE --apply FILE --out CURVES",
      );
    }
  });
});

interface Judged {
  readonly verdict: {
    readonly distanceOf?: string;
    readonly groups: readonly { readonly name: string; readonly ratio: Change; readonly distance: Change }[];
    readonly concordance: Change;
    readonly ibs: Change;
  };
}

/** A model of one kind of event is repaired, and its curves are judged by the command that the repair prints. */
function repairAndAudit(table: string, asked: readonly string[]) {
  const own = scratch("own.model");
  const out = scratch("repaired.csv");
  const trained = ["train", table, ...asked, "--split", "0.2,0.4,0.4", ...small, "--method", "nll"];
  expect(runCli([...trained, "--out", own]).code).toBe(0);
  const kept = scratch("kept.json");
  const args = ["boost", own, table, "--group", "age >= 0", "--fit", "0.7"];
  const { stdout } = runCli([...args, "--out", out, "--save", kept]);
  const { verdict } = JSON.parse(readFileSync(kept, "utf8")) as Judged;
  const [, command = ""] = /^ {2}npx graduate (audit .*) --group "set = test"$/m.exec(stdout) ?? [];
  const audited = runJson<{
    groups: readonly {
      concordance: number;
      ibs: number | null;
      distanceL2: number | null;
      logrankIndividual: { observed: number; expected: number };
    }[];
  }>([...command.split(" "), "--group", "set = test", "--draws", "0"]);
  return { verdict, command, audited: audited.groups[0], out };
}

describe("one kind of event", () => {
  test("start–stop rows: repaired, written and audited by person", () => {
    const rows = ["--start", "start", "--stop", "stop", "--event", "event", "--id", "id"];
    const { verdict, command, audited, out } = repairAndAudit("test/tables/heart.csv", rows);
    expect(command).toMatch(/--start entry --stop time --event event --id person$/);
    expect(verdict.distanceOf).toBe("events at risk");
    const [all] = verdict.groups;
    const { observed, expected } = audited.logrankIndividual;
    expect(all.ratio.after).toBeCloseTo(observed / expected, 12);
    expect(verdict.concordance.after).toBe(audited.concordance);
    expect([verdict.ibs.after, audited.ibs]).toEqual([null, null]);
    const search = ["--start", "entry", "--stop", "time", "--event", "event", "--id", "person"];
    const found = runJson<{ people: Record<string, number> }>(["discover", "--curves", out, ...search]);
    expect(found.people.search + found.people.confirm).toBe(103);
  });

  test("weights: the verdict is that of the weighted audit", () => {
    const asked = ["--time", "months", "--event", "event", "--event-is", "death", "--weights", "weight"];
    const drop = ["--drop", "id,ageMonths,exitMonths"];
    const { verdict, command, audited } = repairAndAudit("test/tables/mgus2.csv", [...asked, ...drop]);
    expect(command).toMatch(/--time time --event event --weights weight$/);
    expect(verdict.ibs.after).toBeCloseTo(audited.ibs ?? Number.NaN, 12);
    expect(verdict.groups[0].distance.after).toBeCloseTo(audited.distanceL2 ?? Number.NaN, 12);
  });
});

test.each([
  ["boost", "\ndied\n"],
  ["discover", "searched on 60 rows (20 events)"],
])("%s: a value with a comma stands in quotation marks", (command, said) => {
  const rows = Array.from({ length: 120 }, (_, row) => {
    const event = ['"died, of it"', "lost", "none"][row % 3];
    return `${1 + ((row * 7) % 90) / 10},${event},${row % 2 === 0 ? "f" : "m"}`;
  });
  const table = writeScratch("comma.csv", `${["time,event,sex", ...rows].join("\n")}\n`);
  const file = (name: string) =>
    `${name}=${writeScratch(`comma-${name}.csv`, `F(5),F(10)\n${"0.2,0.4\n".repeat(120)}`)}`;
  const asked = ["--causes", '"died, of it"=died,lost', "--censored", "none"];
  const curves = ["--curves", `${file("died")},${file("lost")}`];
  const own = command === "boost" ? ["--group", "sex = f"] : ["--cause", "died"];
  const { code, stdout } = runCli([command, table, ...asked, ...curves, ...own]);
  expect(code).toBe(0);
  expect(stdout).toContain(said);
});
