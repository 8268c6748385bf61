/** What the texts of the kernels of lanes-plan.ts share. */

import { repeat, writeActivations } from "../wgsl.ts";
import type { LanesPlan } from "./lanes-plan.ts";

type Lines = (index: string) => string;

export interface LanesText extends LanesPlan {
  /** The types of a vector on the tape and of the block's e-th. */
  readonly tapeType: string;
  typeOf(e: number): string;
  /** For each hidden unit of the thread's quarter. */
  eachOther(lines: Lines): string;
  /** For each vector of the thread's block. */
  eachVector(lines: (e: number) => string): string;
  /** Number e's rows, each by its number in the tile, as one vector. */
  gatherRows(e: number, number: (row: string) => string): string;
  /** Vector e of quantity k on the tape, from its bin's place `at` on: read, or written as a statement. */
  taped(at: string, k: number, e: number): string;
  keep(at: string, k: number, e: number, value: string): string;
  /** The value, a vector like e, that the thread with this bit of its number turned has. */
  pass(value: string, bit: number, e: number): string;
  /** Σ of the rows of a vector like e. */
  total(value: string, e: number): string;
}

const TYPES = { 1: "f32", 2: "vec2f", 4: "vec4f" } as const;
export const FOUR = [0, 1, 2, 3] as const;

export function writeLanes(plan: LanesPlan): LanesText {
  const { H, widths, tapeWidth, quarter, lanes, writtenOut } = plan;
  const block = plan.tileRows / 4;
  const firstRow = (e: number) => widths.slice(0, e).reduce<number>((sum, width) => sum + width, 0);
  const typeOf = (e: number) => TYPES[widths[e]];
  /** The places on the tape that hold vector e, one after the other. */
  const placesOf = (at: string, k: number, e: number) =>
    Array.from(
      { length: widths[e] / tapeWidth },
      (_, c) => `tape[${at} + ${((k * block + firstRow(e)) / tapeWidth + c) * 4 * H}u]`,
    );
  return {
    ...plan,
    tapeType: TYPES[tapeWidth],
    typeOf,
    eachOther: (lines) => repeat("k", quarter, writtenOut, lines),
    eachVector: (lines) => widths.map((_, e) => lines(e)).join("\n"),
    gatherRows: (e, number) => {
      const rows = Array.from({ length: widths[e] }, (_, c) =>
        number(`(q * ${block}u + ${firstRow(e) + c}u)`),
      );
      return `${typeOf(e)}(${rows.join(", ")})`;
    },
    taped: (at, k, e) => `${typeOf(e)}(${placesOf(at, k, e).join(", ")})`,
    keep(at, k, e, value) {
      const places = placesOf(at, k, e);
      if (places.length === 1) return `${places[0]} = ${value};`;
      return places.map((place, c) => `${place} = ${value}[${c}];`).join(" ");
    },
    pass: (value, bit, e) =>
      bit < lanes
        ? `subgroupShuffleXor(${value}, ${bit}u)`
        : `passThroughMemory${widths[e]}(${value}, thread ^ ${bit}u)`,
    total: (value, e) => (widths[e] === 1 ? value : `dot(${value}, ${typeOf(e)}(1.0))`),
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
export const PLACE_BLOCKS = FOUR.map((b) => `let start${b} = q * 4u + (${b}u ^ q);`).join("\n  ");

/** Sets `own` to the whole sums of the thread's own block: `sums` of a vector are [4, block]. */
export function gatherSums({ pass, eachVector }: LanesText, own: (g: number, e: number) => string): string {
  return FOUR.map((g) =>
    eachVector((e) => {
      const at = (b: number) => `sums${e}[${g * 4 + b}]`;
      return `{
      let near = ${at(0)} + ${pass(at(2), 2, e)};
      let far = ${at(1)} + ${pass(at(3), 2, e)};
      ${own(g, e)} = near + ${pass("far", 1, e)};
    }`;
    }),
  ).join("\n");
}

/** Declares `sums`, cleared line by line: a variable's own first value is not set again in every round of a loop. */
export function clearSums({ typeOf, eachVector }: LanesText): string {
  return eachVector((e) => {
    const sums = Array.from({ length: 16 }, (_, k) => `sums${e}[${k}] = ${typeOf(e)}(0.0);`);
    return `var sums${e}: array<${typeOf(e)}, 16>; ${sums.join(" ")}`;
  });
}

/** Adds to `sums` the products of four weights of a thread, `weights[g·quarter + k]`, with all rows of `array`. */
export function multiplyRows4({ quarter, eachOther, eachVector }: LanesText, array: string): string {
  const add = (g: number, b: number, e: number, k: string) =>
    `sums${e}[${g * 4 + b}] += weights[${g * quarter}u + ${k}] * rows;`;
  return eachOther((k) =>
    FOUR.map((b) =>
      eachVector(
        (e) => `{
        let rows = ${array}${e}[from${b} + ${k} * 16u];
        ${FOUR.map((g) => add(g, b, e, k)).join("\n        ")}
      }`,
      ),
    ).join("\n"),
  );
}

/** One array in workgroup memory for each vector of a block. */
export function declareRows({ typeOf, eachVector }: LanesText, array: string, length: number): string {
  return eachVector((e) => `var<workgroup> ${array}${e}: array<${typeOf(e)}, ${length}>;`);
}

export function declareLanes({ widths, lanes, threads }: LanesText, farthest: number): string {
  const types = [...new Set(widths)];
  const passes = types.map(
    (width) => `
var<workgroup> passed${width}: array<${TYPES[width]}, ${threads}>;
fn passThroughMemory${width}(value: ${TYPES[width]}, other: u32) -> ${TYPES[width]} {
  passed${width}[ownThread] = value;
  workgroupBarrier();
  let got = passed${width}[other];
  workgroupBarrier();
  return got;
}`,
  );
  return `
${types.map((width) => writeActivations(TYPES[width])).join("")}
${farthest < lanes ? "" : `var<private> ownThread: u32;${passes.join("")}`}`;
}
