/**
 * What the kernels need to compute tanh as core/elementary.ts does, to the last bit: the constants of e^x and its table
 * of 2^(j/64), each in two pieces. Written into shared memory once per backend (kernels/tanh.ts says where each number
 * lies).
 */
import { LOG_OF_POWER_STEP, powersOfTwo } from "../../core/elementary-tables.ts";

export function buildTanhTable(): Float64Array {
  const { high: step, low: stepRest } = LOG_OF_POWER_STEP;
  const { high, low } = powersOfTwo();
  return Float64Array.of(1 / step, step, stepRest, ...high, ...low);
}
