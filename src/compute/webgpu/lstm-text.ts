/** What the texts of the LSTM's two kernels share: their sizes, and lines repeated over what a thread owns. */
import type { LstmPlan } from "./lstm-plan.ts";
import { repeat } from "./wgsl.ts";

type Lines = (index: string) => string;

export interface LstmText extends LstmPlan {
  /** Pairs of a row and four units, in a tile. */
  readonly cells: number;
  /** Units with those that fill the last four. */
  readonly units: number;
  /** For each row of weights that a thread owns. */
  eachOwned(lines: Lines): string;
  eachQuad(lines: Lines): string;
  /** For each row of the tile. */
  eachRow(lines: Lines): string;
  /** For each pair of a row and four units that is the thread's; `i` is its number. */
  eachTask(lines: Lines): string;
}

export function writeLstm(plan: LstmPlan): LstmText {
  const { quads, tileRows, threads, owned, tasks, inRegisters } = plan;
  const cells = tileRows * quads;
  return {
    ...plan,
    cells,
    units: 4 * quads,
    eachOwned: (lines) => repeat("g", owned, inRegisters, (g) => `{\n${lines(g)}\n}`),
    eachQuad: (lines) => repeat("k", quads, inRegisters, lines),
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
