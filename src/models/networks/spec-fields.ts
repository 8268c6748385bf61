/** Fields that the descriptions of several networks share in files, and checks that involve two fields together. */
import * as z from "zod";
import { totalHazards } from "./initialise.ts";

export const sizeSchema = z.int().min(1);

/** The most that a byte of a cause counts. */
const MAX_CAUSES = 255;

export const causesSchema = z.int().min(2).max(MAX_CAUSES);

/** What a description says of causes: nothing where there is one event. */
export function describeCauses(causes: number | undefined): { readonly causes?: number } {
  return causes === undefined || causes === 1 ? {} : { causes };
}

/** Checked as a whole list, so that a long wrong one makes one complaint. */
export const hazardsSchema = z.custom<number[]>(
  (list) => Array.isArray(list) && list.every((h) => typeof h === "number" && h > 0 && h < 1),
  "expected hazards between 0 and 1",
);

interface Described {
  readonly D: number;
  readonly T: number;
  readonly causes?: number;
  readonly groups?: number;
  readonly baselineHazard?: readonly number[];
}

/** The arguments of `refine`. */
type Question = readonly [(spec: Described) => boolean, { path: string[]; message: string }];

export const groupsFit: Question = [
  ({ D, groups = 0 }) => groups <= D,
  { path: ["groups"], message: "expected no more group columns than columns" },
];

const isAsLong = ({ T, causes = 1, baselineHazard }: Described) =>
  (baselineHazard?.length ?? T * causes) === T * causes;

export const hazardsFit: Question = [
  isAsLong,
  { path: ["baselineHazard"], message: "expected one baseline hazard a bin" },
];

/** A list of another length is complained of once, by the question before. */
export const hazardsLeaveSome: Question = [
  (spec) => {
    const { T, causes = 1, baselineHazard } = spec;
    if (baselineHazard === undefined || !isAsLong(spec)) return true;
    return totalHazards(T, causes, baselineHazard).every((total) => total < 1);
  },
  { path: ["baselineHazard"], message: "expected hazards whose sum over the causes is below 1" },
];
