// A card's data with everything on it: limits of the curve, groups large, small and hidden, a cell of each doubt, and
// names that try to break out of the page.
import { createReferenceBackend } from "../../src/compute/reference.ts";
import { createRandom } from "../../src/core/random.ts";
import { fitEncoder } from "../../src/data/encode/fit-encoder.ts";
import type { Table } from "../../src/data/table.ts";
import type { Model } from "../../src/training/model.ts";
import { openStudy } from "../../src/verbs/model-study.ts";
import { type CardData, type CurveBands, gatherCard } from "../../src/verbs/people/card.ts";
import { judgeCardGroups } from "../../src/verbs/people/card-groups.ts";
import { explainPerson } from "../../src/verbs/people/explain.ts";
import { patientModel } from "../files/onnx-models.ts";
import { HOSTILE } from "./report-input.ts";

const N = 160;

/** Row 0 has a weight that no training row has, no pulse, and a level that is new. */
export function makePeople(): Table {
  const random = createRandom(11);
  const draw = (name: string, value: (row: number) => number) => ({
    name,
    type: "number" as const,
    values: Float64Array.from({ length: N }, (_, row) => value(row)),
  });
  return {
    name: `${HOSTILE[2]}.csv`,
    rows: N,
    columns: [
      draw(HOSTILE[0], (row) => (row === 0 ? 300 : Math.round(70 + 12 * random.normal()))),
      draw("pulse", (row) => (row === 0 ? Number.NaN : Math.round(65 + 8 * random.normal()))),
      {
        name: "site",
        type: "category",
        levels: ["east", HOSTILE[1], "west"],
        codes: Int32Array.from({ length: N }, (_, row) => (row === 0 ? 1 : row % 2 === 0 ? 0 : 2)),
      },
      draw("height", () => Math.round(170 + 10 * random.normal())),
      draw("months", () => Number((0.5 + 14 * random.uniform()).toFixed(2))),
      draw("status", () => (random.uniform() < 0.55 ? 1 : 0)),
      {
        name: "who",
        type: "category",
        levels: Array.from({ length: N }, (_, row) => `${HOSTILE[3]} ${row}`),
        codes: Int32Array.from({ length: N }, (_, row) => row),
      },
    ],
  };
}

/** The model has not seen `height`, nor who is tall. */
export function makeCardModel(people: Table): Model {
  const rows = Int32Array.from({ length: N - 1 }, (_, k) => k + 1);
  const encoder = fitEncoder(people, {
    features: [HOSTILE[0], "pulse", "site"],
    rows,
    unknownLevels: "allow",
  });
  return {
    ...patientModel(encoder, "linear"),
    columns: { time: "months", event: "status" },
    groups: [
      { name: "all", expression: "all" },
      { name: HOSTILE[0], expression: "pulse is missing" },
      { name: "anywhere", expression: "height > 0" },
      { name: "tall", expression: "height > 300" },
    ],
  };
}

/** Made up: a tenth of the way to 0 and to 1. */
export function makeBands(survival: Float64Array): CurveBands {
  return { level: 0.9, lower: survival.map((S) => 0.9 * S), upper: survival.map((S) => S + 0.1 * (1 - S)) };
}

export async function makeCard(): Promise<CardData> {
  const backend = createReferenceBackend();
  const people = makePeople();
  const model = makeCardModel(people);
  const explanation = await explainPerson(model, people, backend, 0, { at: [4, 8, 15] });
  const groups = await judgeCardGroups(await openStudy(model, people, backend), backend);
  const bands = makeBands(explanation.survival);
  return gatherCard({ model, table: people, explanation, groups, timeUnit: "months", id: "who", bands });
}
