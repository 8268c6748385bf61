// Networks against PyTorch (test/oracles/torch), against central differences at odd sizes, and where they start.
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Backend, Floats } from "../../src/compute/backend.ts";
import { createReferenceBackend } from "../../src/compute/reference.ts";
import { BackendError, FormatError, InputError } from "../../src/core/errors.ts";
import { createRandom } from "../../src/core/random.ts";
import { createAnchored } from "../../src/models/networks/anchored.ts";
import { createNetwork } from "../../src/models/networks/create-network.ts";
import { createDrsa } from "../../src/models/networks/drsa.ts";
import { mirrorParameters } from "../../src/models/networks/host-parameters.ts";
import { anchorHazards } from "../../src/models/networks/initialise.ts";
import { createLinear } from "../../src/models/networks/linear.ts";
import { NETWORKS, type NetworkSpec } from "../../src/models/networks/list.ts";
import { createMlp } from "../../src/models/networks/mlp.ts";
import type { Network } from "../../src/models/networks/network.ts";
import { readParameters, writeParameters, zeroGradients } from "../../src/models/networks/parameters.ts";
import { openWasmBackend } from "../../src/node/workers/wasm-backend.ts";
import { separateMemory } from "../compute/backends.ts";
import { differentiate, GRADIENT } from "../compute/differences.ts";
import { place } from "../compute/problems.ts";
import { followRun, fromTorch, loadTorchRuns } from "../training/trajectory-twin.ts";

const backend = createReferenceBackend();
/** Float32 memory. */
let single: Backend;
beforeAll(async () => {
  single = await openWasmBackend({ threads: 1 });
});
afterAll(() => single.close());

const PYTORCH = 1e-12; // absolute

function draw(length: number, seed: number): Float64Array {
  const random = createRandom(seed, length);
  return Float64Array.from({ length }, () => random.normal());
}

/** The weights as the host sees them. */
function parameterOf(network: Network, name: string): Floats {
  const found = network.parameters.find((parameter) => parameter.name === name);
  if (found === undefined) throw new Error(`no ${name}`);
  return network.backend.view(found.values) as Floats;
}

async function logitsOf(network: Network, x: Floats, N: number): Promise<Floats> {
  const { backend: own, T } = network;
  const logits = place(own, new Float64Array(N * T).fill(7)); // overwritten, not added to
  await network.forward(place(own, x), N, logits, null);
  return own.read(logits);
}

/** Adds to the gradients. */
async function backward(network: Network, x: Floats, N: number, dLogits: Floats): Promise<void> {
  const { backend: own, T } = network;
  const kept = network.createActivations();
  await network.forward(place(own, x), N, own.allocate(N * T), kept);
  expect(kept.rows).toBe(N);
  await network.backward(kept, place(own, dLogits));
}

describe("against PyTorch", () => {
  test.each(loadTorchRuns())("$name: logits and gradients of the Lagrangian", async (run) => {
    const { firstLogits, firstGradients } = await followRun(backend, run, 1);
    run.first.logits.flat().forEach((value, i) => {
      expect(Math.abs(firstLogits.flat()[i] - value), `logit ${i}`).toBeLessThan(PYTORCH);
    });
    const expected = fromTorch(run.first.gradients);
    expect(Object.keys(firstGradients).sort()).toEqual(Object.keys(expected).sort());
    for (const [name, values] of Object.entries(expected)) {
      values.forEach((value, i) => {
        expect(Math.abs(firstGradients[name][i] - value), `${name}[${i}]`).toBeLessThan(PYTORCH);
      });
    }
  });
});

describe("gradients are central differences", () => {
  const D = 3;
  const specs = (T: number, H: number): NetworkSpec[] => {
    const baselineHazard = Array.from({ length: T }, (_, t) => 0.05 + 0.02 * t);
    const choice = { D, T, hidden: H, hiddenIsGiven: true, baselineHazard };
    return [
      // Whatever is in the list, with groups where it takes them.
      ...NETWORKS.map((definition) => definition.describe({ ...choice, groups: 0 })),
      ...NETWORKS.filter(({ takesGroups }) => takesGroups).map((one) =>
        one.describe({ ...choice, groups: 2 }),
      ),
      { kind: "mlp", D, T, hidden: [H, 4] },
      { kind: "mlp", D, T, hidden: [] },
      { kind: "linear", D, T, baselineHazard, groups: 3 },
    ];
  };
  const cases = [1, 3, 17].flatMap((N) =>
    [1, 2, 7].flatMap((T) =>
      [1, 5].flatMap((H) => specs(T, H).map((spec, k) => ({ name: `${spec.kind} (${k})`, N, T, H, spec }))),
    ),
  );
  test.each(cases)("$name at N $N, T $T, H $H", async ({ N, T, spec }) => {
    const network = createNetwork(backend, spec, 5);
    // Away from the start, where slopes are 0 and output weights small.
    const { list } = await mirrorParameters(network);
    list.forEach(({ values }, k) => {
      const moved = draw(values.length, k);
      for (let i = 0; i < values.length; i++) values[i] += 0.5 * moved[i];
    });
    const x = draw(N * D, 1);
    const dLogits = draw(N * T, 2);
    await backward(network, x, N, dLogits);
    const rows = place(backend, x);
    const logits = backend.allocate(N * T);
    const weighted = async () => {
      await network.forward(rows, N, logits, null);
      return Array.from(await backend.read(logits)).reduce((sum, value, i) => sum + value * dLogits[i], 0);
    };
    for (const { name, values, gradient } of list) {
      await differentiate(values, weighted, (i, slope) => {
        expect(Math.abs(gradient[i] - slope), `${name}[${i}]`).toBeLessThan(GRADIENT * N * T);
      });
    }
  });
});

describe("passes", () => {
  const baselineHazard = [0.1, 0.2, 0.3, 0.2];
  const every: NetworkSpec[] = [
    { kind: "drsa", D: 2, T: 4, H: 3 },
    { kind: "anchored", D: 2, T: 4, H: 3, baselineHazard },
    { kind: "mlp", D: 2, T: 4, hidden: [5, 3] },
    { kind: "linear", D: 2, T: 4, baselineHazard },
  ];

  test.each(every)(
    "$kind: forward overwrites, backward adds, passes in between change nothing",
    async (spec) => {
      const network = createNetwork(backend, spec, 1);
      const x = draw(6, 3);
      const first = await logitsOf(network, x, 3);
      const more = draw(40, 4);
      await logitsOf(network, more, 20); // more rows than before
      expect(await logitsOf(network, x, 3)).toEqual(first);
      const rows = place(backend, x);
      const dLogits = place(backend, draw(12, 5));
      const logits = backend.allocate(12);
      const [kept, other] = [network.createActivations(), network.createActivations()];
      await network.forward(rows, 3, logits, kept);
      await network.backward(kept, dLogits);
      const { list } = await mirrorParameters(network);
      const once = list.map(({ gradient }) => Array.from(gradient));
      await network.forward(place(backend, more), 20, backend.allocate(80), kept); // used again for more rows
      await network.forward(rows, 3, logits, kept);
      await logitsOf(network, more, 20);
      await network.forward(place(backend, more), 20, backend.allocate(80), other);
      await network.backward(kept, dLogits);
      list.forEach(({ gradient }, k) => {
        once[k].forEach((value, i) => {
          expect(gradient[i]).toBeCloseTo(2 * value, 12);
        });
      });
      zeroGradients(network);
      expect(list.every(({ gradient }) => gradient.every((value) => value === 0))).toBe(true);
      const empty = network.createActivations();
      await expect(network.backward(empty, dLogits)).rejects.toThrow(BackendError);
    },
  );

  test.each(every)("$kind: memory that the host does not see gives the same bytes", async (spec) => {
    const runs = [backend, separateMemory(createReferenceBackend())].map(async (own) => {
      const network = createNetwork(own, spec, 1);
      const logits = await logitsOf(network, draw(6, 3), 3);
      await backward(network, draw(6, 3), 3, draw(12, 5));
      const parameters = await mirrorParameters(network);
      await parameters.pullGradients();
      const gradients = parameters.list.map(({ gradient }) => Array.from(gradient));
      const doubled = Object.entries(parameters.read()).map(([name, values]) => [
        name,
        values.map((value) => 2 * value),
      ]);
      parameters.write(Object.fromEntries(doubled));
      return { logits, gradients, doubled: await readParameters(network) };
    });
    const [shared, separate] = await Promise.all(runs);
    expect(separate).toEqual(shared);
  });

  test.each(every)(
    "$kind: float32 memory gives the same logits and gradients to its precision",
    async (spec) => {
      const exact = createNetwork(backend, spec, 1);
      const rounded = createNetwork(single, spec, 1);
      const x = draw(6, 3);
      const dLogits = draw(12, 5);
      const expected = await logitsOf(exact, x, 3);
      const logits = await logitsOf(rounded, x, 3);
      expected.forEach((value, i) => {
        expect(Math.abs(logits[i] - value)).toBeLessThan(2e-6);
      });
      await backward(exact, x, 3, dLogits);
      await backward(rounded, x, 3, dLogits);
      const { list } = await mirrorParameters(rounded);
      (await mirrorParameters(exact)).list.forEach(({ gradient }, k) => {
        expect(list[k].gradient).toBeInstanceOf(Float32Array);
        gradient.forEach((value, i) => {
          expect(Math.abs(list[k].gradient[i] - value)).toBeLessThan(2e-5);
        });
      });
    },
  );

  test.each(every)("$kind: rows that do not fit are refused", async (spec) => {
    const network = createNetwork(backend, spec, 1);
    const kept = network.createActivations();
    const [x, logits] = [backend.allocate(6), backend.allocate(12)];
    await expect(network.forward(backend.allocate(5), 3, logits, null)).rejects.toThrow(InputError);
    await expect(network.forward(x, 3, backend.allocate(11), null)).rejects.toThrow("11 of 12");
    await network.forward(x, 3, logits, kept);
    await expect(network.backward(kept, backend.allocate(11))).rejects.toThrow(/11 (of|values, needs) 12/);
  });

  test("an MLP of depth 0 is a slope per feature and bin", async () => {
    const network = createMlp(backend, { D: 2, T: 2, hidden: [], seed: 1 });
    writeParameters(network, { "dense0.weight": [1, 2, 3, 4], "dense0.bias": [0.5, -0.5] });
    expect(Array.from(await logitsOf(network, Float64Array.of(1, -1), 1))).toEqual([-0.5, -1.5]);
  });

  test("hidden units of an MLP are tanh", async () => {
    const network = createMlp(backend, { D: 1, T: 1, hidden: [2], seed: 1 });
    writeParameters(network, {
      "dense0.weight": [1, -2],
      "dense0.bias": [0.25, 0],
      "dense1.weight": [3, 5],
      "dense1.bias": [1],
    });
    const [logit] = await logitsOf(network, Float64Array.of(0.5), 1);
    expect(logit).toBeCloseTo(1 + 3 * Math.tanh(0.75) + 5 * Math.tanh(-1), 14);
  });
});

describe("where networks start", () => {
  test("DRSA is uniform on ±1/√H, as nn.LSTM and nn.Linear", async () => {
    const H = 50;
    const network = createDrsa(backend, { D: 10, T: 102, seed: 1 });
    const { parameters } = network;
    const start = await readParameters(network);
    expect(parameters.map(({ name, shape, decays }) => ({ name, shape, decays }))).toEqual([
      { name: "lstm.input", shape: [200, 11], decays: true },
      { name: "lstm.recurrent", shape: [200, 50], decays: true },
      { name: "lstm.inputBias", shape: [200], decays: false },
      { name: "lstm.recurrentBias", shape: [200], decays: false },
      { name: "lstm.output", shape: [50], decays: true },
      { name: "lstm.outputBias", shape: [1], decays: false },
    ]);
    const bound = 1 / Math.sqrt(H);
    for (const values of Object.values(start)) {
      for (const value of values) expect(Math.abs(value)).toBeLessThanOrEqual(bound);
    }
    const recurrent = start["lstm.recurrent"];
    const mean = recurrent.reduce((sum, value) => sum + value) / recurrent.length;
    const meanSquare = recurrent.reduce((sum, value) => sum + value * value, 0) / recurrent.length;
    // Standard errors at 10,000 draws: bound/√3/100 = 8.2e-4 of the mean, about 6e-5 of the mean square, bound²/3.
    expect(Math.abs(mean)).toBeLessThan(4 * 8.2e-4);
    expect(Math.abs(meanSquare - (bound * bound) / 3)).toBeLessThan(4 * 6e-5);
  });

  test("the seed decides, and float32 starts at the same weights rounded", async () => {
    const start = (from: Backend, seed: number) =>
      readParameters(createDrsa(from, { D: 3, H: 5, T: 9, seed }));
    const four = await start(backend, 4);
    expect(await start(backend, 4)).toEqual(four);
    expect(four["lstm.input"]).not.toEqual((await start(backend, 5))["lstm.input"]);
    expect(four["lstm.inputBias"]).not.toEqual(four["lstm.recurrentBias"]);
    expect((await start(single, 4))["lstm.input"]).toEqual(four["lstm.input"].map(Math.fround));
  });

  test("anchored: logits of the hazards, slopes 0, output weights a tenth, output bias 0", async () => {
    const baselineHazard = Float64Array.of(0.5, 0.2, 0.01);
    const sizes = { D: 2, H: 4, T: 3, seed: 9 };
    const network = createAnchored(backend, { ...sizes, baselineHazard });
    const plain = createDrsa(backend, sizes);
    expect(network.kind).toBe("anchored");
    expect(network.parameters.slice(6).map(({ name, shape, decays }) => ({ name, shape, decays }))).toEqual([
      { name: "baseline", shape: [3], decays: false },
      { name: "skip", shape: [2], decays: false },
    ]);
    const expected = [0, Math.log(1 / 4), Math.log(1 / 99)];
    expected.forEach((value, t) => {
      expect(parameterOf(network, "baseline")[t]).toBeCloseTo(value, 14);
    });
    expect(Array.from(parameterOf(network, "skip"))).toEqual([0, 0]);
    expect(parameterOf(network, "lstm.outputBias")[0]).toBe(0);
    parameterOf(plain, "lstm.output").forEach((value, k) => {
      expect(parameterOf(network, "lstm.output")[k]).toBe(value * 0.1);
    });
    expect(parameterOf(network, "lstm.recurrent")).toEqual(parameterOf(plain, "lstm.recurrent"));
    // |h| < 1 and |w| ≤ 1/√4/10 for four units: within .2 of the baseline whatever x.
    const logits = await logitsOf(network, draw(20, 1), 10);
    logits.forEach((value, i) => {
      expect(Math.abs(value - expected[i % 3])).toBeLessThan(0.2);
    });
  });

  test("anchored without its LSTM is the linear network", async () => {
    const options = { D: 2, T: 3, seed: 1, baselineHazard: [0.5, 0.2, 0.01] };
    for (const network of [
      createAnchored(backend, { ...options, H: 0 }),
      createAnchored(backend, { ...options, lstm: false }),
      createLinear(backend, options),
    ]) {
      expect(network.kind).toBe("linear");
      expect(network.parameters.map(({ name }) => name)).toEqual(["baseline", "skip"]);
      backend.write(network.parameters[1].values, [2, -3]);
      const logits = await logitsOf(network, Float64Array.of(1, 1, 0, 0), 2);
      [-1, Math.log(0.25) - 1, Math.log(1 / 99) - 1, 0, Math.log(0.25), Math.log(1 / 99)].forEach(
        (value, i) => {
          expect(logits[i]).toBeCloseTo(value, 14);
        },
      );
    }
  });

  test("MLP: uniform on ±1/√inputs; with hazards the last layer is anchored", async () => {
    const options = { D: 4, T: 3, hidden: [16, 9], seed: 2 };
    const plain = createMlp(backend, options);
    const anchored = createMlp(backend, { ...options, baselineHazard: [0.5, 0.2, 0.01] });
    expect(plain.parameters.map(({ name, shape, decays }) => [name, shape.join("×"), decays])).toEqual([
      ["dense0.weight", "16×4", true],
      ["dense0.bias", "16", false],
      ["dense1.weight", "9×16", true],
      ["dense1.bias", "9", false],
      ["dense2.weight", "3×9", true],
      ["dense2.bias", "3", false],
    ]);
    const start = Object.values(await readParameters(plain));
    [1 / 2, 1 / 2, 1 / 4, 1 / 4, 1 / 3, 1 / 3].forEach((bound, k) => {
      const largest = Math.max(...start[k].map(Math.abs));
      expect(largest).toBeLessThanOrEqual(bound);
      expect(largest).toBeGreaterThan(bound / 3);
    });
    expect(parameterOf(anchored, "dense1.weight")).toEqual(parameterOf(plain, "dense1.weight"));
    parameterOf(plain, "dense2.weight").forEach((value, i) => {
      expect(parameterOf(anchored, "dense2.weight")[i]).toBeCloseTo(value / 10, 15);
    });
    expect(parameterOf(anchored, "dense2.bias")[1]).toBeCloseTo(Math.log(0.25), 14);
  });

  test("sizes and hazards that make no network are refused", () => {
    expect(() => createDrsa(backend, { D: 0, T: 5, seed: 1 })).toThrow(
      "D of a network is not a whole number from 1: 0",
    );
    expect(() => createDrsa(backend, { D: 1, T: 2.5, seed: 1 })).toThrow(InputError);
    expect(() => createDrsa(backend, { D: 1, H: -1, T: 2, seed: 1 })).toThrow("H of a network");
    expect(() => createMlp(backend, { D: 1, T: 2, hidden: [3, 0], seed: 1 })).toThrow(
      "a hidden layer of a network",
    );
    expect(() => createLinear(backend, { D: 1, T: 2, baselineHazard: [0.1] })).toThrow(
      "there are baseline hazards for 1 bins, and the network has 2",
    );
    for (const bad of [0, 1, Number.NaN]) {
      expect(() => createLinear(backend, { D: 1, T: 2, baselineHazard: [0.1, bad] })).toThrow(
        `baseline hazard outside (0, 1): ${bad} in bin 2`,
      );
    }
  });
});

describe("anchorHazards", () => {
  // 3 events in 80 row-bins: the floor is .1 × 3/80 = .00375; raised hazards .00375 .1 .00375 .00375 .1 .00375.
  test("floor, then a mean over 5 bins that shrinks at the ends, by hand", () => {
    const expected = [0.1075 / 3, 0.11125 / 4, 0.21125 / 5, 0.21125 / 5, 0.11125 / 4, 0.1075 / 3];
    const hazards = anchorHazards([0, 2, 0, 0, 1, 0], [20, 20, 15, 10, 10, 5]);
    expected.forEach((value, t) => {
      expect(hazards[t]).toBeCloseTo(value, 15);
    });
  });

  test("bins with nobody at risk take the floor; a hazard of 1 is kept below 1", () => {
    expect(anchorHazards([1, 0], [4, 0])[1]).toBeCloseTo((0.25 + 0.025) / 2, 15);
    expect(Array.from(anchorHazards([3], [3]))).toEqual([0.999]);
  });

  test("no events, or counts of two lengths, are refused", () => {
    expect(() => anchorHazards([0, 0], [3, 2])).toThrow("no events to start the baseline hazard from");
    expect(() => anchorHazards([1], [3, 2])).toThrow(InputError);
  });

  test("always below 1, at least the floor and at most the largest hazard", () => {
    const rows = fc.array(fc.record({ e: fc.nat(20), c: fc.nat(20) }), { minLength: 1, maxLength: 30 });
    fc.assert(
      fc.property(rows, (bins) => {
        fc.pre(bins.some(({ e }) => e > 0));
        const events = bins.map(({ e }) => e);
        const atRisk = bins.map((_, t) => bins.slice(t).reduce((sum, { e, c }) => sum + e + c, 0));
        const raw = events.map((e, t) => (atRisk[t] > 0 ? e / atRisk[t] : 0));
        const floor = events.reduce((a, b) => a + b) / atRisk.reduce((a, b) => a + b) / 10;
        for (const hazard of anchorHazards(events, atRisk)) {
          expect(hazard).toBeGreaterThanOrEqual(floor * (1 - 1e-12));
          expect(hazard).toBeLessThan(1);
          expect(hazard).toBeLessThanOrEqual(Math.max(...raw, floor) * (1 + 1e-12));
        }
      }),
      { seed: 3, numRuns: 200 },
    );
  });
});

describe("descriptions and checkpoints", () => {
  const spec: NetworkSpec = { kind: "anchored", D: 2, T: 3, H: 4, baselineHazard: [0.1, 0.2, 0.3] };

  test("a description survives JSON and gives the same network", async () => {
    const network = createNetwork(backend, spec, 3);
    const again = createNetwork(backend, JSON.parse(JSON.stringify(spec)), 3);
    expect(await readParameters(again)).toEqual(await readParameters(network));
    expect(await logitsOf(again, draw(4, 1), 2)).toEqual(await logitsOf(network, draw(4, 1), 2));
    expect(createNetwork(backend, { ...spec, lstm: false }, 3).kind).toBe("linear");
    expect(createNetwork(backend, { kind: "mlp", D: 2, T: 3 }, 3).parameters[0].shape).toEqual([32, 2]);
    expect(createNetwork(backend, { kind: "drsa", D: 2, T: 3 }, 3).parameters[1].shape).toEqual([200, 50]);
  });

  test.each(NETWORKS)("$kind: what a run asks for is a description that a file may hold", (definition) => {
    const baselineHazard = [0.1, 0.2, 0.3];
    for (const groups of [0, 1]) {
      const choice = { D: 2, T: 3, groups, hidden: 4, hiddenIsGiven: true, baselineHazard };
      const described = definition.describe(choice);
      expect(definition.schema.parse(JSON.parse(JSON.stringify(described)))).toEqual(described);
      expect("groups" in described).toBe(definition.takesGroups && groups > 0);
      expect(createNetwork(backend, described, 1).kind).toBe(definition.kind);
    }
  });

  test("an unknown network is refused", () => {
    const unknown = JSON.parse('{"kind": "forest", "D": 1, "T": 2}');
    expect(() => createNetwork(backend, unknown, 1)).toThrow(FormatError);
    expect(() => createNetwork(backend, unknown, 1)).toThrow('unknown network: "forest"');
  });

  test("parameters come back through JSON exactly", async () => {
    const from = await readParameters(createNetwork(backend, spec, 3));
    const network = createNetwork(backend, spec, 4);
    writeParameters(network, JSON.parse(JSON.stringify(from)));
    expect(await readParameters(network)).toEqual(from);
    from.skip[0] = 99; // a copy, not a view
    expect(parameterOf(network, "skip")[0]).toBe(0);
  });

  test("what does not fit is refused and nothing is written", async () => {
    const network = createNetwork(backend, spec, 3);
    const before = await readParameters(network);
    const other = await readParameters(createNetwork(backend, spec, 4));
    const attempts: [Record<string, number[]>, string][] = [
      [{ ...other, extra: [1] }, "unknown parameter: extra"],
      [{ ...other, skip: [1] }, "parameter skip has 1 values, its shape [2] has 2"],
      [{ ...other, skip: [1, Number.NaN] }, "parameter skip is not a finite number: NaN, value 2"],
      [
        Object.fromEntries(Object.entries(other).filter(([name]) => name !== "skip")),
        "missing parameter: skip",
      ],
    ];
    for (const [values, message] of attempts) {
      expect(() => writeParameters(network, values)).toThrow(FormatError);
      expect(() => writeParameters(network, values)).toThrow(message);
      expect(await readParameters(network)).toEqual(before);
    }
  });
});
