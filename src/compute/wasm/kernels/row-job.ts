/**
 * The words of a job over rows in float64 (curves, likelihood, group sums, the additive part). The first words, up to
 * JOB_SCRATCH_BYTES, are those of job.ts. Both compilers read this file. A word that is an address may be 0 where an
 * operation does without the array.
 */

export const ROW_N = 9;
export const ROW_T = 10;
/** float32 [N,T], and what is written or changed there. */
export const ROW_LOGITS = 11;
export const ROW_D_LOGITS = 12;
/** float64 [N,T]. */
export const ROW_HAZARD = 13;
export const ROW_SURVIVAL = 14;
/** The table of e^−a: its constants, then the powers (objectives/exponential.ts). */
export const ROW_TABLE = 15;
/** int32: the training row of each row; of all training rows, their last bin and whether it is an event. */
export const ROW_ROWS = 16;
export const ROW_BIN = 17;
export const ROW_EVENT = 18;
/** float64 [N,4]: what the host needs of each row; see likelihood.ts. */
export const ROW_VALUES = 19;
/** Set to 1 by any row with a logit beyond the table, whose results are then not to be used. */
export const ROW_BEYOND = 20;
/** 1 where event rows have the tail term. */
export const ROW_TAIL = 21;
/** A float64 in two words: what each row's gradient is multiplied by. */
export const ROW_SHARE = 22;

/** Of group sums: int32 order of the rows, combination of each training row, and the groups of each combination. */
export const ROW_ORDER = 24;
export const ROW_COMBINATION = 25;
/** Where each combination's groups begin in ROW_MEMBERS; one more than there are combinations. */
export const ROW_FIRST_MEMBER = 26;
export const ROW_MEMBERS = 27;
/** float64: every row's terms [training rows,T] or 0, sums of groups [G,T] or their slopes, and a group's share [G]. */
export const ROW_TERMS = 28;
export const ROW_SUMS = 29;
export const ROW_GROUP_SHARE = 30;

/** Of several causes, whose rows are people and whose arrays are [N,K,T]: K, float64 slopes of what causes have. */
export const ROW_CAUSES = 24;
export const ROW_CONDITIONAL = 25;
/** Of all training rows, or 0: int32 first bins, float64 weights. */
export const ROW_FIRST_BIN = 26;
export const ROW_WEIGHT = 27;

/** Of the additive part, which uses these words in its own way: features, weights or gradients, group columns. */
export const ROW_D = 13;
export const ROW_X = 14;
export const ROW_BASELINE = 15;
export const ROW_SKIP = 16;
export const ROW_OFFSETS = 17;
export const ROW_GROUPS = 18;
export const ROW_KNOTS = 19;
/** int32 [T] and float64 [T]: the knot before each bin and the bin's way to the next. */
export const ROW_KNOT = 20;
export const ROW_KNOT_SHARE = 21;
/** Numbers from a row's logits to the next row's: other causes lie between them. */
export const ROW_STRIDE = 24;

/** Numbers that a row leaves for the host: loss without its logarithm, Q at its own bin; both at the last bin. */
export const ROW_VALUE_COUNT = 4;
