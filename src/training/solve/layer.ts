/**
 * From a solution to the layer that a model file holds: the baseline of every bin, the coefficient of every input in
 * every block, and the chances of membership.
 */
import { baseParameter, type HeldSpec } from "../../models/networks/held.ts";
import type { ParameterValues } from "../../models/networks/parameters.ts";
import { type Layout, offsetAt } from "./layout.ts";

export interface SolvedLayer {
  readonly spec: HeldSpec;
  readonly parameters: ParameterValues;
}

/** `membership`: a row of coefficients over the first columns of x, and a level, for each chance. */
export function createLayer(
  base: HeldSpec["base"],
  parameters: ParameterValues,
  { layout, told }: { readonly layout: Layout; readonly told: number },
  theta: Float64Array,
  membership: readonly Float64Array[],
): SolvedLayer {
  const { D, T } = base;
  const { dense, blocks, blockOf, binOf, at } = layout;
  const B = blocks.length;
  const chances = membership.length;
  const coefficients = new Float64Array((D + chances) * B);
  for (let j = 0; j < dense; j++) coefficients.fill(theta[j], j * B, (j + 1) * B);
  for (let s = 0; s < told + chances; s++) {
    const input = s < told ? D - told + s : D + s - told;
    for (let b = 0; b < B; b++)
      coefficients[input * B + b] += theta[dense + s] + theta[offsetAt(layout, b, s)];
  }
  const rows = membership.flatMap((row) => {
    const whole = new Float64Array(D + 1);
    whole.set(row.subarray(0, row.length - 1));
    whole[D] = row[row.length - 1];
    return Array.from(whole);
  });
  return {
    spec: { kind: "held", D, T, base, blocks: blocks.map(({ last }) => last), chances },
    parameters: {
      ...Object.fromEntries(
        Object.entries(parameters).map(([name, values]) => [baseParameter(name), values]),
      ),
      "held.baseline": Array.from({ length: T }, (_, t) => theta[at[blockOf[t]] + binOf[t]]),
      "held.coefficients": Array.from(coefficients),
      ...(chances > 0 && { "held.membership": rows }),
    },
  };
}
