// Shortens the output of 05_oracle.R, 06_tiny.R and 09_limits.R to what is stored here: no white space, no Cox and Brier parts
// (they have their own oracles), no standard errors (the root of the variance), and for nwtco and flchain only every tenth
// distinct time of the raw curves, `index` saying which (0-based). Numbers keep every digit.
//   node compact.mjs FOLDER_WITH_JSON_AND_LP FOLDER_WITH_LIMITS_JSON OUT
import { readFileSync, writeFileSync } from "node:fs";
import { gzipSync } from "node:zlib";

const [, , source, limits, out] = process.argv;
const THINNED = { nwtco: 10, flchain: 10 };
const DROPPED = ["cox", "cox_x", "breslow_baseline", "brier"];

function thin(part, step) {
  const K = part.time.length;
  const index = Array.from({ length: K }, (_, k) => k).filter((k) => k % step === 0 || k === K - 1);
  const kept = Object.entries(part)
    .filter(([key, values]) => Array.isArray(values) && key !== "se_surv")
    .map(([key, values]) => [key, index.map((k) => values[k])]);
  return { index, ...Object.fromEntries(kept) };
}

for (const name of ["nwtco", "flchain", "pbc", "lung", "gbsg", "tiny_heavy_ties", "tiny_censored_tail", "tiny_single_event", "tiny_all_events"]) {
  const oracle = JSON.parse(readFileSync(`${source}/${name}.json`, "utf8"));
  for (const key of DROPPED) delete oracle[key];
  oracle.km = thin(oracle.km, THINNED[name] ?? 1);
  oracle.censoring_km = thin(oracle.censoring_km, THINNED[name] ?? 1);
  writeFileSync(`${out}/${name}.json`, `${JSON.stringify(oracle)}\n`);
}
for (const name of ["nwtco", "flchain", "pbc", "lung", "gbsg"]) {
  const lines = readFileSync(`${source}/${name}_lp.csv`, "utf8").trim().split("\n");
  const kept = lines.map((line) => line.split(",")).map((cells) => `${cells[0]},${cells[4]}`);
  writeFileSync(`${out}/${name}_lp.csv.gz`, gzipSync(`${kept.join("\n")}\n`, { level: 9 }));
}
writeFileSync(`${out}/limits.json`, `${JSON.stringify(JSON.parse(readFileSync(`${limits}/limits.json`, "utf8")))}\n`);
