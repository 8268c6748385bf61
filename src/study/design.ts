/**
 * The design of a study: which groups are inputs, and how columns become numbers, fitted to the rows to fit to. What is
 * left to the data is decided here, once, and kept in the encoder: splines only where there are events enough for them,
 * and whether skewed numbers enter by their logarithms and codes by their values (data/encode/number-shape.ts).
 */
import { type Encoder, findSplines } from "../data/encode/encoder.ts";
import { type EncoderOptions, fitEncoder } from "../data/encode/fit-encoder.ts";
import { chooseInputGroups, type Group, groupColumnName, widenTable } from "../data/groups/groups.ts";
import type { Split } from "../data/outcomes/split.ts";
import { canStart } from "../models/start/additive-start.ts";
import type { Design, Subject } from "./study.ts";

/** What a model sees of the columns. */
export interface EncodingRequest {
  /**
   * Groups whose membership is an input. "auto": the study's groups whose columns are features themselves; "none": no
   * groups.
   */
  readonly inputGroups?: readonly Group[] | "auto" | "none";
  /** "drop" leaves out the first level of a category, as Cox needs. */
  readonly reference?: "keep" | "drop";
  /** Also give each number its splines; "auto": where there are events enough for them. */
  readonly splines?: "auto" | boolean;
  /**
   * "auto" lets skewed numbers enter by their logarithms and gives codes a 0/1 column for each value; "raw" takes every
   * number as it is written, as Cox and the paper do.
   */
  readonly numbers?: "auto" | "raw";
}

/**
 * Events before a model gets splines unasked: this many at all, and this many for each of their columns. They count
 * among training and validation rows: a run ends by learning from both (docs/decisions/015-a-default-that-decides.md).
 */
const LEAST_EVENTS = 150;
const EVENTS_PER_SPLINE = 5;

/** The request with every choice named. */
export function completeEncoding(request: EncodingRequest): Required<EncodingRequest> {
  const { inputGroups = "auto", reference = "keep", splines = false, numbers = "raw" } = request;
  return { inputGroups, reference, splines, numbers };
}

/** The rows that a design is fitted to, and the groups of the study. */
interface DesignRows {
  readonly groups: readonly Group[];
  readonly fitRows: Int32Array;
  readonly split: Pick<Split, "validation">;
}

/** Chooses the input groups and fits the encoder. */
export function createDesign(
  { table, features, membersOf, outcomes }: Subject & { readonly features: readonly string[] },
  { groups, fitRows, split }: DesignRows,
  request: EncodingRequest,
): Design {
  const { inputGroups: asked, ...encoding } = completeEncoding(request);
  const chosen =
    asked === "none"
      ? []
      : asked === "auto"
        ? chooseInputGroups(membersOf(groups), table.rows, features, fitRows)
        : chooseInputGroups(membersOf(asked), table.rows, null, fitRows);
  const widened = widenTable(table, membersOf(chosen));
  const isCounted = new Uint8Array(table.rows);
  for (const rows of [fitRows, split.validation])
    for (const row of rows) isCounted[row] = outcomes.event[row];
  const events = isCounted.reduce((sum, one) => sum + one, 0);
  const fitWith = (options: Pick<EncoderOptions, "splines" | "logs" | "codes">) =>
    fitEncoder(widened, {
      features: [...features, ...chosen.map(groupColumnName)],
      rows: fitRows,
      reference: encoding.reference,
      rareLevels: "pool",
      ...options,
    });
  return { inputGroups: chosen, widened, encoder: decideEncoder(fitWith, encoding, events, chosen.length) };
}

/** The widest encoder that was asked for, or that the events allow. */
function decideEncoder(
  fitWith: (options: Pick<EncoderOptions, "splines" | "logs" | "codes">) => Encoder,
  { splines, numbers }: Pick<Required<EncodingRequest>, "splines" | "numbers">,
  events: number,
  groups: number,
): Encoder {
  const logs = numbers === "auto";
  // What is asked for by name is fitted, or refused where training would start without a prior for it.
  if (splines === true) return fitWith({ logs, codes: logs, splines: true });
  const isAllowed = (encoder: Encoder) => {
    const bends = findSplines(encoder).length;
    const isEnough = events >= Math.max(LEAST_EVENTS, EVENTS_PER_SPLINE * bends);
    return isEnough && canStart(encoder.names.length - groups);
  };
  if (splines === "auto") {
    const bent = fitWith({ logs, codes: logs, splines: true });
    if (isAllowed(bent)) return bent;
  }
  if (logs) {
    const coded = fitWith({ logs, codes: true });
    if (isAllowed(coded)) return coded;
  }
  return fitWith({ logs });
}
