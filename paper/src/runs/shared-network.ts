/**
 * Networks that several systems of a plan have in common: MCBoostSurv, in either form, repairs the curves of a network
 * that is a system of its own, with bit-identical training. A caller who runs many lines keeps the network on a shelf
 * and trains it once.
 */
import type { Model, PresetName } from "graduate-survival/training";
import type { Plan, RunLine, SystemName } from "./plan.ts";

export function isBoosted(system: SystemName): boolean {
  return system === "mcboost" || system === "mcboost reference";
}

/** The network whose curves MCBoostSurv repairs. */
export function boostedNetwork(preset: PresetName): "drsa" | "drsa without tail" {
  return preset === "paper" ? "drsa" : "drsa without tail";
}

/** A key that runs of the same network share; null where no other system of the plan has the same network. */
export function networkKey({ name, preset }: Pick<Plan, "name" | "preset">, line: RunLine): string | null {
  const { cohort, system, seed } = line;
  if (!isBoosted(system) && system !== boostedNetwork(preset)) return null;
  return JSON.stringify([name, cohort, seed]);
}

/** Where a network trained earlier may be found, and where one is left for others. */
export interface NetworkShelf {
  find(): Model | undefined;
  keep(model: Model): void;
}
