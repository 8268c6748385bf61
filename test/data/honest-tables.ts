// Tables as honest studies have them: strong predictors and nothing that was filled in later. Hazard ratios up to 10
// per standard deviation, columns rounded, cut, missing by risk or by date, entry dates, four kinds of censoring. What
// alarms here is false.
import { createRandom } from "../../src/core/random.ts";
import type { RightCensored } from "../../src/data/outcomes/outcomes.ts";
import { type Column, cellText } from "../../src/data/table.ts";
import { booleans, categories, dates, numbers } from "./sanity-tables.ts";

const MISSING = Number.NaN;

export interface HonestTable {
  readonly columns: readonly Column[];
  readonly outcomes: RightCensored;
}

/** `family` draws other tables under the same seeds. */
export function simulateHonest(seed: number, family = 2024): HonestTable {
  const random = createRandom(family, seed);
  const N = Math.round(100 * 20 ** random.uniform());
  const each = (value: (row: number) => number) => Float64Array.from({ length: N }, (_, row) => value(row));
  const strength = Math.log(1 + 9 * random.uniform());
  const shape = 0.5 + 1.5 * random.uniform();
  const z = each(() => random.normal());
  const other = each(() => random.normal());
  const entry = each(() => random.uniform());
  const factor = each(() => (random.uniform() < 0.3 ? 1 : 0));
  const factorStrength = Math.log(8) * (random.uniform() - 0.5) * 2;
  const logRisk = z.map((value, row) => strength * value + 0.5 * other[row] + factorStrength * factor[row]);
  const eventTime = logRisk.map((risk) => (-Math.log(1 - random.uniform()) * Math.exp(-risk)) ** (1 / shape));
  const kind = random.integer(4);
  const censoring = each((row) => {
    if (kind === 0) return 1;
    if (kind === 1) return random.uniform() + 0.001;
    return kind === 2 ? 1.05 - entry[row] : -Math.log(1 - random.uniform()) * Math.exp(0.7 * other[row]);
  });
  const share = 0.05 + 0.9 * random.uniform();
  const scale = eventTime.map((time, row) => time / censoring[row]).sort()[Math.floor(share * N)];
  const event = Uint8Array.from(eventTime, (time, row) => (time <= scale * censoring[row] ? 1 : 0));
  const unit = random.integer(3) === 0 ? 10 : 1000; // now and then a dozen different times only
  const time = each((row) => Math.ceil((unit * Math.min(eventTime[row], scale * censoring[row])) / scale));
  const cutAt = (quantile: number) => Float64Array.from(z).sort()[Math.floor(quantile * N)];
  const cuts = [0.1, 0.5, 0.8].map(cutAt);
  const fifth = cutAt(0.2);
  const deciles = Array.from({ length: 9 }, (_, k) => cutAt((k + 1) / 10));
  // A good guess of the time itself, in its unit, by somebody who knows the risk.
  const middle = Float64Array.from(time).sort()[N >> 1];
  const prognosis = logRisk.map((risk) => Math.max(1, Math.round(middle * Math.exp(-risk / shape))));
  const top = cutAt(0.6 + 0.35 * random.uniform());
  const missingIf = (values: Float64Array, chance: (row: number) => number) =>
    values.map((value, row) => (random.uniform() < chance(row) ? MISSING : value));
  const sites = Math.max(5, Math.floor(N / 4));
  const columns = [
    numbers("z", z),
    numbers("other", other),
    numbers("logRisk", logRisk),
    numbers(
      "integer",
      z.map((value) => Math.round(10 * value + 50)),
    ),
    numbers(
      "coarse",
      z.map((value) => Math.round(2 * value)),
    ),
    categories(
      "class",
      Array.from(z, (value) => `class ${cuts.filter((cut) => value >= cut).length}`),
    ),
    booleans(
      "top",
      z.map((value) => (value >= top ? 1 : 0)),
    ),
    numbers(
      "missingAtRandom",
      missingIf(z, () => 0.3),
    ),
    numbers(
      "missingByRisk",
      missingIf(other, (row) => 1 / (1 + Math.exp(-3 * logRisk[row]))),
    ),
    numbers(
      "missingAtTop",
      missingIf(other, (row) => (logRisk[row] > strength ? 0.95 : 0.02)),
    ),
    numbers(
      "id",
      each((row) => row + 1),
    ),
    categories(
      "site",
      Array.from({ length: N }, () => `site ${random.integer(sites)}`),
    ),
    categories(
      "text",
      Array.from({ length: N }, (_, row) => `patient ${row}`),
    ),
    dates(
      "entry",
      entry.map((value) => Math.round(10_000 + unit * value)),
    ),
    booleans(
      "low",
      z.map((value) => (value < fifth ? 1 : 0)),
    ),
    categories(
      "decile",
      Array.from(z, (value) => `decile ${deciles.filter((cut) => value >= cut).length}`),
    ),
    booleans("factor", factor),
    numbers(
      "onItsScale",
      each(() => random.integer(unit + 1)),
    ),
    numbers("prognosis", prognosis),
    numbers(
      "dose",
      logRisk.map((risk) => (risk < 0 ? 0 : Math.round(10 * (risk + random.normal())))),
    ),
    booleans(
      "newTreatment",
      entry.map((value) => (random.uniform() < value ? 1 : 0)),
    ),
    numbers(
      "missingBefore",
      missingIf(other, (row) => (entry[row] < 0.4 ? 1 : 0.1)),
    ),
  ];
  return { columns, outcomes: { time, event } };
}

/** How an honest study writes its table: the text, and its columns of the outcome. */
export interface HonestText {
  readonly text: string;
  readonly columns: { readonly time: string; readonly event: string; readonly origin?: string };
}

/**
 * The same people as a file, with what might be taken for a slip: measurements of exactly three decimals, times of any
 * unit and of a wide lognormal law, ids with leading zeros, dates with the day or the month first, heavy tails, counts
 * and scores up to 99 and 999, a column `censor` beside the event, genotypes that differ in capitals.
 */
export function writeHonest(seed: number, family = 2024): HonestText {
  const { columns, outcomes } = simulateHonest(seed, family);
  const random = createRandom(family + 1, seed);
  const N = outcomes.time.length;
  const kind = random.integer(10);
  const [separator, mark] =
    kind < 6 ? [",", "."] : kind < 8 ? [";", ","] : kind < 9 ? [";", "."] : ["\t", "."];
  const marked = (text: string) => text.replace(".", mark);
  const byDays = random.uniform() < 0.2;
  const isDayFirst = random.uniform() < 0.5;
  const date = (days: number) => {
    const [year, month, day] = new Date(days * 86_400_000).toISOString().slice(0, 10).split("-").map(Number);
    return isDayFirst ? `${day}/${month}/${year}` : `${month}/${day}/${year}`;
  };
  const width = 0.5 + 2 * random.uniform();
  const law = random.integer(5);
  const entry = Array.from({ length: N }, () => 14_000 + random.integer(2000));
  const times = Array.from(outcomes.time, (time) => {
    if (byDays || law < 2) return time;
    if (law === 2) return Number((time / 365.25).toFixed(3));
    const drawn = Math.exp(5 + width * random.normal());
    return law === 3 ? Math.ceil(drawn) : Number(drawn.toFixed(3));
  });
  const base = 1 + 8 * random.uniform();
  const written = new Map<string, (row: number) => string>([
    ["start", (row) => date(entry[row])],
    ["end", (row) => (byDays ? date(entry[row] + Math.ceil(times[row])) : marked(String(times[row])))],
    ["died", (row) => String(outcomes.event[row])],
    ["censor", (row) => String(1 - outcomes.event[random.integer(N) === 0 ? 0 : row])],
    ["pid", (row) => String(row + 1).padStart(5, "0")],
    ["fixed", () => marked((base + Math.abs(random.normal())).toFixed(3))],
    ["rounded", () => marked(String(Number((base * Math.exp(0.4 * random.normal())).toFixed(3))))],
    ["large", () => marked((150 + 40 * random.normal()).toFixed(3))],
    ["heavy", () => marked(String(Number((random.normal() / random.normal()).toPrecision(4))))],
    ["wide", () => String(Math.round(Math.exp(4 + 2 * random.normal())))],
    ["count", () => String(Math.floor(-6 * Math.log(1 - random.uniform())))],
    ["score", () => String(random.integer(100))],
    ["rank", () => String(1 + random.integer(1200))],
    ["change", () => String(Math.round(4 * random.normal()))],
    ["age", () => String(Math.min(99, Math.round(70 + 14 * random.normal())))],
    ["genotype", () => ["AA", "Aa", "aa"][random.integer(3)]],
    ["ward", () => ["Süd", "Nord", "Café", "St Mary", "St Mark"][random.integer(5)]],
  ]);
  for (const column of columns) written.set(column.name, (row) => marked(cellText(column, row)));
  const names = [...written.keys()];
  const cells = [...written.values()];
  const lines = Array.from({ length: N }, (_, row) => cells.map((cell) => cell(row)).join(separator));
  const origin = byDays ? { origin: "start" } : {};
  return {
    text: `${[names.join(separator), ...lines].join("\n")}\n`,
    columns: { time: "end", event: "died", ...origin },
  };
}
