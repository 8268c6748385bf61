/**
 * The card of one person: beside curve and risks, what drives them and how right the model is for the groups the person
 * belongs to. The people compared with, and the groups' bounds, are the same for everyone and computed once a model.
 */
import {
  type Backend,
  type Explanation,
  GraduateError,
  gatherCard,
  gridOf,
  type Measured,
  type Model,
  openStudy,
  predictPeople,
  prepareExplainer,
  type Table,
} from "graduate-survival";
import { absent, present } from "graduate-survival/core";
import { listDrivers, timeLabelOf } from "graduate-survival/report";
import {
  BAND_LEVEL,
  chooseRiskTimes,
  hasBands,
  type JudgedGroups,
  judgeCardGroups,
} from "graduate-survival/verbs";
import type { DriversView, PersonRequest } from "../protocol.ts";
import { buildPerson, chooseMoment } from "./people.ts";
import { renderCard } from "./pages.ts";

interface CardInput {
  readonly model: Model;
  readonly table: Table;
  readonly sha256: string;
  readonly unit: string;
  readonly backend: Backend;
}

/** What can be said of people of a model's table. */
export interface Cards {
  /** What drives the person's risk, from fewer composed rows than a card's, so that it follows a slider. */
  explain(request: PersonRequest): Promise<readonly DriversView[]>;
  write(request: PersonRequest): Promise<string>;
}

/** Composed rows of a person whose sliders are moved: an error of a tenth of a point with forty columns. */
const LIVE_ROWS = 8192;

/** Prepares a model for cards of people of its table. Each part is prepared when it is first asked for. */
export function prepareCards(input: CardInput): Cards {
  const { model, table, sha256, unit, backend } = input;
  const label = timeLabelOf(unit === "" ? undefined : unit, model.columns.origin);
  const at = chooseRiskTimes(gridOf(model), label);
  const moment = chooseMoment(model, unit);
  let live: ReturnType<typeof prepareExplainer> | undefined;
  let whole: Promise<WriteCard> | undefined;
  return {
    async explain(request) {
      live ??= prepareExplainer(model, table, backend, { at: [moment.time], sha256, budget: LIVE_ROWS });
      const { one } = buildPerson(model, table, request);
      return viewDrivers(await (await live)(one, 0), moment.words);
    },
    async write(request) {
      whole ??= prepareWhole(input, label, at);
      return (await whole)(request);
    },
  };
}

function viewDrivers(explanation: Explanation, moment: string): DriversView[] {
  const { times, byCause } = explanation;
  const all = byCause?.all ?? [{ name: null, times }];
  return all.map(({ name: cause, times: own }) => {
    const { risk } = own[own.length - 1];
    const drivers = listDrivers(explanation, risk).map(({ name, value, contribution }) => ({
      name,
      value,
      share: contribution,
    }));
    return { cause, moment, everyone: risk.baseline, person: risk.prediction, drivers };
  });
}

type WriteCard = (request: PersonRequest) => Promise<string>;

async function prepareWhole(
  input: CardInput,
  label: string | undefined,
  at: readonly number[],
): Promise<WriteCard> {
  const { model, table, sha256, backend } = input;
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
    return renderCard({ ...card, person: { table: name, row: request.row ?? 0, id: null } });
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
