/**
 * The mean of several networks: S(t|x) is the mean of the members' survival curves, returned as the logits of its
 * hazards, so that it is read like any other network. With S_t and d_t = S_{t−1} − S_t summed over the members, that
 * logit is log(d_t / S_t); d_t is summed as S_{t−1} h_t, to avoid differences of curves near 1. Curves are averaged
 * rather than logits: a group's mean curve is then the mean of the members' mean curves. Members are trained
 * separately; the mean itself is not trained.
 */
import type { Backend, DeviceArray, Floats } from "../../compute/backend.ts";
import { mirrorArray } from "../../compute/memory.ts";
import { exp, log } from "../../core/elementary.ts";
import { BackendError } from "../../core/errors.ts";
import { checkRows } from "./initialise.ts";
import type { SingleNetworkSpec } from "./list.ts";
import type { Network, SpecSizes } from "./network.ts";

/** The mean of the members' curves; each has the same D and T. */
export interface MeanSpec extends SpecSizes {
  readonly kind: "mean";
  /** The networks whose curves are averaged. */
  readonly members: readonly SingleNetworkSpec[];
}

/** Hazards of 1e-30 and 1 − 1e-30 stand for 0 and 1, which have no logit. */
export const LARGEST_LOGIT = 69;

/** Name of a member's parameter in the mean: "2.lstm.input". */
export function memberParameter(member: number, name: string): string {
  return `${member + 1}.${name}`;
}

/** `members` have the same D and T. */
export function createMean(backend: Backend, members: readonly Network[]): Network {
  const [{ D, T }] = members;
  let own: DeviceArray = backend.allocate(0);
  return {
    kind: "mean",
    D,
    T,
    backend,
    parameters: members.flatMap(({ parameters }, m) =>
      parameters.map((one) => ({ ...one, name: memberParameter(m, one.name) })),
    ),
    createActivations: refuseTraining,
    async forward(x, N, logits) {
      checkRows({ D, T }, x, N, logits);
      if (own.length < N * T) {
        backend.release(own);
        own = backend.allocate(N * T);
      }
      const sums = { alive: new Float64Array(N * T), died: new Float64Array(N * T) };
      const ofMember = mirrorArray(backend, own);
      for (const member of members) {
        await member.forward(x, N, own, null);
        await ofMember.pull();
        addCurves(ofMember.values, N, T, sums);
      }
      const out = new Float64Array(N * T);
      for (let k = 0; k < N * T; k++) {
        const logit = sums.alive[k] > 0 ? log(sums.died[k] / sums.alive[k]) : LARGEST_LOGIT;
        out[k] = Math.min(Math.max(logit, -LARGEST_LOGIT), LARGEST_LOGIT);
      }
      backend.write(logits, out);
    },
    backward: async () => refuseTraining(),
  };
}

function refuseTraining(): never {
  throw new BackendError("a mean of networks is not trained: its members are, each by itself", {
    code: "network.mean",
  });
}

interface CurveSums {
  readonly alive: Float64Array; // [N,T]
  readonly died: Float64Array; // [N,T]
}

function addCurves(logits: Floats, N: number, T: number, { alive, died }: CurveSums): void {
  for (let n = 0; n < N; n++) {
    let left = 1;
    for (let k = n * T; k < (n + 1) * T; k++) {
      died[k] += left / (1 + exp(-logits[k]));
      left /= 1 + exp(logits[k]);
      alive[k] += left;
    }
  }
}
