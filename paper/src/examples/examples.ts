/**
 * The examples of the paper's discussion, computed: its three counterexamples to other scores, one to its own
 * constraint, discrimination against calibration, and the under-60 illustration. No model is trained on real people;
 * example-page.ts makes the page.
 */
import {
  COUNTEREXAMPLES,
  type Counterexample,
  type CounterexampleName,
  computeCounterexample,
} from "./counter.ts";
import { computeLevel, type LevelExample } from "./level.ts";
import { computeSwap, type SwapExample } from "./swap.ts";
import { computeUnder60, type Under60Example } from "./under60.ts";

/** The sections, in the order of the page. */
export const EXAMPLE_NAMES = [...COUNTEREXAMPLES, "swap", "level", "under60"] as const;
export type ExampleName = (typeof EXAMPLE_NAMES)[number];

export interface Examples {
  readonly counterexamples: Readonly<Record<CounterexampleName, Counterexample>>;
  readonly swap: SwapExample;
  readonly level: LevelExample;
  readonly under60: Under60Example;
}

export async function computeExamples(): Promise<Examples> {
  return {
    counterexamples: {
      xcal: computeCounterexample("xcal"),
      brier: computeCounterexample("brier"),
      rps: computeCounterexample("rps"),
    },
    swap: computeSwap(),
    level: computeLevel(),
    under60: await computeUnder60(),
  };
}
