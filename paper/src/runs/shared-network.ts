/**
 * Networks that several systems of a plan have in common: MCBoostSurv, in either form, repairs the curves of a network
 * that is a system of its own, trained alike to the bit. Who runs many lines keeps it on a shelf and trains it once.
 */
import type { Model, PresetName } from "graduate/training";
import type { Plan, RunLine, SystemName } from "./plan.ts";

export function isBoosted(system: SystemName): boolean {
  return system === "mcboost" || system === "mcboost reference";
}

/** Whose curves MCBoostSurv repairs. */
export function boostedNetwork(preset: PresetName): "drsa" | "drsa without tail" {
  return preset === "paper" ? "drsa" : "drsa without tail";
}

/** What runs of the same network have in common; null where no other system of the plan has the same. */
export function networkKey({ name, preset }: Pick<Plan, "name" | "preset">, line: RunLine): string | null {
  const { cohort, system, seed } = line;
  if (!isBoosted(system) && system !== boostedNetwork(preset)) return null;
  return JSON.stringify([name, cohort, seed]);
}

/** Where a network may be found that was trained before, and is left for others. */
export interface NetworkShelf {
  find(): Model | undefined;
  keep(model: Model): void;
}
