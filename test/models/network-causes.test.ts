// Networks of competing causes: central differences, the same sums put together from networks of one event, fractions
// worked by hand, where they start, and what is refused.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Backend, Floats } from "../../src/compute/backend.ts";
import { createReferenceBackend } from "../../src/compute/reference.ts";
import { BackendError, InputError } from "../../src/core/errors.ts";
import { createRandom } from "../../src/core/random.ts";
import { createNetwork } from "../../src/models/networks/create-network.ts";
import { mirrorParameters } from "../../src/models/networks/host-parameters.ts";
import { createLinear } from "../../src/models/networks/linear.ts";
import { NETWORKS, type NetworkSpec, type SingleNetworkSpec } from "../../src/models/networks/list.ts";
import { createMlp } from "../../src/models/networks/mlp.ts";
import type { Network } from "../../src/models/networks/network.ts";
import { readParameters, writeParameters } from "../../src/models/networks/parameters.ts";
import { openWasmBackend } from "../../src/node/workers/wasm-backend.ts";
import { separateMemory } from "../compute/backends.ts";
import { differentiate, GRADIENT } from "../compute/differences.ts";
import { place } from "../compute/problems.ts";

const backend = createReferenceBackend();
/** Float32 memory. */
let single: Backend;
beforeAll(async () => {
  single = await openWasmBackend({ threads: 1 });
});
afterAll(() => single.close());

function draw(length: number, seed: number): Float64Array {
  const random = createRandom(seed, length);
  return Float64Array.from({ length }, () => random.normal());
}

async function logitsOf(network: Network, x: ArrayLike<number>, N: number): Promise<Floats> {
  const { backend: own, T, K } = network;
  const logits = place(own, new Float64Array(N * K * T).fill(7)); // overwritten, not added to
  await network.forward(place(own, x), N, logits, null);
  return own.read(logits);
}

/** Hazards of K·T logits of one row, [K,T], by their definition. */
function hazardsOf(logits: ArrayLike<number>, K: number, T: number): number[] {
  return Array.from({ length: K * T }, (_, i) => {
    const odds = Array.from({ length: K }, (_, k) => Math.exp(logits[k * T + (i % T)]));
    return odds[Math.floor(i / T)] / (1 + odds.reduce((sum, one) => sum + one));
  });
}

/** Incidences of the causes at the ends of bins, [K,T], and the survival that is left. */
function incidencesOf(logits: ArrayLike<number>, K: number, T: number) {
  const hazards = hazardsOf(logits, K, T);
  const incidence = new Float64Array(K * T);
  let left = 1;
  for (let t = 0; t < T; t++) {
    let all = 0;
    for (let k = 0; k < K; k++) {
      const hazard = hazards[k * T + t];
      incidence[k * T + t] = (t > 0 ? incidence[k * T + t - 1] : 0) + left * hazard;
      all += hazard;
    }
    left *= 1 - all;
  }
  return incidence;
}

function expectNear(actual: ArrayLike<number>, expected: ArrayLike<number>, within: number): void {
  expect(actual.length).toBe(expected.length);
  for (let i = 0; i < expected.length; i++) {
    expect(Math.abs(actual[i] - expected[i]), String(i)).toBeLessThan(within);
  }
}

/** Away from the start, where slopes are 0 and output weights small. */
async function move(network: Network): Promise<void> {
  const { list } = await mirrorParameters(network);
  list.forEach(({ values }, k) => {
    const moved = draw(values.length, k);
    for (let i = 0; i < values.length; i++) values[i] += 0.5 * moved[i];
  });
}

const D = 3;
const causes = 2;

function listSpecs(T: number, hidden: number): SingleNetworkSpec[] {
  const baselineHazard = Array.from({ length: causes * T }, (_, i) => 0.05 + 0.02 * i);
  const choice = { D, T, causes, hidden, hiddenIsGiven: true, baselineHazard };
  return NETWORKS.map((one) => one.describe({ ...choice, groups: one.takesGroups ? 2 : 0 }));
}

describe("gradients of two causes are central differences", () => {
  const cases = [
    { N: 1, T: 1, H: 1 },
    { N: 3, T: 5, H: 3 },
  ].flatMap(({ N, T, H }) => listSpecs(T, H).map((spec) => ({ name: spec.kind, N, T, H, spec })));
  test.each(cases)("$name at N $N, T $T, H $H", async ({ N, T, spec }) => {
    const network = createNetwork(backend, spec, 5);
    expect(network.K).toBe(causes);
    await move(network);
    const length = N * causes * T;
    const dLogits = draw(length, 2);
    const rows = place(backend, draw(N * D, 1));
    const logits = backend.allocate(length);
    const kept = network.createActivations();
    await network.forward(rows, N, logits, kept);
    await network.backward(kept, place(backend, dLogits));
    const weighted = async () => {
      await network.forward(rows, N, logits, null);
      return Array.from(await backend.read(logits)).reduce((sum, value, i) => sum + value * dLogits[i], 0);
    };
    for (const { name, values, gradient } of (await mirrorParameters(network)).list) {
      await differentiate(values, weighted, (i, slope) => {
        expect(Math.abs(gradient[i] - slope), `${name}[${i}]`).toBeLessThan(GRADIENT * length);
      });
    }
  });
});

describe("each cause by itself", () => {
  const T = 5;
  /** Parameters that the causes share; those of others lie one cause after the other. */
  const isShared = (name: string) => /^(lstm\.(input|recurrent)|dense0)/.test(name);

  /** The same network with the parameters of cause k alone. */
  async function takeCause(spec: SingleNetworkSpec, network: Network, k: number): Promise<Network> {
    const { causes: _, ...rest } = spec;
    const hazards = "baselineHazard" in spec ? spec.baselineHazard : undefined;
    // Knots are placed by the hazard of all causes together.
    const baselineHazard = hazards?.slice(0, T).map((hazard, t) => hazard + hazards[T + t]);
    const alone = createNetwork(backend, { ...rest, ...(baselineHazard && { baselineHazard }) }, 1);
    const values = Object.entries(await readParameters(network)).map(([name, all]) => {
      const size = all.length / causes;
      return [name, isShared(name) ? all : all.slice(k * size, (k + 1) * size)];
    });
    writeParameters(alone, Object.fromEntries(values));
    return alone;
  }

  test.each(listSpecs(T, 4))(
    "$kind: its curves are those of a network with its parameters alone",
    async (spec) => {
      const network = createNetwork(backend, spec, 3);
      await move(network);
      const x = draw(4 * D, 9);
      const together = await logitsOf(network, x, 4);
      for (let k = 0; k < causes; k++) {
        const alone = await logitsOf(await takeCause(spec, network, k), x, 4);
        for (let n = 0; n < 4; n++) {
          const own = together.subarray((n * causes + k) * T, (n * causes + k + 1) * T);
          expectNear(own, alone.subarray(n * T, (n + 1) * T), 1e-14);
        }
      }
    },
  );

  test.each(listSpecs(T, 4))(
    "$kind: the same from memory that the host does not see, and in float32",
    async (spec) => {
      const [x, dLogits] = [draw(4 * D, 9), draw(4 * causes * T, 8)];
      const run = async (own: Backend) => {
        const network = createNetwork(own, spec, 3);
        const kept = network.createActivations();
        const logits = own.allocate(4 * causes * T);
        await network.forward(place(own, x), 4, logits, kept);
        await network.backward(kept, place(own, dLogits));
        const parameters = await mirrorParameters(network);
        await parameters.pullGradients();
        return [await own.read(logits), ...parameters.list.map(({ gradient }) => gradient)];
      };
      const expected = await run(backend);
      expect(await run(separateMemory(createReferenceBackend()))).toEqual(expected);
      for (const [k, values] of (await run(single)).entries()) expectNear(values, expected[k], 2e-5);
    },
  );
});

describe("where two causes start", () => {
  // Hazards 1/5 and 3/10 leave 1/2, 1/8 and 1/8 leave 3/4.
  const hazards = [1 / 5, 1 / 8, 3 / 10, 1 / 8];
  const start = [Math.log(2 / 5), Math.log(1 / 6), Math.log(3 / 5), Math.log(1 / 6)];

  test("baseline and last bias are log(h_k / (1 − Σ h)), which give the hazards back", async () => {
    const linear = createLinear(backend, { D: 1, T: 2, causes, baselineHazard: hazards });
    const logits = await logitsOf(linear, [0], 1);
    expectNear(logits, start, 1e-15);
    expectNear(hazardsOf(logits, causes, 2), hazards, 1e-15);
    const mlp = createMlp(backend, { D: 1, T: 2, causes, hidden: [3], baselineHazard: hazards, seed: 1 });
    expectNear((await readParameters(mlp))["dense1.bias"], start, 1e-15);
    const spec: NetworkSpec = { kind: "anchored", D: 1, T: 2, causes, H: 4, baselineHazard: hazards };
    const values = await readParameters(createNetwork(backend, spec, 2));
    expectNear(values.baseline, start, 1e-15);
    expect(values["lstm.outputBias"]).toEqual([0, 0]);
    // The first of the numbers drawn are those of one event.
    const { "lstm.output": one } = await readParameters(
      createNetwork(backend, { kind: "drsa", D: 1, T: 2, H: 4 }, 2),
    );
    expectNear(
      values["lstm.output"].slice(0, 4),
      one.map((weight) => weight / 10),
      1e-16,
    );
    expect(Math.max(...values["lstm.output"].map(Math.abs))).toBeLessThanOrEqual(0.05);
  });

  test("a choice of one cause, or of none, is described without causes", () => {
    for (const { describe: describeNetwork } of NETWORKS) {
      const choice = { D: 2, T: 1, groups: 0, hidden: 4, hiddenIsGiven: true, baselineHazard: [0.1] };
      expect(describeNetwork({ ...choice, causes: 1 })).toEqual(describeNetwork(choice));
      expect("causes" in describeNetwork(choice)).toBe(false);
    }
  });

  test("hazards that are too few, or leave nobody, are refused", () => {
    const create = (baselineHazard: readonly number[]) =>
      createLinear(backend, { D: 1, T: 2, causes, baselineHazard });
    expect(() => create([0.1, 0.2])).toThrow(
      "there are baseline hazards for 2 bins, and the network has 2 for each of 2 causes",
    );
    expect(() => create([0.1, 0.6, 0.1, 0.5])).toThrow(
      "sum of baseline hazards outside (0, 1): 1.1 in bin 2",
    );
    expect(() => create([0.1, 0.6, 0, 0.1])).toThrow("baseline hazard outside (0, 1): 0 in bin 1");
    expect(() => createLinear(backend, { D: 1, T: 2, causes: 0 })).toThrow("causes of a network");
  });

  test.each(listSpecs(4, 3))("$kind: rows without room for every cause are refused", async (spec) => {
    const network = createNetwork(backend, spec, 1);
    await expect(network.forward(backend.allocate(6), 2, backend.allocate(15), null)).rejects.toThrow(
      "15 of 16",
    );
    await expect(network.backward(network.createActivations(), backend.allocate(16))).rejects.toThrow(
      BackendError,
    );
    const kept = network.createActivations();
    await network.forward(backend.allocate(6), 2, backend.allocate(16), kept);
    await expect(network.backward(kept, backend.allocate(15))).rejects.toThrow(/15 (of|values, needs) 16/);
    await expect(network.forward(backend.allocate(5), 2, backend.allocate(16), null)).rejects.toThrow(
      InputError,
    );
  });
});

describe("the mean of networks of two causes", () => {
  function meanOf(hazards: readonly (readonly number[])[]) {
    const T = hazards[0].length / causes;
    const members = hazards.map(
      (baselineHazard) => ({ kind: "linear", D: 1, T, causes, baselineHazard }) as const,
    );
    return createNetwork(backend, { kind: "mean", D: 1, T, causes, members }, 1);
  }
  function setBaselines(network: Network, values: readonly number[]): void {
    for (const one of network.parameters.filter(({ name }) => name.endsWith("baseline"))) {
      backend.write(one.values, values);
    }
  }

  // Alive 1/2 + 3/4 and 1/8 + 1/4; died of the first cause 1/4 + 1/8 and 1/4 + 1/4, of the second 3/8 and 1/8 + 1/4.
  test("by hand: odds of 3/10 and 4/3 of the first cause, 3/10 and 1 of the second", async () => {
    const mean = meanOf([
      [1 / 4, 1 / 2, 1 / 4, 1 / 4],
      [1 / 8, 1 / 3, 1 / 8, 1 / 3],
    ]);
    expect(mean.K).toBe(2);
    const logits = await logitsOf(mean, [0, 5], 2);
    const odds = [3 / 10, 4 / 3, 3 / 10, 1];
    expectNear(Array.from(logits, Math.exp), [...odds, ...odds], 1e-14);
  });

  test("its incidences are the mean of the members' incidences at any x", async () => {
    const T = 4;
    const specs = listSpecs(T, 3).slice(0, 3);
    const members = specs.map((spec) => createNetwork(backend, spec, 2));
    for (const member of members) await move(member);
    const mean = createNetwork(backend, { kind: "mean", D, T, causes, members: specs }, 1);
    const values = await Promise.all(members.map(readParameters));
    const named = values.flatMap((one, m) =>
      Object.entries(one).map(([name, list]) => [`${m + 1}.${name}`, list] as const),
    );
    writeParameters(mean, Object.fromEntries(named));
    for (const x of [draw(D, 1), draw(D, 2), Float64Array.of(20, -20, 1)]) {
      const each = await Promise.all(
        members.map(async (member) => incidencesOf(await logitsOf(member, x, 1), causes, T)),
      );
      const expected = each[0].map((_, i) => (each[0][i] + each[1][i] + each[2][i]) / 3);
      expectNear(incidencesOf(await logitsOf(mean, x, 1), causes, T), expected, 1e-14);
    }
  });

  test("hazards of 1e-12 keep their digits, logits stay finite, and causes keep their shares", async () => {
    const mean = meanOf([
      [1e-12, 0.1, 2e-12, 0.1],
      [3e-12, 0.1, 4e-12, 0.1],
    ]);
    const logits = await logitsOf(mean, [0], 1);
    // 4e-12 and 6e-12 died, of two.
    expect((Math.exp(logits[0]) * (2 - 1e-11)) / 4e-12).toBeCloseTo(1, 12);
    expect((Math.exp(logits[2]) * (2 - 1e-11)) / 6e-12).toBeCloseTo(1, 12);
    // Three times as many of the first cause; nobody is left for the second bin.
    setBaselines(mean, [900 + Math.log(3), 0, 900, 0]);
    const [a, b, c, d] = await logitsOf(mean, [0], 1);
    expect([a, b, d]).toEqual([69, 69, 69]);
    expect(c).toBeCloseTo(69 - Math.log(3), 11);
    setBaselines(mean, [-900, -900, -900, 900]);
    expect(Array.from(await logitsOf(mean, [0], 1))).toEqual([-69, -69, -69, 69]);
  });
});

describe("a held network of two causes", () => {
  const blocks = [1, 3];
  const base = { kind: "linear", D: 2, T: 3, causes, baselineHazard: new Array(6).fill(0.25) } as const;

  // x = [2, −1], and a chance of σ(0) = 1/2; baselines start at log(.25 / .5).
  test("by hand, with a chance that the causes share", async () => {
    const held = createNetwork(backend, { kind: "held", D: 2, T: 3, causes, base, blocks, chances: 1 }, 1);
    expect(held.K).toBe(2);
    writeParameters(held, {
      "base.baseline": new Array(6).fill(0),
      "base.skip": [0, 0, 1, 1],
      "held.baseline": [1, 2, 3, 10, 20, 30],
      "held.coefficients": [1, 10, 2, 20, 4, 40, 3, 0, 0, 5, 8, 80], // [cause, input, block]
      "held.membership": [1, 2, 0],
    });
    // First cause: blocks add 2·1 − 2 + 4/2 and 20 − 20 + 20; second: 1 below, 6 + 0 + 4 and 0 − 5 + 40.
    const first = [1 + 2, 2 + 20, 3 + 20];
    const second = [1 + 10 + 10, 1 + 20 + 35, 1 + 30 + 35];
    const logits = await logitsOf(held, [2, -1, 0, 0], 2);
    expectNear(logits.subarray(0, 6), [...first, ...second], 1e-12);
    // x = 0 has the chance 1/2 too.
    expectNear(logits.subarray(6), [3, 22, 23, 10 + 4, 20 + 40, 30 + 40], 1e-12);
  });

  test("adds nothing before it is solved, and is not trained", async () => {
    const held = createNetwork(backend, { kind: "held", D: 2, T: 3, causes, base, blocks, chances: 0 }, 1);
    const x = draw(8, 3);
    expect(await logitsOf(held, x, 4)).toEqual(await logitsOf(createNetwork(backend, base, 1), x, 4));
    expect(() => held.createActivations()).toThrow(BackendError);
  });
});
