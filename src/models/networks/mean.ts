/**
 * The mean of several networks: S(t|x) is the mean of the members' survival curves, returned as the logits of its
 * hazards, so that it is read like any other network. With S_t and d_t = S_{t−1} − S_t summed over the members, that
 * logit is log(d_t / S_t); d_t is summed as S_{t−1} h_t, to avoid differences of curves near 1. Curves are averaged
 * rather than logits: a group's mean curve is then the mean of the members' mean curves. Of competing causes it is the
 * incidences that are averaged: logit_k is log(d_kt / S_t) with d_kt = Σ_m S_{m,t−1} h_mkt. Members are trained
 * separately; the mean itself is not trained.
 */
import type { Backend, DeviceArray, Floats } from "../../compute/backend.ts";
import { mirrorArray } from "../../compute/memory.ts";
import { exp, log } from "../../core/elementary.ts";
import { BackendError } from "../../core/errors.ts";
import { checkRows } from "./initialise.ts";
import type { SingleNetworkSpec } from "./list.ts";
import type { Network, SpecSizes } from "./network.ts";

/** The mean of the members' curves; each has the same D, T and causes. */
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

/** `members` have the same D, T and K. */
export function createMean(backend: Backend, members: readonly Network[]): Network {
  const [{ D, T, K }] = members;
  let own: DeviceArray = backend.allocate(0);
  return {
    kind: "mean",
    D,
    T,
    K,
    backend,
    parameters: members.flatMap(({ parameters }, m) =>
      parameters.map((one) => ({ ...one, name: memberParameter(m, one.name) })),
    ),
    createActivations: refuseTraining,
    async forward(x, N, logits) {
      checkRows({ D, T, K }, x, N, logits);
      if (own.length < N * K * T) {
        backend.release(own);
        own = backend.allocate(N * K * T);
      }
      const sums = { alive: new Float64Array(N * T), died: new Float64Array(N * K * T) };
      const ofMember = mirrorArray(backend, own);
      for (const member of members) {
        await member.forward(x, N, own, null);
        await ofMember.pull();
        if (K === 1) addCurves(ofMember.values, N, T, sums);
        else addIncidences(ofMember.values, { N, K, T }, sums);
      }
      backend.write(logits, K === 1 ? logitsOfSums(sums) : causeLogitsOfSums({ N, K, T }, sums));
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
  readonly died: Float64Array; // [N,K,T]
}

interface Sizes {
  readonly N: number;
  readonly K: number;
  readonly T: number;
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

function logitsOfSums({ alive, died }: CurveSums): Float64Array {
  const out = new Float64Array(alive.length);
  for (let k = 0; k < out.length; k++) {
    const logit = alive[k] > 0 ? log(died[k] / alive[k]) : LARGEST_LOGIT;
    out[k] = Math.min(Math.max(logit, -LARGEST_LOGIT), LARGEST_LOGIT);
  }
  return out;
}

/** With m the largest of 0 and the logits, h_k = e^{z_k − m} / (e^{−m} + Σ_j e^{z_j − m}), which cannot overflow. */
function addIncidences(logits: Floats, { N, K, T }: Sizes, { alive, died }: CurveSums): void {
  const odds = new Float64Array(K);
  for (let n = 0; n < N; n++) {
    let left = 1;
    for (let t = 0; t < T; t++) {
      let most = 0;
      for (let k = 0; k < K; k++) most = Math.max(most, logits[(n * K + k) * T + t]);
      const none = exp(-most);
      let sum = none;
      for (let k = 0; k < K; k++) {
        odds[k] = exp(logits[(n * K + k) * T + t] - most);
        sum += odds[k];
      }
      for (let k = 0; k < K; k++) died[(n * K + k) * T + t] += (left * odds[k]) / sum;
      left *= none / sum;
      alive[n * T + t] += left;
    }
  }
}

/**
 * Where hardly anyone is left, the logits are lowered together until the largest is within its limit, so that the
 * causes keep their shares of those who died.
 */
function causeLogitsOfSums({ N, K, T }: Sizes, { alive, died }: CurveSums): Float64Array {
  const out = new Float64Array(N * K * T);
  for (let n = 0; n < N; n++) {
    for (let t = 0; t < T; t++) {
      let most = 0;
      for (let k = 0; k < K; k++) most = Math.max(most, died[(n * K + k) * T + t]);
      const left = alive[n * T + t];
      const largest = left > 0 ? Math.min(log(most / left), LARGEST_LOGIT) : LARGEST_LOGIT;
      for (let k = 0; k < K; k++) {
        const place = (n * K + k) * T + t;
        const below = most > 0 ? log(died[place] / most) : 0;
        out[place] = Math.max(largest + below, -LARGEST_LOGIT);
      }
    }
  }
  return out;
}
