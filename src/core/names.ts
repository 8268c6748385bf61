/**
 * Names: those of a choice, and the one somebody meant. A choice is written once, as an object that maps each name to
 * its meaning; options and schemas take its names from here. A misspelt name gets the nearest one for "did you mean
 * …?".
 */

/** The names of a choice, in the order in which it lists them. */
export function namesOf<Name extends string>(choice: Readonly<Record<Name, unknown>>): readonly Name[] {
  return Object.keys(choice) as Name[];
}

/** More than two slips make another word. */
const MOST_SLIPS = 2;
/** So does a second one in a word shorter than this ("stage" is not "age"), … */
const LEAST_FOR_TWO = 6;
/** … and any in a word shorter than this. */
const LEAST_FOR_ONE = 3;

/**
 * A letter too many, too few or replaced by another is one slip, and so are two letters swapped; a difference in case
 * or in leading zeros is none. Undefined where every candidate is a different word.
 */
export function nearestName(name: string, candidates: readonly string[]): string | undefined {
  let nearest: string | undefined;
  let least = MOST_SLIPS + 1;
  for (const candidate of candidates) {
    const length = Math.max(name.length, candidate.length);
    const allowed = length >= LEAST_FOR_TWO ? MOST_SLIPS : length >= LEAST_FOR_ONE ? 1 : 0;
    const slips = simplify(candidate) === simplify(name) ? 0 : countSlips(name, candidate);
    if (slips >= least || slips > allowed) continue;
    nearest = candidate;
    least = slips;
  }
  return nearest;
}

function simplify(name: string): string {
  return name.toLowerCase().replace(/^0+(?=\d)/, "");
}

/**
 * Levenshtein distance in which swapping neighbours is one step; texts that differ too much in length are not measured.
 */
function countSlips(a: string, b: string): number {
  if (Math.abs(a.length - b.length) > MOST_SLIPS) return Number.POSITIVE_INFINITY;
  let before: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const current = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = previous[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1);
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swapped = isSwap ? before[j - 2] + 1 : Number.POSITIVE_INFINITY;
      current.push(Math.min(replaced, swapped, previous[j] + 1, current[j - 1] + 1));
    }
    before = previous;
    previous = current;
  }
  return previous[b.length];
}
