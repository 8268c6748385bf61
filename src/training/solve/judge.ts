/**
 * The verdict on every group after the solve: its distance on the rows of the solve against its slack, what it cost,
 * and the test on the test rows (verdict.ts).
 */
import type { Backend } from "../../compute/backend.ts";
import { present } from "../../core/present.ts";
import type { ChosenPoint } from "./choose-point.ts";
import { type HoldInput, openWith } from "./hold.ts";
import type { SolvedLayer } from "./layer.ts";
import { constraintsOf, type FramedProblem, frameProblem, type SolveFrame } from "./problem.ts";
import { gatherRows, type RowSet } from "./rows.ts";
import type { Solved } from "./sqp.ts";
import { adjustFresh, type GroupVerdict, testFresh } from "./verdict.ts";

/** What the last solve found. */
export interface LastSolve {
  readonly problem: FramedProblem;
  readonly slack: Float64Array; // [constraints]
  readonly solved: Solved;
  readonly choice: ChosenPoint;
}

/** Rounding of the solve. */
const WITHIN = 1e-6;

export async function judgeHeld(
  { backend, test, isTold, distance: kind, cause }: HoldInput,
  layer: SolvedLayer,
  last: LastSolve,
): Promise<GroupVerdict[]> {
  const { problem, solved, choice } = last;
  const B = problem.layout.blocks.length;
  const fresh = test === null ? null : await sumFresh(backend, layer, test, { problem, cause });
  const verdicts = problem.groups.map((group, g): GroupVerdict => {
    const { name, rows, events } = group;
    const reason = group.reason ?? choice.unsupported.get(g) ?? null;
    const constrained = reason === null;
    const { distance, slack, price } = readConstraint(last, g, kind);
    const isMet = distance <= slack * (1 + WITHIN);
    const status = !constrained ? "unsupported" : isMet ? "met" : "infeasible";
    const part = (values: Float64Array) => values.subarray(g * B, (g + 1) * B);
    const tested =
      fresh !== null && constrained && fresh.groups[g].constrained
        ? testFresh({ D: part(fresh.D), V: part(fresh.V), solveV: part(solved.variance) })
        : null;
    const place = choice.blind.indexOf(g);
    return {
      group: name,
      told: isTold[g],
      n: rows.length,
      events,
      slack,
      distance: { solve: distance, fresh: tested?.distance ?? null },
      fresh: tested && { p: tested.p, adjusted: tested.p },
      status,
      reachable: status === "infeasible" ? reachableFrom(distance, choice, place) : null,
      price: constrained ? price : null,
      reason:
        reason ??
        (status === "infeasible" ? tellInfeasible(choice, g) : tellUntested(test, fresh?.groups[g].reason)),
    };
  });
  return adjustFresh(verdicts);
}

/** What was within reach of a group on the training rows, on the scale of the rows of the solve, which are more. */
function reachableFrom(distance: number, { distances, reachable }: ChosenPoint, place: number): number {
  if (place < 0) return distance;
  const reached = distances[place][distances[place].length - 1];
  return reached > 0 ? distance * (reachable[place] / reached) : distance;
}

/** A group's distance in its own units, what it is allowed, and −dF/dc = μ/(2c) at what it was held to. */
function readConstraint(last: LastSolve, g: number, kind: HoldInput["distance"]) {
  const { problem, slack, solved } = last;
  const { distance, multipliers } = solved;
  // A mean curve beside the at-risk distance is a means, not the promise.
  const own = constraintsOf(problem, slack, [g]).filter((k) => kind !== "atRisk" || k === g);
  if (own.length === 0) return { distance: distance[g], slack: 0, price: 0 };
  const worst = own.reduce(
    (most, k) => (distance[k] / slack[k] > distance[most] / slack[most] ? k : most),
    own[0],
  );
  const root = (value: number) => (kind === "variance" ? Math.sqrt(value) : value);
  // What it was held to: its slack, or more where that is out of reach.
  const held = Math.max(distance[worst], slack[worst]);
  return {
    distance: root(distance[worst]),
    slack: root(slack[worst]),
    price: multipliers[worst] > 0 ? multipliers[worst] / (2 * held) : 0,
  };
}

function tellInfeasible({ blind, members, hidden, budget }: ChosenPoint, g: number): string {
  const unseen = "the model may not see who is in it";
  const area = (auc: number) => `an area under the curve of ${auc.toFixed(2)}`;
  const untold = hidden.find(({ group }) => group === g);
  if (untold) {
    return `${unseen}, and its features hardly tell (${area(untold.membership.auc)}): it is left as it is`;
  }
  const member = members[blind.indexOf(g)];
  if (member === undefined) return "no curves of this model come closer";
  return (
    `${unseen}; its features tell with ${area(member.auc)}, and coming closer would cost more than ` +
    `${budget.toFixed(1)} nats of the validation rows' likelihood`
  );
}

function tellUntested(test: RowSet | null, reason: string | null | undefined): string | null {
  if (test === null) return "no test rows to judge it on";
  return reason === null || reason === undefined ? null : `not judged on the test rows: ${reason}`;
}

/** D and V of every group on rows that nothing was fitted to, under the finished model. */
async function sumFresh(
  backend: Backend,
  layer: SolvedLayer,
  test: RowSet,
  { problem, cause }: { readonly problem: FramedProblem; readonly cause: HoldInput["cause"] },
) {
  const network = openWith(backend, cause)(layer.spec, layer.parameters);
  const gathered = await gatherRows(backend, network, [test], {
    keepsInputs: false,
    ...present({ others: cause?.others }),
  });
  const frame: SolveFrame = { blocks: problem.layout.blocks, dense: 0, told: 0 };
  const judged = frameProblem(frame, gathered, [], null);
  const { D, V } = judged.sums.measure(new Float64Array(judged.eventTotals.length));
  return { D, V, groups: judged.groups };
}
