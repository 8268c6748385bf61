/**
 * The order in which a person lists the levels of a category: numbers inside texts count as numbers ("stage 2" before
 * "stage 10"), and bands follow their numbers, those that are open below first and those that are open above last
 * ("<=20", "20-50", ">50"). Everything else is ordered by code unit.
 */

const OPEN_BELOW = /^\s*(?:<|≤)/;
const OPEN_ABOVE = /^\s*(?:>|≥)/;
const TOKENS = /\d+(?:\.\d+)?|\D+/g;

function openness(level: string): number {
  return OPEN_BELOW.test(level) ? -1 : OPEN_ABOVE.test(level) ? 1 : 0;
}

/** Negative where `a` comes first. */
export function compareLevels(a: string, b: string): number {
  const open = openness(a);
  if (open !== openness(b)) return open - openness(b);
  // Within one kind of open band the number decides, not how the sign is written.
  const strip = (text: string) => (open === 0 ? text : text.replace(/^[\s<>≤≥=]+/, ""));
  const tokensOfA: readonly string[] = strip(a).match(TOKENS) ?? [];
  const tokensOfB: readonly string[] = strip(b).match(TOKENS) ?? [];
  for (let i = 0; i < Math.min(tokensOfA.length, tokensOfB.length); i++) {
    const [x, y] = [tokensOfA[i], tokensOfB[i]];
    const difference = Number(x) - Number(y);
    if (!Number.isNaN(difference) && difference !== 0) return difference;
    if (Number.isNaN(difference) && x !== y) return x < y ? -1 : 1;
  }
  return tokensOfA.length - tokensOfB.length || (a < b ? -1 : a > b ? 1 : 0);
}
