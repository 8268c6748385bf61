/** What the texts of the LSTM's two kernels share: their sizes, and lines repeated over what a thread owns. */

import { repeat } from "../wgsl.ts";
import type { LstmPlan } from "./lstm-plan.ts";

type Lines = (index: string) => string;

export interface LstmText extends LstmPlan {
  /** Pairs of a row and four units, in a tile. */
  readonly cells: number;
  /** Units with those that fill the last four. */
  readonly units: number;
  /** Fours of a row in workgroup memory, with those that fill the last part. */
  readonly stride: number;
  /** For each pair of units that a thread owns. */
  eachOwned(lines: Lines): string;
  /** For each four of the thread's part. */
  eachQuad(lines: Lines): string;
  /** For each row of the tile. */
  eachRow(lines: Lines): string;
  /** For each pair of a row and four units that is the thread's; `i` is its number. */
  eachTask(lines: Lines): string;
}

/** The lane and part of a thread; threads beyond the last part repeat it and write nothing. */
export function placeThread({ lanes, splits }: LstmPlan): string {
  return `
  let lane = thread % ${lanes}u;
  let isSpare = thread >= ${lanes * splits}u;
  let part = min(thread / ${lanes}u, ${splits - 1}u);`;
}

/** The pair of a slot: `gate`, 4 for the output weights and more beyond, and its first unit. */
export function placePair({ pairs, lanes }: LstmPlan, g: string): string {
  return `
    let slot = lane + ${g} * ${lanes}u;
    let gate = slot / ${pairs}u;
    let unit = slot % ${pairs}u * 2u;`;
}

export function writeLstm(plan: LstmPlan): LstmText {
  const { quads, tileRows, threads, owned, tasks, inRegisters, splits, partQuads } = plan;
  const cells = tileRows * quads;
  return {
    ...plan,
    cells,
    units: 4 * quads,
    stride: splits * partQuads,
    eachOwned: (lines) => repeat("g", owned, inRegisters, (g) => `{\n${lines(g)}\n}`),
    eachQuad: (lines) => repeat("k", partQuads, inRegisters, lines),
    eachRow: (lines) => repeat("s", tileRows, inRegisters, lines),
    eachTask: (lines) =>
      repeat(
        "m",
        tasks,
        inRegisters,
        (m) => `{
      let i = thread + ${m} * ${threads}u;
      if (i < ${cells}u) {
        ${lines(m)}
      }
    }`,
      ),
  };
}
