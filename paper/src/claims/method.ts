/**
 * The paper's statements about other scores (§6.6, its examples), about what the constraint means, and about its
 * theorem and algorithm (§4, §5).
 */
import { DEFAULT_BINS } from "graduate-survival/data";
import { boundOfTheorem } from "graduate-survival/stats";
import { type Counterexample, type CounterexampleName, computeCounterexample } from "../examples/counter.ts";
import { computeSwap } from "../examples/swap.ts";
import { formatMarkdown } from "../pages/markdown.ts";
import { type ClaimInputs, printedBoard, TARGETS } from "./board.ts";
import type { Claim } from "./entry.ts";
import { claimsOnMultipliers } from "./multipliers.ts";

/** Printed shares have two decimals. */
const PRINTED_ROUNDING = 0.005;
const ALPHA = 0.05;
const EXAMPLES = "[examples](examples.md)";

export function claimsOnMethod(inputs: ClaimInputs): Claim[] {
  return [
    ...exampleClaims(),
    swapClaim(),
    slackClaim(inputs),
    ...claimsOnMultipliers(inputs),
    theoremClaim(inputs),
    argminClaim(),
  ];
}

interface ExampleText {
  readonly title: string;
  readonly place: string;
  readonly statement: string;
  /** Matches the lines of the example that show whether the second half of the statement holds. */
  readonly more: RegExp;
  /** Matches the line that is 0 where that half does not hold. */
  readonly decisive: RegExp;
  readonly reason: string;
  readonly refuted: string;
}

const TEXTS: Readonly<Record<CounterexampleName, ExampleText>> = {
  xcal: {
    title: "X-Cal: a perfect D-Cal with a wrong mean curve; either norm at c = 0 mends it",
    place: "§6.6, Example 1",
    statement:
      "Five curves with D-Cal 0 predict that 55 % outlive a time that nobody does; with c = 0 either norm, L² or " +
      "variance-adjusted, makes the mean curve equal to Kaplan-Meier's.",
    more: /right up to t = 4|l2 constraint|Greenwood/,
    decisive: /right up to t = 4/,
    reason:
      "The definition (§4) divides by √Var and averages over t = 1…τ; the example divides by Var and by 6, with " +
      "D₀ among them. Where Kaplan-Meier is 0 Greenwood's variance is undefined, and a mean curve that is wrong only " +
      "there has distance 0.",
    refuted: "the example holds; of the two norms only L² does what is said",
  },
  brier: {
    title: "MCBoostSurv: a Brier score of 0 with a wrong mean curve; the censored counted as dead",
    place: "§6.6, Example 2",
    statement:
      "Fifteen curves with Brier score 0 predict that nobody outlives time 5 where 42 % do; the score assumes S " +
      "= 0 of people after their censoring.",
    more: /live for ever|whose mean/,
    decisive: /live for ever/,
    reason:
      "The score leaves these people out: curves that let them live for ever score 0 too, with a mean of two " +
      "thirds. Replacing its first term, as the text does, is another score.",
    refuted: "the example holds; the assumption S = 0 is not the score's",
  },
  rps: {
    title: "RPS: a score of 0 with a wrong mean curve; the censored counted as immortal",
    place: "§6.6, Example 3",
    statement:
      "Fifteen curves with RPS 0 predict that 67 % outlive time 5 where nobody does; the score assumes S = 1 of " +
      "people after their censoring.",
    more: /next time|whose mean/,
    decisive: /next time/,
    reason:
      "The score does not look at these people after their censoring: curves that let them die at the next time " +
      "score 0 too, with a mean of 0.",
    refuted: "the example holds; the assumption S = 1 is not the score's",
  },
};

function exampleClaims(): Claim[] {
  return (["xcal", "brier", "rps"] as const).map((name) => {
    const example = computeCounterexample(name);
    const { title, place, statement, more, decisive, reason, refuted } = TEXTS[name];
    const shown = example.numbers.filter(({ what, printed }) => printed !== null || more.test(what));
    return {
      title,
      place,
      statement,
      check:
        "The example computed by the library's own functions, with the opposite where the statement leaves " +
        `it open (${EXAMPLES}).`,
      findings: [{ source: null, text: judgeExample(example, decisive, refuted) }],
      table: formatMarkdown(
        ["", "printed", "here"],
        shown.map(({ what, printed, here, digits }) => [
          what,
          printed === null ? "–" : String(printed),
          Number(here.toFixed(digits)) === 0 ? "0" : here.toFixed(digits),
        ]),
      ),
      note: reason,
      command: `\`graduate reproduce examples ${name}\``,
    };
  });
}

function judgeExample({ numbers }: Counterexample, decisive: RegExp, refuted: string): string {
  const isAsPrinted = numbers.every(
    ({ printed, here }) => printed === null || Math.abs(here - printed) <= PRINTED_ROUNDING,
  );
  if (!isAsPrinted) return "does not hold";
  const line = numbers.find(({ what }) => decisive.test(what));
  return line !== undefined && Number(line.here.toFixed(line.digits)) === 0 ? refuted : "holds";
}

function swapClaim(): Claim {
  const [right, swapped, held] = computeSwap().four;
  return {
    title: "Every individual curve is modelled at every time",
    place: "§6.6, before the examples",
    statement:
      "Unlike the baselines GRADUATE constrains every individual's curve at every time, through the mean of its " +
      "groups.",
    check:
      "Four people, the curves of the two who die exchanged with those of the two who live: a " +
      `counterexample of the paper's kind against its own constraint (${EXAMPLES}).`,
    findings: [
      {
        source: null,
        text:
          swapped.distance === right.distance && swapped.concordance === 0
            ? "does not hold: the mean is held, the individual is not"
            : "holds",
      },
    ],
    table: formatMarkdown(
      ["curves", "C-index", "L² of the group", "L² of cells of predicted risk"],
      [right, swapped, held].map(({ curves, concordance, distance, strata }) => [
        curves,
        concordance.toFixed(2),
        distance.toFixed(4),
        strata.toFixed(4),
      ]),
    ),
    note: "Holding cells of group × predicted risk, our addition, removes this one.",
    command: "`graduate reproduce examples swap`",
  };
}

function slackClaim(inputs: ClaimInputs): Claim {
  const rows = TARGETS.flatMap((target) => {
    const slack = inputs.plans.get(`paper-${target}`)?.plan.cohorts[0]?.paperSlack;
    if (slack === undefined) return [];
    const ece = printedBoard(inputs, target).mean("ece", "graduate l2");
    return [[target, String(slack), Math.sqrt(slack).toFixed(3), ece?.toFixed(4) ?? "–"]];
  });
  return {
    title: "Constraints of 2 %, 1 % and 1 %",
    place: "§6.3",
    statement: "The L² constraints are set to 2 % on nwtco and 1 % on flchain and eye complication.",
    check:
      "The distance (§4) is a mean of squares over time, without a root; its root is a gap between curves.",
    findings: [{ source: null, text: "holds as defined; as a gap between curves c is its square root" }],
    table: formatMarkdown(["", "c", "r.m.s. gap allowed", "printed ECE of GRADUATE (L²)"], rows),
    note:
      `A model that meets every constraint on nwtco may be off by ${rows[0]?.[2] ?? "–"} at every time in ` +
      "every group, which is also the size of its printed ECE.",
    command: "`graduate reproduce claims`",
  };
}

function theoremClaim({ published }: ClaimInputs): Claim {
  const bounds = published.wins.map(({ cohort, groups }) => ({
    cohort,
    groups,
    ...boundOfTheorem(ALPHA, groups, DEFAULT_BINS),
  }));
  return {
    title: "Theorem 1 bounds the distance on new data",
    place: "§5, Theorem 1",
    statement:
      "With high probability the expected squared gap of every group is at most c + ρ, with ρ falling as the " +
      "number of samples grows.",
    check:
      "ρ = B √((1 + log(4 (2𝒩)^d/(δ/τ)))/𝒩) at the smallest d, with δ = .05/(3m + 2) for m groups and τ times, " +
      "where 𝒩 counts independent copies of a whole group's sample. With one data set 𝒩 = 1; B is the most a " +
      "squared " +
      "gap can be.",
    findings: [
      {
        source: null,
        text: bounds.every(({ vacuous }) => vacuous)
          ? "vacuous with one data set: ρ exceeds B, which bounds any model's squared gap"
          : "cannot be checked",
      },
    ],
    table: formatMarkdown(
      ["", "groups", "τ", "𝒩", "ρ, at least"],
      bounds.map(({ cohort, groups, copies, rhoOverB }) => [
        cohort,
        String(groups),
        String(DEFAULT_BINS),
        String(copies),
        `${rhoOverB.toFixed(2)} B`,
      ]),
    ),
    note:
      "It does not shrink with the number of people. Bounds that do are the audit's " +
      "[certificates](certificates.md).",
    command: "`graduate audit PREDICTIONS --certify 0.05`",
  };
}

function argminClaim(): Claim {
  return {
    title: "Each step of Algorithm 1 minimises the Lagrangian",
    place: "§4, Algorithm 1; §5",
    statement:
      "At every iteration θ is a minimiser of the Lagrangian for the current multipliers, found by stochastic " +
      "gradient descent; solving the dual problem and running the algorithm are one.",
    check:
      "A minimiser of a network's loss cannot be recognised, and the number of gradient steps an iteration, the " +
      "rate and the batch are not given. The proofs take the minimiser as found.",
    findings: [{ source: null, text: "cannot be checked" }],
    table: "",
    note:
      "The paper's preset here takes one full-batch step of Adam an iteration (`--primal-steps` takes more), " +
      "up to 3000 of them; the runs of its plans look at the validation rows after every one, `--preset paper` by " +
      "itself after every 5th. [What the paper's method does](method.md) has 5 and 20 steps an iteration. As printed " +
      "the multipliers may become negative, though the dual problem asks for μ ≥ 0; we stop them at 0.",
    command: "`graduate train … --preset paper`",
  };
}
