/** What the texts of the kernels of lanes-plan.ts share. */

import { repeat, writeActivations } from "../wgsl.ts";
import type { LanesPlan } from "./lanes-plan.ts";

type Lines = (index: string) => string;

export interface LanesText extends LanesPlan {
  /** Vectors of a tile for one unit. */
  readonly across: number;
  /** The type of a vector of rows. */
  readonly vector: string;
  /** For each hidden unit of the thread's quarter. */
  eachOther(lines: Lines): string;
  /** For each vector of the thread's block. */
  eachVector(lines: (e: number) => string): string;
  /** The value that the thread with this bit of its number turned has. */
  pass(value: string, bit: number): string;
  /** Σ of a vector's rows. */
  total(value: string): string;
}

const TYPES = { 1: "f32", 2: "vec2f", 4: "vec4f" } as const;
export const FOUR = [0, 1, 2, 3] as const;

export function writeLanes(plan: LanesPlan): LanesText {
  const { width, vectors, quarter, lanes, writtenOut } = plan;
  return {
    ...plan,
    across: 4 * vectors,
    vector: TYPES[width],
    eachOther: (lines) => repeat("k", quarter, writtenOut, lines),
    eachVector: (lines) => Array.from({ length: vectors }, (_, e) => lines(e)).join("\n"),
    pass: (value, bit) =>
      bit < lanes ? `subgroupShuffleXor(${value}, ${bit}u)` : `passThroughMemory(${value}, thread ^ ${bit}u)`,
    total: (value) => (width === 1 ? value : `dot(${value}, ${TYPES[width]}(1.0))`),
  };
}

/** Which unit is the thread's, and which quarter of the hidden units and of the rows. */
export const PLACE_THREAD = `
  let unit = thread / 4u;
  let q = thread % 4u;`;

/**
 * Blocks are taken in an order that differs among the four threads: the b-th is b ^ q. Then a thread always passes on
 * its last two sums and keeps its first two, whoever it is, and registers need not be chosen by its number.
 */
export function placeBlocks({ across, vectors }: LanesText): string {
  return FOUR.map((b) => `let start${b} = q * ${across}u + (${b}u ^ q) * ${vectors}u;`).join("\n  ");
}

/** Sets `own` to the whole sums of the thread's own block: `sums` are [4, block, vector]. */
export function gatherSums(
  { vectors, pass, eachVector }: LanesText,
  own: (g: number, e: number) => string,
): string {
  const at = (g: number, b: number, e: number) => `sums[${(g * 4 + b) * vectors + e}]`;
  return FOUR.map((g) =>
    eachVector(
      (e) => `{
      let near = ${at(g, 0, e)} + ${pass(at(g, 2, e), 2)};
      let far = ${at(g, 1, e)} + ${pass(at(g, 3, e), 2)};
      ${own(g, e)} = near + ${pass("far", 1)};
    }`,
    ),
  ).join("\n");
}

/** Declares `sums`, cleared line by line: a variable's own first value is not set again in every round of a loop. */
export function clearSums({ vector, vectors }: LanesText): string {
  const sums = Array.from({ length: 16 * vectors }, (_, k) => `sums[${k}] = ${vector}(0.0);`);
  return `var sums: array<${vector}, ${16 * vectors}>; ${sums.join(" ")}`;
}

/** Adds to `sums` the products of four weights of a thread, `weights[g·quarter + k]`, with all rows of `array`. */
export function multiplyRows4(
  { across, vectors, quarter, eachOther, eachVector }: LanesText,
  array: string,
): string {
  const add = (g: number, b: number, e: number, k: string) =>
    `sums[${(g * 4 + b) * vectors + e}] += weights[${g * quarter}u + ${k}] * rows;`;
  return eachOther((k) =>
    FOUR.map((b) =>
      eachVector(
        (e) => `{
        let rows = ${array}[from${b} + ${k} * ${4 * across}u + ${e}u];
        ${FOUR.map((g) => add(g, b, e, k)).join("\n        ")}
      }`,
      ),
    ).join("\n"),
  );
}

export function declareLanes({ vector, lanes, threads }: LanesText, farthest: number): string {
  return `
${writeActivations(vector)}
${
  farthest < lanes
    ? ""
    : `
var<workgroup> passed: array<${vector}, ${threads}>;
var<private> ownThread: u32;
fn passThroughMemory(value: ${vector}, other: u32) -> ${vector} {
  passed[ownThread] = value;
  workgroupBarrier();
  let got = passed[other];
  workgroupBarrier();
  return got;
}`
}`;
}
