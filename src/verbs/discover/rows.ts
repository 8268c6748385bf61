/**
 * Which rows discover searches and which confirm: halves by seed with equally many events, or the rows the caller sets
 * apart. Also how much more the confirming rows vary than independent rows about right curves would, because the curves
 * were learnt from few rows and because rows of one person are dependent. The dependence is measured on these rows as
 * Rao and Scott's design effect: with u = observed − expected events of a row, Σ_people (Σ u)² / Σ_rows u², at least 1.
 * A table in which every row occurs twice gives 2.
 */

import { InputError } from "../../core/errors.ts";
import { createRandom } from "../../core/random.ts";
import type { BinnedSingleCause } from "../../data/outcomes/outcomes.ts";
import type { People } from "../../data/outcomes/people.ts";
import { splitByOrder } from "../../data/outcomes/split.ts";
import type { BlockTotals } from "../../stats/search/excess-events.ts";

export interface Halves {
  readonly search: Int32Array;
  readonly confirm: Int32Array;
}

/**
 * The part of a training sample's chance variation that its curves take over. About true Cox models of 38 columns and
 * 160 training events, unseen events varied 1.7 times as much as about right curves, with 0.67 confirming rows for each
 * training row: all of the sample's chance variation. With this part of it, 3 to 4 % of such models had any group
 * confirmed (docs/decisions/010-discover.md).
 */
const LEARNT_CHANCE = 0.5;
/** A separate stream of the seed: a model's split with the same seed shares no draws with these halves. */
const HALVES_STREAM = 0xd15c;

/** Halves of the rows, or of the people if given. */
export function divideRows(outcomes: BinnedSingleCause, seed: number, people?: People): Halves {
  const N = people?.count ?? outcomes.bin.length;
  if (N < 2) {
    const unit = people === undefined ? "rows" : "people";
    throw new InputError(`too few ${unit} to divide into halves: ${N}`, { code: "rows.few" });
  }
  const drawn = createRandom(seed, HALVES_STREAM).integer(2 ** 31);
  const { train, test } = splitByOrder(outcomes.bin.length, {
    fractions: [0.5, 0, 0.5],
    seed: drawn,
    stratifyBy: outcomes.event,
    ...(people === undefined ? {} : { people }),
  });
  return { search: train, confirm: test };
}

export function keepApart(confirmRows: ArrayLike<number>, N: number, people?: People): Halves {
  const confirms = new Uint8Array(N);
  for (let k = 0; k < confirmRows.length; k++) confirms[confirmRows[k]] = 1;
  const rows = Int32Array.from({ length: N }, (_, row) => row);
  const halves = {
    search: rows.filter((row) => confirms[row] === 0),
    confirm: rows.filter((row) => confirms[row] === 1),
  };
  if (halves.search.length === 0 || halves.confirm.length === 0) {
    throw new InputError(
      `there are no rows to search, or none to confirm: ${halves.search.length} and ${halves.confirm.length}`,
      { code: "rows.few" },
    );
  }
  if (people !== undefined) {
    const confirming = new Set(Array.from(halves.confirm, (row) => people.of[row]));
    const searched = new Set(Array.from(halves.search, (row) => people.of[row]));
    const both = [...searched].filter((person) => confirming.has(person)).length;
    if (both > 0) {
      const who = both === 1 ? "1 person has" : `${both} people have`;
      throw new InputError(`${who} rows both among those that are searched and among those that confirm`, {
        code: "split.people",
        hint:
          "train the model with --id, so that the rows of a person stay together, " +
          "or search a table it has not seen",
      });
    }
  }
  return halves;
}

/**
 * How much more the events of confirming rows vary about curves learnt from `trainingRows` rows than about right ones.
 */
export function allowForLearning(confirming: number, trainingRows: number | undefined): number {
  return trainingRows === undefined ? 1 : 1 + (LEARNT_CHANCE * confirming) / trainingRows;
}

/** How much more the events of these rows vary in sum than those of independent rows; `people` covers the same rows. */
export function designEffect({ N, B, width, values }: BlockTotals, people?: People): number {
  if (people === undefined) return 1;
  const ofPerson = new Float64Array(people.count);
  let squares = 0;
  for (let row = 0; row < N; row++) {
    let excess = 0;
    for (let b = 0; b < B; b++) excess += values[row * width + b] - values[row * width + B + b];
    ofPerson[people.of[row]] += excess;
    squares += excess * excess;
  }
  const together = ofPerson.reduce((sum, one) => sum + one * one, 0);
  return squares > 0 ? Math.max(1, together / squares) : 1;
}
