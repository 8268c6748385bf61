// Predictions by cause as they leave for a file: survival and the incidences of all causes make 1 in the text itself.
import { expect, test } from "vitest";
import { openCsvPeople } from "../../src/node/io/people-output.ts";
import { layOutPeople, type PeoplePart } from "../../src/verbs/people/people-columns.ts";

const T = 3;
/** F of two causes by bin, and what they leave. */
const incidence = Float64Array.from([1 / 7, 2 / 7, 0.3, 1e-9 / 3, 1 / 9, 1 / 3]);
const survival = Float64Array.from({ length: T }, (_, t) => 1 - incidence[t] - incidence[T + t]);
const part = {
  firstRow: 0,
  curves: { N: 1, T, survival },
  median: Float64Array.of(Number.NaN),
  survival: survival.slice(2),
  risk: Float64Array.of(1 - survival[2]),
  causes: { names: ["a", "b"], incidence, risk: Float64Array.of(incidence[2], incidence[5]) },
  doubts: { outsideRange: [[]], imputed: [[]], unknownLevels: [[]] },
} as unknown as PeoplePart;

async function write(layout: Parameters<typeof layOutPeople>[1]) {
  let text = "";
  const output = {
    write: async (bytes: Uint8Array) => {
      text += Buffer.from(bytes);
    },
    finish: async () => {},
  };
  const rows = openCsvPeople(output as never, layOutPeople({ at: [9] }, layout), false);
  await rows.write(part);
  await rows.finish();
  const [names, cells] = text
    .trimEnd()
    .split("\n")
    .map((line) => line.split(","));
  return (name: string) => Number(cells[names.indexOf(name)]);
}

test("curves and risks of two causes make 1 to the last digits", async () => {
  const cell = await write({ causes: ["a", "b"], curves: T });
  for (let t = 1; t <= T; t++) {
    expect(cell(`b_F${t}`)).toBe(incidence[T + t - 1]);
    expect(Math.abs(cell(`S${t}`) + cell(`a_F${t}`) + cell(`b_F${t}`) - 1)).toBeLessThan(1e-15);
  }
  expect(Math.abs(cell("risk_9") - cell("risk_9_a") - cell("risk_9_b"))).toBeLessThan(1e-15);
  const long = await write({ causes: ["a", "b"], long: true });
  expect(Math.abs(long("survival") + long("risk_a") + long("risk_b") - 1)).toBeLessThan(1e-15);
});

test("of one kind of event the file has ten decimals, as ever", async () => {
  const cell = await write({ curves: T });
  expect(cell("S1")).toBe(Number(survival[0].toFixed(10)));
  expect(cell("S1")).not.toBe(survival[0]);
});
