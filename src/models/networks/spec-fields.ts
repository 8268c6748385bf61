/** Fields that the descriptions of several networks share in files, and checks that involve two fields together. */
import { z } from "zod";

export const sizeSchema = z.int().min(1);

/** Checked as a whole list, so that a long wrong one makes one complaint. */
export const hazardsSchema = z.custom<number[]>(
  (list) => Array.isArray(list) && list.every((h) => typeof h === "number" && h > 0 && h < 1),
  "expected hazards between 0 and 1",
);

interface Described {
  readonly D: number;
  readonly T: number;
  readonly groups?: number;
  readonly baselineHazard?: readonly number[];
}

/** The arguments of `refine`. */
type Question = readonly [(spec: Described) => boolean, { path: string[]; message: string }];

export const groupsFit: Question = [
  ({ D, groups = 0 }) => groups <= D,
  { path: ["groups"], message: "expected no more group columns than columns" },
];

export const hazardsFit: Question = [
  ({ T, baselineHazard }) => (baselineHazard?.length ?? T) === T,
  { path: ["baselineHazard"], message: "expected one baseline hazard a bin" },
];
