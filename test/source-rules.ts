// How tests that hold rules against sources read them: what a module imports, its code without comments, and what no
// module may call whose numbers have to be the same on every engine.

export function importsOf(text: string): string[] {
  return [...text.matchAll(/(?:from|import)\s*\(?\s*"([^"]+)"/g)].map((match) => match[1]);
}

/** The code without its comments, so that a word in a sentence is not mistaken for a call. */
export function codeOf(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, "").replace(/(^|\s)\/\/.*$/gm, "");
}

/**
 * ECMAScript leaves their last digits to the engine; what it defines to the last bit (sqrt, floor, fround, …) is not
 * among them.
 */
export const ENGINES_OWN =
  /\bMath\.(a?(cos|sin|tan)h?|atan2|cbrt|exp|expm1|hypot|log|log10|log1p|log2|pow)\b|(?<!\b2 )\*\*|\*\*(?! \d+\b(?!\.))/;
