// Loss and constraints of a training step of two causes, from logits in a backend's memory to their slopes there: the
// host's, or the backend's kernels' where it has them.
import { expect } from "vitest";
import type { Backend } from "../../src/compute/backend.ts";
import { createRandom } from "../../src/core/random.ts";
import type { BinnedOutcomes } from "../../src/data/outcomes/outcomes.ts";
import { causeRows } from "../../src/objectives/causes/cause-rows.ts";
import type { DistanceName } from "../../src/objectives/distances/list.ts";
import { createHostLoss } from "../../src/training/host-loss.ts";
import { createLagrangian } from "../../src/training/lagrangian/lagrangian.ts";
import { seeRows } from "../../src/training/rows/cause-view.ts";
import { draw, type Numbers } from "./problems.ts";

export interface StepOfCauses {
  readonly N: number;
  readonly K: number;
  readonly T: number;
  readonly distance: DistanceName;
  readonly strata?: number;
}

function drawOutcomes({ N, K, T }: StepOfCauses): BinnedOutcomes {
  const random = createRandom(N, K);
  const bin = Int32Array.from({ length: N }, () => 1 + random.integer(T));
  const cause = Uint8Array.from({ length: N }, () => random.integer(K + 1));
  return { T, bin, cause, event: cause.map((one) => Math.min(one, 1)) };
}

/** What a step finds at these logits, and where it would move them. */
export async function runStepOfCauses(backend: Backend, asked: StepOfCauses): Promise<Numbers> {
  const { N, K, T, distance, strata = 1 } = asked;
  const binned = drawOutcomes(asked);
  const people = Int32Array.from({ length: N }, (_, n) => n);
  const causes = Array.from({ length: K }, (_, k) => `cause ${k + 1}`);
  const groups = [
    { name: "all", rows: people },
    { name: "even", rows: people.filter((n) => n % 2 === 0) },
  ];
  const lagrangian = createLagrangian({
    constraint: { distance, variant: "default", slack: 0.001, strata },
    dual: { form: "ascent", rate: 0.5, start: 1.5 },
    ...seeRows({ binned, groups, causes }),
    people: N,
    seed: 1,
  });
  const objective = { kind: "likelihood", tail: false } as const;
  const loss = createHostLoss(backend, { objective, lagrangian, binned, K, room: N });
  backend.write(
    loss.logits,
    draw(N * K * T, 5).map((z) => z - 2),
  );
  await loss.readLogits(N);
  const filling = lagrangian.refill();
  filling.take(loss.curves, causeRows(people, K));
  filling.finish();
  lagrangian.takeDualStep(1);
  expect(lagrangian.constraints.groups.filter(({ constrained }) => constrained).length).toBeGreaterThan(1);
  const { loss: value, term } = await loss.differentiate(people, 1);
  return {
    dLogits: await backend.read(loss.dLogits),
    said: Float64Array.of(value, term),
    distances: lagrangian.distances(),
    multipliers: lagrangian.multipliers,
  };
}
