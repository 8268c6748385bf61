// What commands print with --json, held to the published schemas; and the schemas held to asserting something.
import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, test } from "vitest";
import { createRandom } from "../src/core/random.ts";
import { COMPARED_CAUSE_SCORES } from "../src/verbs/comparison/cause-differences.ts";
import { COMPARED_SCORES } from "../src/verbs/comparison/differences.ts";
import { SELECTION_RULES } from "../src/verbs/tuning/selection.ts";
import { SETTING_NAMES } from "../src/verbs/tuning/settings.ts";
import { strangersOf } from "./data/other-rows.ts";
import { runCli, writeScratch } from "./cli/run-cli.ts";
import { type Json, type JsonObject, type JsonPath, mutate } from "./json-mutations.ts";
import { checkJson, describedCommands, type Schema, schemas } from "./json-schemas.ts";

interface Printed {
  readonly command: string;
  readonly title: string;
  readonly document: JsonObject;
}

const VETERAN = "test/tables/veteran.csv";
const GBSG = "test/tables/gbsg.csv";
const EYES = "test/tables/retinopathy.csv";
/** Exit code of a requirement that is not met. */
const UNMET = 2;
const outcome = (time: string, event: string) => ["--time", time, "--event", event];
const inGbsg = [GBSG, ...outcome("rfstime", "status"), "--drop", "pid", "--bins", "12"];
const inVeteran = [VETERAN, ...outcome("time", "status"), "--group", "karno < 60", "--bins", "4"];
const groups = ["--group", "grade = 3", "--group", "many nodes: nodes > 20"];
const scratch = (name: string) => writeScratch(name, "");
/** Small runs end before a second thread has started. */
const alone = ["--threads", "1"];

const csv = (header: string, rows: readonly (readonly (string | number)[])[]) =>
  `${header}\n${rows.map((cells) => cells.join(",")).join("\n")}\n`;

/** Dates for times, a reason that ends follow-up, a visit for those who last, a relapse, commas, long numbers, a slip. */
function plantLater(): string {
  const random = createRandom(5);
  const exponential = () => -Math.log(1 - random.uniform());
  const iso = (day: number) => new Date(86_400_000 * day).toISOString().slice(0, 10);
  const rows = Array.from({ length: 2000 }, (_, row) => {
    const ends = {
      dead: 1000 * exponential(),
      moved: 800 * exponential(),
      none: 20 + 1000 * random.uniform(),
    };
    const days = Math.ceil(Math.min(ends.dead, ends.moved, ends.none));
    const status = days >= ends.dead ? "dead" : days >= ends.moved ? "moved" : "none";
    const relapse = Math.ceil(400 * exponential());
    const start = 15_000 + random.integer(1000);
    return [
      iso(start),
      iso(start + days),
      status,
      status === "moved" ? 1 : 0,
      days > 150 && random.uniform() < 0.8 ? "came" : "did not",
      relapse < days ? relapse : "",
      relapse < days ? iso(start + relapse) : "",
      relapse < days ? "high" : "",
      `"${(20 + 10 * random.uniform()).toFixed(1).replace(".", ",")}"`,
      `90071992547409${String(10_000 + ((row * 7919) % 10_000)).slice(1)}9`,
      row === 16 ? "3a" : (row % 4) + 1,
    ];
  });
  const header = "start,end,status,moved,visit,relapse,relapsed,grade,bmi,record,stage";
  return writeScratch("later.csv", csv(header, rows));
}

/** One column for each kind of finding that a readable table can have. */
function plantTable(): string {
  const random = createRandom(4);
  const rows = Array.from({ length: 400 }, (_, row) => {
    const time = Number((0.01 - 5 * Math.log(1 - random.uniform())).toFixed(3));
    const event = random.uniform() < 0.6;
    const entry = 100 * random.uniform();
    const period = time < 2 ? "early" : time < 5 ? "middle" : "late";
    return [
      time,
      event ? 2 : 1,
      row + 1,
      1000 + Math.floor(row / 2),
      "A",
      "",
      `ward ${Math.floor(200 * random.uniform())}`,
      event ? "yes" : "no",
      random.uniform() < 0.02 ? 1 - Number(event) : Number(event),
      365.25 * time,
      event ? period : "none",
      random.uniform() < 0.3 ? time : Number((10 * random.uniform()).toFixed(3)),
      time * (1 + 0.2 * random.normal()),
      entry,
      entry + time,
      random.uniform() < 0.3 ? "true" : "false",
      `19${20 + Math.floor(70 * random.uniform())}-01-01`,
      `${1 + (row % 12)}/${1 + (row % 11)}/2001`,
    ];
  });
  const header =
    "time,status,number,patient,centre,nothing,ward,died,nearly,days,period,often,about,entry,exit,smoker,born,seen";
  return writeScratch("planted.csv", csv(header, rows));
}

/** Times and events that cannot be read, and a row twice. */
function breakTable(): string {
  const rows = [
    ["", 0, 1],
    [-2, 1, 2],
    ["soon", 9, 3],
    [0, "", 4],
    [5, 1, 5],
    [5, 1, 5],
    [7, 0, 6],
  ];
  return writeScratch("broken.csv", csv("time,event,x", rows));
}

/** Another program's curves: the same for everyone, half of whom die three times as fast. */
function writeCurves(): string {
  const random = createRandom(6);
  const T = 6;
  const rows = Array.from({ length: 400 }, (_, row) => {
    const site = random.uniform() < 0.5 ? "north" : "south";
    let bin = 1;
    while (bin < T && random.uniform() > (site === "north" ? 0.3 : 0.1)) bin++;
    const event = bin < T && random.uniform() < 0.8 ? 1 : 0;
    return [row % 7, site, bin, event, ...Array.from({ length: T }, (_, t) => (0.8 ** (t + 1)).toFixed(4))];
  });
  const header = `week,site,bin,event,${Array.from({ length: T }, (_, t) => `S${t + 1}`).join(",")}`;
  return writeScratch("others.csv", csv(header, rows));
}

/** The second feature is the first one over again, and one row lacks it. */
function writeTwins(): string {
  const rows = Array.from({ length: 40 }, (_, row) => [
    1 + ((row * 7) % 40),
    row % 3 === 0 ? 0 : 1,
    row === 5 ? "" : (row * row) % 11,
    2 * ((row * row) % 11),
  ]);
  return writeScratch("twins.csv", csv("time,event,a,b", rows));
}

/** More columns than all subsets of them can be computed for. */
function writeWide(): string {
  const random = createRandom(7);
  const names = Array.from({ length: 12 }, (_, j) => `x${j}`);
  const rows = Array.from({ length: 80 }, (_, row) => {
    const cells = names.map(() => random.normal().toFixed(2));
    return [10 + ((row * 7) % 31), row % 3 === 0 ? 0 : 1, `p${row}`, ...cells];
  });
  return writeScratch("wide.csv", csv(`time,event,id,${names.join(",")}`, rows));
}

/** Two causes, and people who are censored at 40. */
function writeCauses(): string {
  const random = createRandom(9);
  const rows = Array.from({ length: 160 }, (_, row) => {
    const time = -30 * Math.log(1 - random.uniform());
    const event = time > 40 ? "none" : row % 3 === 0 ? "relapse" : "death";
    return [50 + (row % 31), row % 2 === 0 ? "F" : "M", Math.min(time, 40).toFixed(2), event];
  });
  return writeScratch("causes.csv", csv("age,sex,time,event", rows));
}

const printed: Printed[] = [];

function print(command: string, title: string, args: readonly string[], expectedCode = 0): void {
  const { code, stdout, stderr } = runCli([command, ...args, "--json"]);
  if (code !== expectedCode) throw new Error(`${command}, ${title}: exit code ${code}\n${stderr}`);
  printed.push({ command, title, document: JSON.parse(stdout) as JsonObject });
}

function documentOf(title: string): JsonObject {
  const found = printed.find((one) => one.title === title);
  if (found === undefined) throw new Error(`nothing was printed as "${title}"`);
  return found.document;
}

/** Milliseconds: a few seconds of commands, on a machine that does other things as well. */
const PATIENCE = 120_000;

/** A table in which every cell may mean something else: marks, dates, codes, spellings, names. */
function plantMisread(): string {
  const rows = Array.from({ length: 40 }, (_, k) => [
    k === 0 ? "007" : String(k),
    k === 5 ? "9999" : String(100 + 7 * k),
    k % 2,
    k % 3 === 0 ? `1.${String(100 + k)}` : String(200 + 11 * k),
    k % 2 === 0 ? `${13 + (k % 9)}/4/2020` : `4/${13 + (k % 9)}/2020`,
    k % 2 === 0 ? "caf\u00e9" : "cafe\u0301",
    k % 8 === 0 ? "-999" : String(30 + (k % 17)),
  ]);
  return writeScratch("misread.csv", csv("pid,time,alive,dose,seen,site,lab", rows));
}

beforeAll(() => {
  const grouped = ["--group", "smoker = true", "--group", "late: time > 18"];
  print("describe", "findings", [plantTable(), ...outcome("time", "status"), ...grouped]);
  const dated = ["--time", "end", "--origin", "start", "--event", "status", "--event-is", "dead"];
  print("describe", "later", [plantLater(), ...dated]);
  print("describe", "misread", [plantMisread(), ...outcome("time", "alive"), "--id", "pid"]);
  const numbered = Array.from({ length: 12 }, (_, k) => [String(20010101 + k), k % 2]);
  const datesAsTimes = writeScratch("numbered.csv", csv("time,event", numbered));
  print("describe", "dates as times", [datesAsTimes, ...outcome("time", "event")]);
  print("describe", "broken", [breakTable(), ...outcome("time", "event"), "--group", "x > 3"]);
  print("describe", "all events", ["test/tables/tiny_all_events.csv", ...outcome("time", "status")]);
  const byType = ["--by", "celltype", "--interval", "log-log", "--at", "100,900", "--time-unit", "days"];
  print("km", "by type", [VETERAN, ...outcome("time", "status"), ...byType]);
  print("km", "of all", ["test/tables/tiny_single_event.csv", ...outcome("time", "status")]);
  const stays = ["--start", "start", "--stop", "stop", "--id", "id", "--event", "event"];
  print("km", "of stays", ["test/tables/heart.csv", ...stays, "--by", "surgery", "--at", "30"]);
  const ages = ["--time", "exitMonths", "--entry", "ageMonths", "--event", "event", "--event-is", "death"];
  print("km", "from an age", ["test/tables/mgus2.csv", ...ages, "--weights", "weight"]);
  const causes = ["--event", "event", "--causes", "pcm=progression,death", "--censored", "censored"];
  const bySex = ["--by", "sex", "--time-unit", "months"];
  print("cif", "causes", ["test/tables/mgus2.csv", "--time", "months", ...causes, ...bySex]);
  const weighted = ["--weights", "weight", "--entry", "ageMonths", "--by", "sex"];
  print("cif", "without a test", ["test/tables/mgus2.csv", "--time", "exitMonths", ...causes, ...weighted]);
  print("cif", "of all causes", ["test/tables/mgus2.csv", "--time", "months", ...causes]);
  print("cox", "of stays", ["test/tables/heart.csv", ...stays, "--features", "age,surgery,transplant"]);
  print("cox", "from an age", [
    "test/tables/mgus2.csv",
    ...ages,
    "--weights",
    "weight",
    "--features",
    "hgb,sex",
  ]);
  const ofCause = ["--event", "event", "--cause", "pcm", "--features", "hgb,sex"];
  print("cox", "of a cause", ["test/tables/mgus2.csv", "--time", "months", ...ofCause]);
  print("cox", "of an incidence", ["test/tables/mgus2.csv", "--time", "months", ...ofCause, "--fine-gray"]);
  print("cox", "twins", [writeTwins(), ...outcome("time", "event"), "--ties", "breslow"]);
  const inRetinopathy = [
    "test/tables/retinopathy.csv",
    ...outcome("futime", "status"),
    "--features",
    "trt,laser",
  ];
  print("cox", "people", [...inRetinopathy, "--id", "id", "--strata", "type", "--reference", "laser=xenon"]);
  const single = ["test/tables/tiny_single_event.csv", ...outcome("time", "status"), "--features", "x"];
  print("cox", "infinite", single);

  const [cox, net] = [scratch("cox.model"), scratch("net.model")];
  const required = [
    "--allow-unknown",
    "--require",
    "ece<1",
    "--require",
    'group "many nodes": ece<0.5',
    "--require",
    "n>9999",
  ];
  const quick = [...alone, "--network", "mlp", "--steps", "2", "--hidden", "2", "--draws", "10"];
  print("train", "cox model", [
    ...inGbsg,
    ...alone,
    "--method",
    "cox",
    ...groups,
    "--draws",
    "10",
    "--out",
    cox,
  ]);
  const strata = [...groups, ...quick, "--risk-strata", "2", "--replicates", "10", ...required, "--out", net];
  print("train", "graduate model", [...inGbsg, ...strata], UNMET);
  const xcal = ["--method", "xcal", "--lambda", "1", ...quick, "--split", "0.7,0.3,0"];
  print("train", "xcal model without test rows", [...inGbsg, ...xcal]);
  print("train", "ensemble", [...inGbsg, ...quick, "--ensemble", "2"]);

  const curves = writeCurves();
  const judged = [...alone, "--by", "meno", "--draws", "10", "--replicates", "10", "--certify", "0.1"];
  print("audit", "model", [cox, GBSG, ...judged, ...required, "--report", scratch("audit.html")], UNMET);
  print("audit", "curves", ["--curves", curves, "--draws", "0", "--group", "nobody: week > 9"]);

  const inAnyones = [
    "test/golden/tables/causes.csv",
    ...outcome("years", "status"),
    "--causes",
    "relapse,death",
  ];
  const ofAnyones = ["relapse", "death"].map((name) => `${name}=test/golden/tables/${name}.csv`);
  const byCause = [
    ...inAnyones,
    "--censored",
    "lost",
    "--curves",
    ofAnyones.join(","),
    "--group",
    "stage = 3",
  ];
  const fewer = ["--group", "nobody: age > 99", "--draws", "20", "--require", "ibs<1", "--report"];
  print("audit", "by cause", [...byCause, ...fewer, scratch("causes.html")]);
  print("audit", "by cause and age", [...byCause, "--draws", "0", "--id", "age", "--at", "3"]);

  const saved = scratch("boost.json");
  print("boost", "hazards", [cox, GBSG, "--save", saved, "--out", scratch("boosted.csv")]);
  print("boost", "mcboost", [cox, GBSG, "--method", "mcboost", "--rounds", "3"]);
  print("boost", "reference", [cox, GBSG, "--reference", "--rounds", "3"]);
  print("boost", "carried out", [cox, GBSG, "--apply", saved]);
  const people = readFileSync(new URL("tables/gbsg.csv", import.meta.url), "utf8");
  const others = writeScratch("others-gbsg.csv", strangersOf(people, "age", 299));
  print("boost", "carried out and judged", [cox, others, "--apply", saved]);

  const mgus = "test/tables/mgus2.csv";
  const inMgusBy = ["--drop", "id,months,ageMonths,exitMonths", "--split", "0.2,0.4,0.4", "--method", "nll"];
  const light = [...alone, "--network", "linear", "--steps", "1", "--bins", "6"];
  const pair = ["--event", "event", "--causes", "pcm,death", "--censored", "censored"];
  const bySeveral = {
    "repaired by cause": ["--time", "months"],
    "repaired by cause and age": ["--time", "exitMonths", "--entry", "ageMonths"],
  };
  for (const [title, own] of Object.entries(bySeveral)) {
    const file = scratch("causes-to-repair.model");
    runCli(["train", mgus, ...own, ...pair, ...inMgusBy, ...light, "--out", file]);
    print("boost", title, [file, mgus, "--group", "sex = F", "--save", scratch("causes.json")]);
  }
  const late = scratch("late.model");
  const ofDeath = ["--time", "exitMonths", "--entry", "ageMonths", "--event", "event", "--event-is", "death"];
  runCli(["train", mgus, ...ofDeath, ...inMgusBy, ...light, "--out", late]);
  print("boost", "late entry", [late, mgus, "--group", "sex = F"]);
  const two = ["--methods", "cox,graduate:l2+boost", "--replicates", "100", ...light];
  print("compare", "one split", [...inGbsg, ...groups, ...two]);
  print("compare", "two splits", [...inGbsg, "--methods", "cox,nll", "--seeds", "1,2", ...light]);

  const ofEvent = ["--event", "event", "--causes", "pcm,death", "--censored", "censored"];
  const mgusTuned = [
    "test/tables/mgus2.csv",
    "--time",
    "months",
    ...ofEvent,
    "--features",
    "age,hgb",
    "--bins",
    "6",
  ];
  const inMgus = [...mgusTuned, ...alone, "--network", "linear", "--steps", "1"];
  const rivals = ["--methods", "cox,start,graduate", "--replicates", "100", "--group", "sex = F"];
  print("compare", "methods by cause", [...inMgus, ...rivals]);
  print("compare", "methods by cause, two splits", [
    ...inMgus,
    "--methods",
    "cox,start",
    "--seeds",
    "1,2",
    "--id",
    "id",
  ]);

  // Every option that can be swept is in a setting: here as it is for all runs, below as it is varied.
  const given = [
    "--preset",
    "default",
    "--splines",
    "yes",
    "--network",
    "anchored",
    "--hidden",
    "2",
    "--steps",
    "2",
  ];
  const shared = [...given, "--batch", "50", "--decay", "0.1", "--kappa", "2", "--distance", "l2"];
  const swept = ["method=cox", "risk-strata=2", "slack=0.5,none", "rate=1e30", "splines=no"].flatMap(
    (one) => ["--sweep", one],
  );
  const kept = ["--workers", "1", "--results", scratch("runs.jsonl"), "--out", scratch("tuned.model")];
  print("tune", "chosen", [...inVeteran, "--one-at-a-time", ...shared, ...swept, ...kept]);
  const runaway = ["--workers", "1", "--hidden", "2", "--rate", "1e30", "--sweep", "steps=2"];
  print("tune", "nothing chosen", [...inVeteran, ...runaway, "--results", scratch("none.jsonl")]);

  const keptByCause = [
    "--workers",
    "1",
    "--results",
    scratch("causes.jsonl"),
    "--out",
    scratch("tuned-causes.model"),
  ];
  const settings = ["--sweep", "kappa=1,none", "--network", "linear", "--steps", "1"];
  print("tune", "chosen by cause", [...mgusTuned, ...settings, ...keptByCause]);

  const searched = ["--curves", curves, "--min-rows", "40"];
  print("discover", "confirmed", searched);
  print("discover", "not confirmed", [...searched, "--level", "1e-99"]);
  print("discover", "of a model", [cox, GBSG, ...alone, "--cross", "1"]);

  // Two rows a person.
  const inEyes = [EYES, ...outcome("futime", "status"), "--id", "id", ...alone, "--bins", "12"];
  const eyes = scratch("eyes.model");
  print("train", "by person", [...inEyes, "--method", "cox", "--draws", "0", "--out", eyes]);
  print("audit", "by person", [eyes, EYES, ...alone, "--draws", "0", "--certify", "0.1"]);
  print("discover", "by person", [eyes, EYES, ...alone, "--cross", "1", "--min-rows", "40"]);
  print("compare", "by person", [
    ...inEyes,
    "--methods",
    "cox,nll",
    "--network",
    "linear",
    "--steps",
    "1",
    "--replicates",
    "100",
  ]);
  print("explain", "by enumeration", [cox, GBSG, "--row", "3", "--at", "100,900"]);
  const [wide, many] = [writeWide(), scratch("wide.model")];
  const plainCox = [...outcome("time", "event"), "--method", "cox", "--draws", "0", "--bins", "4"];
  print("train", "many columns", [wide, ...plainCox, ...alone, "--drop", "id", "--out", many]);
  print("explain", "by sampling", [many, wide, "--row", "p7", "--id", "id", "--at", "1e-18,9"]);
  print("summary", "of cox", [cox]);
  print("summary", "of a network", [net, ...alone]);
  print("summary", "of people", [eyes]);
  print("export", "encoded", [net, "--onnx", scratch("x.onnx")]);
  const [ofCauses, apart] = [writeCauses(), scratch("causes.model")];
  const inCauses = [ofCauses, ...outcome("time", "event"), "--causes", "relapse,death", "--censored", "none"];
  const brief = ["--steps", "2", "--ensemble", "1", "--bins", "6", "--group", "sex = F", ...alone];
  print("train", "by cause", [...inCauses, ...brief, "--out", apart]);
  print("explain", "by cause", [apart, ofCauses, "--row", "3", "--at", "20", "--cause", "death"]);
  print("summary", "by cause", [apart]);
  print("export", "by cause", [apart, "--onnx", scratch("causes.onnx")]);
  print("export", "raw", [cox, "--onnx", scratch("raw.onnx"), "--raw"]);
}, PATIENCE);

describe("what the commands print", () => {
  test("is as the schemas say", () => {
    const complaints = printed.map(({ command, title, document }) => ({
      title: `${command}: ${title}`,
      complaints: checkJson(command, document),
    }));
    expect(complaints.filter((one) => one.complaints.length > 0)).toEqual([]);
  });

  test("is described for every command with --json, and for no other", () => {
    const names = [...runCli(["--help"]).stdout.matchAll(/^ {2}([a-z]+) /gm)].map((match) => match[1]);
    const withJson = names.filter(
      (name) => runCli([name, "--help", "all"]).stdout.match(/--json\b/) !== null,
    );
    expect(names).toEqual(expect.arrayContaining(["predict", "demo"]));
    expect([...describedCommands].sort()).toEqual(withJson.sort());
    expect([...new Set(printed.map(({ command }) => command))].sort()).toEqual(withJson);
    expect(() => checkJson("predict", {})).toThrow('no schema of what "predict" prints');
    expect(() => checkJson("definitions", {})).toThrow("no schema");
  });

  test("covers every finding, every swept option, and whatever may be missing or null", () => {
    const codes = ["findings", "later", "misread", "dates as times", "broken", "all events"].flatMap(
      (title) => (documentOf(title).findings as readonly JsonObject[]).map(({ code }) => code),
    );
    expect(new Set(codes)).toEqual(new Set(FINDING_CODES));
    expect(documentOf("broken")).toMatchObject({ events: null, censored: null });
    const { settings, chosen } = documentOf("chosen") as { readonly [key: string]: readonly JsonObject[] };
    const named = settings.flatMap(({ setting }) => Object.keys(setting as JsonObject));
    expect(new Set(named)).toEqual(new Set(SETTING_NAMES));
    expect(settings.some(({ failure }) => typeof failure === "string")).toBe(true);
    expect(settings.some(({ worstGroup }) => worstGroup !== null)).toBe(true);
    expect(chosen).not.toBeNull();
    expect(documentOf("nothing chosen")).toMatchObject({ chosen: null, model: null, test: null });
    expect(documentOf("xcal model without test rows")).toMatchObject({ verdict: [], test: null });
    expect(documentOf("cox model")).toMatchObject({ multipliers: null });
    expect(documentOf("twins")).toMatchObject({
      omitted: 1,
      coefficients: [{}, { estimate: null, standardError: null }],
      strata: null,
      id: null,
      tests: { robustScore: null },
    });
    expect(documentOf("people")).toMatchObject({ strata: { count: 2 }, id: { people: 197 } });
    expect(documentOf("infinite")).toMatchObject({
      infinite: ["x"],
      coefficients: [{ standardError: null, z: null, p: null, lower: null }],
      tests: { wald: { chi2: null, absent: "a coefficient is infinite" } },
      proportionalHazards: { km: { global: { p: null } } },
    });
    expect(documentOf("of all")).toMatchObject({ logrank: null });
    expect(documentOf("of cox")).toMatchObject({ network: null, held: null, trainedOn: { events: null } });
    expect(documentOf("of people")).toMatchObject({ outcome: { id: "id" }, trainedOn: { people: {} } });
    expect(documentOf("of a network")).toMatchObject({ held: { chances: 0 }, network: { kind: "mlp" } });
    expect(documentOf("by enumeration")).toMatchObject({ id: null, method: "enumeration", pairs: null });
    expect(documentOf("by sampling")).toMatchObject({ id: "p7", method: "sampling" });
    expect(documentOf("by sampling").times).toMatchObject([{ logHazard: null, absent: {} }, {}]);
    expect(documentOf("carried out")).toMatchObject({ verdict: null });
    expect(documentOf("carried out and judged")).toMatchObject({ obstacle: null });
    expect(documentOf("model")).toMatchObject({
      certificates: { groups: [{ name: "all" }, {}, {}, {}, {}] },
    });
    expect(documentOf("curves")).toMatchObject({ certificates: null });
    expect(documentOf("by cause").causes).toMatchObject([
      {
        name: "relapse",
        groups: [{ agreement: "disagrees" }, { incidence: null, agreement: "tooFewEvents" }],
      },
      { name: "death" },
    ]);
    expect(documentOf("by cause and age").causes).toMatchObject([
      { overall: { at: [{ bin: 3 }], peopleWithEvents: 38 } },
      {},
    ]);
    const met = (documentOf("model").requirements as readonly JsonObject[]).map((one) => one.met);
    expect(met).toEqual([true, null, false]);
    expect(documentOf("confirmed").groups).toContainEqual(expect.objectContaining({ confirmed: true }));
    expect(documentOf("not confirmed").groups).toContainEqual(expect.objectContaining({ beyond: null }));
  });

  test("gives a reason for every score that is null, and for no other", () => {
    const entries = printed.flatMap(({ document }) => findScores(document));
    expect(entries.length).toBeGreaterThan(10);
    expect(entries.some(({ absent }) => Object.keys(absent as JsonObject).length > 0)).toBe(true);
    for (const { absent, noiseFloor, departure, ...rest } of entries) {
      // What was not drawn has no reason.
      const scores = departure === null ? rest : { ...rest, departure };
      const reasons = Object.keys(absent as JsonObject);
      // Limits before the first event are null by themselves.
      const nulls = findNulls(scores).filter(
        (path) => !/^paper\.noiseFloor\.|^incidence\.(lower|upper)\./.test(path),
      );
      for (const path of nulls)
        expect(
          reasons.some((reason) => `${path}.`.startsWith(`${reason}.`)),
          `${scores.name}: ${path}`,
        ).toBe(true);
      for (const reason of reasons.filter((one) => one !== "noiseFloor" && one !== "departure"))
        expect(
          nulls.some((path) => `${path}.`.startsWith(`${reason}.`)),
          `${scores.name}: ${reason}`,
        ).toBe(true);
      if (reasons.includes("noiseFloor")) expect(noiseFloor).toBeNull();
      if (reasons.includes("departure")) expect(departure).toBeNull();
    }
  });
});

describe("the schemas", () => {
  test("catch a field that is missing, one too many, and a value of another type", () => {
    const slips: string[] = [];
    const seen = new Map(describedCommands.map((command) => [command, new Set<string>()]));
    let mutations = 0;
    for (const { command, title, document } of printed) {
      for (const { what, path, document: changed } of mutate(document, seen.get(command) ?? new Set())) {
        // What is in the evidence of an outcome's finding depends on its code, which describe's schema lists.
        if (command !== "describe" && path.includes("findings") && path.includes("evidence")) continue;
        mutations++;
        const isFine = what === "left out" && isOptional(command, path);
        if ((checkJson(command, changed).length === 0) === isFine) continue;
        slips.push(`${command}, ${title}: ${what}: ${path.join("/")}`);
      }
    }
    expect(slips).toEqual([]);
    expect(mutations).toBeGreaterThan(2000);
  });

  test("know a run of compare that failed", () => {
    const { runs, ...rest } = documentOf("one split") as { readonly [key: string]: readonly JsonObject[] };
    const { split, method, seconds } = runs[0];
    const failed = { split, method, met: null, constrained: null, seconds, failure: "diverged", audit: null };
    expect(checkJson("compare", { ...rest, runs: [failed, runs[1]] })).toEqual([]);
    expect(checkJson("compare", { ...rest, runs: [{ ...failed, failure: null }, runs[1]] })).not.toEqual([]);
    expect(
      checkJson("compare", { ...rest, runs: [{ ...runs[0], failure: "diverged" }, runs[1]] }),
    ).not.toEqual([]);
  });

  test("know a run by cause that failed", () => {
    const { runs, ...rest } = documentOf("methods by cause") as {
      readonly [key: string]: readonly JsonObject[];
    };
    const { split, method, seconds } = runs[0];
    const nothing = { scores: null, met: null, constrained: null };
    const failed = { split, method, ...nothing, seconds, failure: "diverged", audit: null };
    expect(checkJson("compare", { ...rest, runs: [failed, runs[1]] })).toEqual([]);
    expect(checkJson("compare", { ...rest, runs: [{ ...failed, failure: null }, runs[1]] })).not.toEqual([]);
  });

  test("list what the sources list", () => {
    const settingsOf = readPart("tune", "$defs", "setting", "properties");
    expect(Object.keys(settingsOf)).toEqual(SETTING_NAMES);
    expect(readPart("tune", "properties", "rule").enum).toEqual(SELECTION_RULES);
    expect(readPart("compare", "$defs", "difference", "properties", "score").enum).toEqual(COMPARED_SCORES);
    expect(readPart("compare-causes", "$defs", "difference", "properties", "score").enum).toEqual(
      COMPARED_CAUSE_SCORES,
    );
  });

  test.each([...schemas.keys()])("%s describes every field and leaves none open", (name) => {
    const schema = schemas.get(name) as Schema;
    expect(schema.$schema).toBe("https://json-schema.org/draft/2020-12/schema");
    expect(schema.$id).toBe(`${name}.schema.json`);
    const problems: string[] = [];
    for (const { path, part } of listParts(schema)) {
      const complain = (what: string) => problems.push(`${path.join("/")}: ${what}`);
      const isNamed = path.at(-2) === "properties" || path.at(-2) === "$defs";
      if (isNamed && !isSentence(part.description)) complain("no description in one sentence");
      if (part.properties !== undefined) {
        if (part.additionalProperties !== false) complain("open to other fields");
        if (!Array.isArray(part.required)) complain("does not say which fields are required");
      } else if ([part.type].flat().includes("object") && part.propertyNames === undefined) {
        complain("an object of anything");
      }
      if (path.at(-2) === "$defs" && !usedSomewhere(String(path.at(-1)))) complain("used nowhere");
    }
    expect(problems).toEqual([]);
  });
});

const FINDING_CODES = [
  "leak.event",
  "leak.near",
  "leak.time",
  "leak.later",
  "number.comma",
  "number.text",
  "number.large",
  "number.marks",
  "number.sentinel",
  "date.ambiguous",
  "date.mixed",
  "levels.alike",
  "time.doubtful",
  "event.name",
  "id.spelling",
  "cells.missing",
  "feature.alone",
  "event.causes",
  "id",
  "constant",
  "levels.many",
  "time.values",
  "time.missing",
  "time.nonpositive",
  "event.values",
  "event.missing",
  "duplicate.rows",
  "group.events",
];

/** Entries with every score of a group, wherever they are. */
function findScores(value: Json): readonly JsonObject[] {
  if (typeof value !== "object" || value === null) return [];
  const inside = Object.values(value).flatMap(findScores);
  return "supported" in value && "absent" in value ? [value as JsonObject, ...inside] : inside;
}

/** Paths of what is null, with dots. */
function findNulls(value: Json, path = ""): readonly string[] {
  if (value === null) return [path.slice(1)];
  if (typeof value !== "object") return [];
  return Object.entries(value).flatMap(([key, one]) => findNulls(one, `${path}.${key}`));
}

/** Of a departure, what is not defined is left out. */
const DEPARTURE = ["rmsGap", "largestZ", "span", "gap", "eventsBy"];

/** By the last part of the path; all other fields are always there. */
const OPTIONAL: Readonly<Record<string, readonly string[]>> = {
  km: ["observed", "n"],
  cox: ["observed", "cause"],
  describe: ["rankCorrelation", "partner", "fixedColumns", "until", "timeRule"],
  train: [
    "ensemble",
    "people",
    "model",
    "requirements",
    "report",
    "intervals",
    "peopleWithEvents",
    ...DEPARTURE,
    "causes",
  ],
  audit: ["requirements", "report", "intervals", "peopleWithEvents", ...DEPARTURE],
  compare: ["people", "peopleWithEvents", ...DEPARTURE],
  tune: [...DEPARTURE],
  discover: ["people", "designEffect"],
  explain: ["cause", "causes"],
  boost: ["lossChange", "distanceOf", "ratio"],
  summary: ["causes", "censored"],
  export: ["incidence"],
};

function isOptional(command: string, path: JsonPath): boolean {
  const [parent, key] = path.slice(-2);
  if (path.length > 1 && ["absent", "setting", "chosen"].includes(String(parent))) return true;
  if (parent === "paper" && key === "noiseFloor") return true;
  // Of the solve the causes are optional; of scores by cause they are all.
  if (parent === "test" && key === "causes") return false;
  return OPTIONAL[command]?.includes(String(key ?? parent)) === true;
}

interface Part {
  readonly path: readonly string[];
  readonly part: Schema;
}

/** A schema and every schema inside it. */
function listParts(part: Schema, path: readonly string[] = []): readonly Part[] {
  const named = (key: string) =>
    Object.entries((part[key] ?? {}) as Record<string, Schema>).flatMap(([name, one]) =>
      listParts(one, [...path, key, name]),
    );
  const listed = (key: string) =>
    ((part[key] ?? []) as readonly Schema[]).flatMap((one, k) => listParts(one, [...path, key, String(k)]));
  const items = part.items === undefined ? [] : listParts(part.items as Schema, [...path, "items"]);
  return [
    { path, part },
    ...items,
    ...["properties", "$defs"].flatMap(named),
    ...["anyOf", "oneOf"].flatMap(listed),
  ];
}

const isSentence = (text: unknown) => typeof text === "string" && /^\S.*\.$/.test(text);

function usedSomewhere(name: string): boolean {
  return [...schemas.values()].some((schema) => JSON.stringify(schema).includes(`#/$defs/${name}"`));
}

function readPart(name: string, ...path: readonly string[]): Schema {
  return path.reduce((part, key) => part[key] as Schema, schemas.get(name) as Schema);
}
