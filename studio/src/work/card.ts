/**
 * The card of one person: beside curve and risks, what drives them and how right the model is for the groups the person
 * belongs to. The people compared with, and the groups' bounds, are the same for everyone and computed once a model.
 */
import {
  type Backend,
  GraduateError,
  gatherCard,
  gridOf,
  type Measured,
  type Model,
  openStudy,
  predictPeople,
  prepareExplainer,
  type Table,
} from "graduate";
import { absent, present } from "graduate/core";
import { timeLabelOf } from "graduate/report";
import { BAND_LEVEL, chooseRiskTimes, hasBands, type JudgedGroups, judgeCardGroups } from "graduate/verbs";
import type { PersonRequest } from "../protocol.ts";
import { buildPerson } from "./people.ts";
import { PROGRAM } from "./verdict.ts";

interface CardInput {
  readonly model: Model;
  readonly table: Table;
  readonly sha256: string;
  readonly unit: string;
  readonly backend: Backend;
}

type WriteCard = (request: PersonRequest) => Promise<string>;

/** Prepares a model for cards of people of its table. */
export async function prepareCards(input: CardInput): Promise<WriteCard> {
  const { model, table, sha256, unit, backend } = input;
  const label = timeLabelOf(unit === "" ? undefined : unit, model.columns.origin);
  const at = chooseRiskTimes(gridOf(model), label);
  const explain = await prepareExplainer(model, table, backend, { at, sha256 });
  const groups = await judgeGroups(input);
  return async (request) => {
    const { one, isChanged } = buildPerson(model, table, request);
    const explanation = await explain(one, 0);
    const asked = hasBands(model) ? { bands: BAND_LEVEL } : {};
    const { bands } = await predictPeople(model, one, backend, asked);
    const more = present({ timeUnit: label, bands: bands ?? undefined });
    const card = gatherCard({ model, table: one, explanation, groups, ...more });
    const name = isChanged ? `${table.name}, with changed values` : table.name;
    const person = { table: name, row: request.row ?? 0, id: null };
    const [{ parseHTML }, { renderCardPage }] = await Promise.all([
      import("linkedom/worker"),
      import("./report-page.ts"),
    ]);
    const { document } = parseHTML("<html></html>");
    return renderCardPage({ ...card, person }, { document, program: PROGRAM });
  };
}

/** Absent, with the reason, where the table's outcomes cannot be used. */
async function judgeGroups({ model, table, sha256, backend }: CardInput): Promise<Measured<JudgedGroups>> {
  try {
    return await judgeCardGroups(await openStudy(model, table, backend, { sha256 }), backend);
  } catch (error) {
    if (error instanceof GraduateError) return absent(error.message);
    throw error;
  }
}
