// What the program makes, by its hashes: some thirty runs of every kind, each output by its SHA-256, held against manifest.json.
// A change of the code that is to change nothing shows here whether it did. All runs are deterministic, so the machine does not
// matter; what varies from run to run (seconds, how the program was called, its version) is replaced before it is hashed.
//
//     npm run same                compare with the manifest; exit code 1 where anything differs
//     npm run same -- audit       only the runs whose name holds this
//     npm run same -- --write     write the manifest anew
//     npm run same -- --keep DIR  leave what was made in DIR, to compare two trees by diff -r
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, "../..");
const program = join(root, "bin/graduate.js");
const manifestPath = join(here, "manifest.json");
const MAX_OUTPUT = 1 << 28;

/** The tables of the runs, by the folder that holds them. */
const TABLES = [
  ["datasets/nwtco", ["nwtco.csv", "groups.json", "example-curves.csv.gz"]],
  ["datasets/flchain", ["flchain.csv"]],
  ["test/tables", ["cgd.csv", "heart.csv", "lung.csv", "mgus2.csv", "transplant.csv", "veteran.csv"]],
  ["test/golden/tables", ["causes.csv", "late.csv", "relapse.csv", "death.csv"]],
  ["test/same", ["registry.csv"]],
];

const NWTCO = ["nwtco.csv", "--time", "edrel", "--event", "rel"];
const GROUPS = ["--groups", "groups.json"];
const PEOPLE = ["--drop", "seqno", "--seed", "7"];
const MGUS = ["mgus2.csv", "--time", "months", "--event", "event"];
const CAUSES = ["--causes", "pcm,death", "--censored", "censored"];
const LISTED = ["transplant.csv", "--time", "futime", "--event", "event"];
const EXITS = ["--causes", "ltx=transplant,death,withdraw", "--censored", "censored"];
const LATE = ["late.csv", "--entry", "entry", "--time", "time", "--event", "event"];
const HEART = ["heart.csv", "--start", "start", "--stop", "stop", "--event", "event", "--id", "id"];
const SHORT = ["--deterministic", "--threads", "2", "--fast"];
const SMALL = ["--hidden", "4", "--steps", "12", ...SHORT];

/** Name → arguments; what a run makes besides standard output is named by `files`. They run in this order, in one folder. */
const RUNS = {
  "describe.json": ["describe", ...NWTCO, "--json"],
  "describe-leak.txt": ["describe", "flchain.csv", "--time", "futime", "--event", "death"],
  "km.json": ["km", ...NWTCO, "--by", "histol", "--json"],
  "km.svg": ["km", ...NWTCO, "--by", "histol", "--svg", "km.svg"],
  "cif.json": ["cif", ...MGUS, ...CAUSES, "--by", "sex", "--json"],
  "cox.json": ["cox", ...NWTCO, "--features", "histol,stage,age", "--category", "stage", "--json"],
  "cox-entry.json": ["cox", ...HEART, "--features", "age,surgery,transplant", "--json"],
  "default.model": [
    "train",
    ...NWTCO,
    ...PEOPLE,
    ...GROUPS,
    ...SHORT,
    "--steps",
    "40",
    "--report",
    "train.html",
  ],
  "ensemble.model": [
    "train",
    ...NWTCO,
    ...PEOPLE,
    "--group",
    "histol = 2",
    "--ensemble",
    "2",
    "--splines",
    "--steps",
    "8",
    ...SHORT.slice(0, 3),
  ],
  "mlp.model": ["train", ...NWTCO, ...PEOPLE, "--network", "mlp", ...SMALL],
  "linear.model": [
    "train",
    ...NWTCO,
    ...PEOPLE,
    ...GROUPS,
    "--network",
    "linear",
    "--distance",
    "l2",
    ...SMALL,
  ],
  "drsa.model": ["train", ...NWTCO, ...PEOPLE, "--method", "drsa", "--batch", "256", ...SMALL],
  "xcal.model": ["train", ...NWTCO, ...PEOPLE, "--method", "xcal", "--lambda", "10", ...SMALL],
  "rps.model": ["train", ...NWTCO, ...PEOPLE, "--method", "rps", ...SMALL],
  "cox.model": ["train", ...NWTCO, ...PEOPLE, "--method", "cox", ...SHORT.slice(0, 3)],
  "paper.model": [
    "train",
    ...NWTCO,
    ...PEOPLE,
    ...GROUPS,
    "--preset",
    "paper",
    "--distance",
    "variance",
    ...SMALL,
  ],
  "protected.model": [
    "train",
    ...NWTCO,
    ...PEOPLE,
    "--group",
    "histol = 2",
    "--protected",
    "histol",
    ...SMALL,
  ],
  "targets.model": [
    "train",
    ...NWTCO,
    ...PEOPLE,
    "--group",
    "histol = 2",
    "--targets",
    "registry.csv",
    "--allow-clash",
    "histol = 2",
    ...SMALL,
  ],
  "causes.model": [
    "train",
    ...MGUS,
    ...CAUSES,
    "--id",
    "id",
    "--group",
    "sex = F",
    "--drop",
    "ageMonths,exitMonths,weight",
    "--report",
    "causes.html",
    ...SMALL,
  ],
  "causes-l2.model": [
    "train",
    ...MGUS,
    ...CAUSES,
    "--distance",
    "l2",
    "--group",
    "sex = F",
    "--drop",
    "id,ageMonths,exitMonths",
    "--weights",
    "weight",
    ...SMALL,
  ],
  "entry.model": ["train", ...LATE, "--drop", "weight", "--group", "sex = F", "--bins", "8", ...SMALL],
  "histories.model": ["train", ...HEART, "--group", "transplant = 1", "--bins", "12", ...SMALL],
  "exits.model": ["train", ...LISTED, ...EXITS, "--group", "sex = f", "--category", "abo", ...SMALL],
  "predictions.csv": ["predict", "default.model", "nwtco.csv"],
  "people.csv": [
    "predict",
    "default.model",
    "nwtco.csv",
    "--at",
    "1000,2000",
    "--quantiles",
    "0.9",
    "--rmst",
    "2000",
  ],
  "incidences.csv": ["predict", "causes.model", "mgus2.csv"],
  "audit.json": ["audit", "default.model", "nwtco.csv", "--json", "--replicates", "20", "--certify", "0.05"],
  "audit.html": ["audit", "default.model", "nwtco.csv", "--report", "audit.html"],
  "audit-curves.json": ["audit", "--curves", "example-curves.csv.gz", "--by", "histol,stage", "--json"],
  "audit-causes.json": ["audit", "causes.model", "mgus2.csv", "--json"],
  "audit-entry.json": ["audit", "entry.model", "late.csv", "--json"],
  "audit-histories.json": ["audit", "histories.model", "heart.csv", "--json"],
  "discover.json": ["discover", "default.model", "nwtco.csv", "--json"],
  boost: [
    "boost",
    "default.model",
    "nwtco.csv",
    "--group",
    "histol = 2",
    "--out",
    "boost.csv",
    "--save",
    "boost.json",
  ],
  "boost-mcboost": [
    "boost",
    "default.model",
    "nwtco.csv",
    "--group",
    "histol = 2",
    "--method",
    "mcboost",
    "--save",
    "mcboost.json",
  ],
  "boost-causes": [
    "boost",
    "exits.model",
    "transplant.csv",
    "--group",
    "abo = O",
    "--save",
    "causes-boost.json",
  ],
  "compare.json": [
    "compare",
    ...NWTCO,
    ...PEOPLE.slice(0, 2),
    "--group",
    "histol = 2",
    "--methods",
    "graduate,cox",
    "--json",
    "--steps",
    "12",
    "--deterministic",
    "--threads",
    "2",
  ],
  "explain.html": ["explain", "default.model", "nwtco.csv", "--row", "#17", "--card", "explain.html"],
  "summary.json": ["summary", "default.model", "--json"],
  "model.onnx": ["export", "default.model", "--onnx", "model.onnx"],
  "causes.onnx": ["export", "causes.model", "--onnx", "causes.onnx"],
};

/** What varies from run to run or from machine to machine, and what stands for it. */
const { version } = JSON.parse(await readFile(join(root, "package.json"), "utf8"));
const VARYING = [
  [/\b\d+\.\d s\b/g, "0.0 s"],
  [/("seconds": ?)[\d.e+-]+/g, "$10"],
  [/(?:npx graduate|node \S*\bbin\/graduate\.js'?)(?= [a-z])/g, "graduate"],
  [new RegExp(version.replaceAll(".", "\\."), "g"), "VERSION"],
];
const isText = (name) => /\.(json|txt|csv|html|svg)$/.test(name) || !name.includes(".");
const settle = (text) => VARYING.reduce((settled, [from, to]) => settled.replace(from, to), text);
const hash = (bytes) => createHash("sha256").update(bytes).digest("hex");

/** Runs the program; resolves with its exit code and what it printed, whatever the code. */
function run(args, cwd) {
  return new Promise((resolve) => {
    execFile(process.execPath, [program, ...args], { cwd, maxBuffer: MAX_OUTPUT }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : (error.code ?? error.signal), stdout, stderr }),
    );
  });
}

/** Models and ONNX files name the version that wrote them, under a checksum: with a new version they differ, and nothing else. */
async function bytesOf(path, name) {
  const bytes = await readFile(path);
  if (isText(name)) return settle(bytes.toString("utf8"));
  return bytes;
}

async function makeAll(names, folder) {
  const made = new Map();
  for (const [from, files] of TABLES)
    for (const file of files) await cp(join(root, from, file), join(folder, file));
  const known = new Set(await readdir(folder));
  for (const [name, args] of Object.entries(RUNS)) {
    const isWanted = names(name);
    // A run that others need is made for them, without being compared.
    if (!isWanted && !name.endsWith(".model")) continue;
    const out = name.endsWith(".model") ? ["--out", name] : [];
    const { code, stdout, stderr } = await run([...args, ...out], folder);
    if (code !== 0) throw new Error(`${name}: exit code ${code}\n${stderr}`);
    const fresh = (await readdir(folder)).filter((file) => !known.has(file));
    for (const file of fresh) known.add(file);
    if (!isWanted) continue;
    await writeFile(join(folder, `${name}.stdout`), settle(stdout));
    known.add(`${name}.stdout`);
    made.set(`${name} (printed)`, hash(settle(stdout)));
    for (const file of fresh) made.set(`${name}: ${file}`, hash(await bytesOf(join(folder, file), file)));
  }
  return made;
}

const { values, positionals } = parseArgs({
  options: { write: { type: "boolean" }, keep: { type: "string" } },
  allowPositionals: true,
});
const isWanted = (name) => positionals.length === 0 || positionals.some((word) => name.includes(word));
const folder = values.keep ?? (await mkdtemp(join(tmpdir(), "graduate-same-")));
await mkdir(folder, { recursive: true });
try {
  const started = performance.now();
  const made = await makeAll(isWanted, folder);
  const manifest = existsSync(manifestPath) ? JSON.parse(await readFile(manifestPath, "utf8")) : {};
  const compared = Object.keys(manifest).filter((key) => isWanted(key.split(/[: ]/)[0]));
  const differing = [...new Set([...compared, ...made.keys()])].filter(
    (key) => manifest[key] !== made.get(key),
  );
  for (const key of differing) {
    const what = made.has(key) ? (key in manifest ? "DIFFERS" : "NEW") : "GONE";
    console.log(`${what}  ${key}`);
  }
  const seconds = ((performance.now() - started) / 1000).toFixed(0);
  console.log(
    `${made.size} outputs of ${Object.keys(RUNS).length} runs, ${differing.length} not as in the manifest (${seconds} s)`,
  );
  if (values.write) {
    const kept = positionals.length === 0 ? {} : manifest;
    await writeFile(manifestPath, `${JSON.stringify({ ...kept, ...Object.fromEntries(made) }, null, 1)}\n`);
  } else process.exitCode = differing.length === 0 ? 0 : 1;
} finally {
  if (values.keep === undefined) await rm(folder, { recursive: true, force: true });
}
