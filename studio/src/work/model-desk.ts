/**
 * The part of the desk that has to do with models: training, verdict, people, files, and curves of other programs. It
 * is loaded when the first of these is asked for, so that a table can be read and checked before it is there.
 */
import {
  type Backend,
  checkpointFromBytes,
  checkpointToBytes,
  gridOf,
  type Model,
  modelFromBytes,
  modelToBytes,
  readTable,
  type Table,
  tableSourceFromBytes,
} from "graduate-survival";
import { InputError } from "graduate-survival/core";
import type { SavedCheckpoint } from "graduate-survival/files";
import { DISTANCES } from "graduate-survival/training";
import { categoriesOf, columnsNeeded } from "graduate-survival/verbs";
import type {
  CauseVerdict,
  Choices,
  Desk,
  FromDesk,
  GroupProgress,
  ModelView,
  Reading,
} from "../protocol.ts";
import { UNIT_OF_DATES, unitOfName } from "../unit.ts";
import { createBackends, openLane } from "./backends.ts";
import { type Cards, prepareCards } from "./card.ts";
import { auditIncidences } from "./cause-verdict.ts";
import { writeFile } from "./downloads.ts";
import { auditOutsideCurves, viewCurves } from "./outside-curves.ts";
import { curveOf, listInputs, viewPerson } from "./people.ts";
import { describeRun, stemOf } from "./request.ts";
import { type RunControl, runTraining } from "./run.ts";
import { keepFile, readKept } from "./store.ts";
import { createTurns } from "./turns.ts";
import { describeAudit, type Judged, judgeOpened, judgeTrained, unjudged } from "./verdict.ts";

/** The table that is open, as far as models need it. */
export interface ModelTable {
  readonly name: string;
  readonly table: Table;
  readonly sha256: string;
  readonly reading: Reading;
}

export interface OpenModel extends Judged {
  readonly name: string;
  readonly unit: string;
}

/** What writes cards of a model, for as long as model and backend are the same. */
interface OpenCards {
  readonly model: Model;
  readonly backend: Backend;
  readonly cards: Cards;
}

/** What the models' part of the desk is given by the other. */
export interface Surroundings {
  readonly tell: (message: FromDesk) => void;
  readonly table: () => ModelTable | null;
  /** Resolves when everything that is to be kept is written. */
  readonly written: () => Promise<unknown>;
  /** Reads the table again with more columns as categories, as a model needs it. */
  readonly readAgain: (reading: Reading) => Promise<void>;
}

type Answers = Pick<
  Desk,
  | "listDistances"
  | "train"
  | "pause"
  | "stop"
  | "openModel"
  | "download"
  | "viewPerson"
  | "explainPerson"
  | "writeCard"
  | "openCurves"
  | "auditCurves"
  | "auditIncidences"
>;

export interface ModelDesk extends Answers {
  /** Writes the model that is open, where it is to be kept from now on. */
  keepModel(): Promise<void>;
  restoreModel(
    choices: Choices,
  ): Promise<{ readonly model: ModelView | null; readonly checkpoint: number | null }>;
  /** A new table: nothing of the old one is left. */
  clear(): void;
}

/** For single people: the same curves on every machine. */
const PREDICTING = { backend: "wasm", deterministic: true } as const;

export function createModelDesk({ tell, table: openedTable, written, readAgain }: Surroundings): ModelDesk {
  const backends = createBackends();
  /** Of its own, so that a curve follows a slider while a risk is taken apart. */
  const explaining = createBackends();
  let model: OpenModel | null = null;
  let curves: Table | null = null;
  let cards: OpenCards | null = null;
  let checkpoint: SavedCheckpoint | null = null;
  let control = createControl();
  const say = (words: string, share: number) => tell({ type: "progress", words, share });
  /** A backend runs one operation at a time. */
  const inTurn = createTurns();
  const inTurnOfCards = createTurns();
  const stepOf = () => checkpoint?.checkpoint.step ?? null;

  function requireTable(): ModelTable {
    const own = openedTable();
    if (own === null) throw new InputError("no table is open", { code: "table.none" });
    return own;
  }

  function requireModel(): OpenModel {
    if (model === null) throw new InputError("no model is open", { code: "model.none" });
    return model;
  }

  function show(judged: Judged, name: string, command: string, unit: string): ModelView {
    const { model: own, report, warnings } = judged;
    const { verdict } = own.training;
    const met = verdict.filter(({ status }) => status === "met").length;
    model = { ...judged, name, unit };
    const { columns, causes } = own;
    const isPlain = [causes, columns.entry, columns.start, columns.weights].every((one) => one === undefined);
    return {
      name,
      words: `${own.method}, ${columnsNeeded(own).length} columns, ${own.grid.T} time bins`,
      inputs: listInputs(own, openedTable()?.table ?? null),
      rows: openedTable()?.table.rows ?? 0,
      horizon: gridOf(own).edges[own.grid.T],
      unit,
      report,
      hasCurves: judged.audited !== null && isPlain,
      warnings,
      command,
      byCause: own.causes === undefined ? null : verdict.map(describeVerdict),
      held: verdict.length === 0 ? null : verdict.map(describeHeld),
      met: verdict.length === 0 ? null : `${met} of ${verdict.length} groups met`,
    };
  }

  async function openCards(): Promise<Cards> {
    const { model: own, unit } = requireModel();
    const { table, sha256 } = requireTable();
    const { backend } = await explaining.open(PREDICTING);
    if (cards?.model !== own || cards.backend !== backend) {
      cards = { model: own, backend, cards: prepareCards({ model: own, table, sha256, unit, backend }) };
    }
    return cards.cards;
  }

  async function train(own: RunControl, choices: Choices, goOn: boolean): Promise<ModelView | null> {
    const { table, sha256 } = requireTable();
    const { backend, words } = await backends.open(choices.train);
    const trained = await runTraining({
      ...{ table, sha256, choices, backend, backendWords: words, control: own },
      openLane: (threads) => openLane(choices.train, threads),
      resume: goOn ? checkpoint : null,
      tell: (run) => own.isDropped || tell({ type: "run", run }),
      async keepCheckpoint(saved) {
        if (own.isDropped) return;
        checkpoint = saved;
        await keepFile("checkpoint", checkpointToBytes(saved));
      },
    });
    if (trained === null || own.isDropped) return null;
    const command = describeRun(table, choices);
    const judging = { backend, seed: choices.train.seed, unit: choices.unit, sha256, command, say };
    const judged = await judgeTrained(trained, judging);
    if (own.isDropped) return null;
    checkpoint = null;
    await keepFile("checkpoint", null);
    await keepFile("model", modelToBytes(judged.model));
    return show(judged, `${stemOf(table.name)}.model`, command, choices.unit);
  }

  /** Judges a model of a file on the table that is open, if one is. */
  async function judge(own: Model, name: string, choices: Choices): Promise<ModelView> {
    const opened = openedTable();
    const { time, origin } = own.columns;
    const unit = choices.unit || (origin === undefined ? unitOfName(time) : UNIT_OF_DATES);
    const command = describeAudit(name, opened?.name ?? "TABLE", unit);
    if (opened === null) return show(unjudged(own), name, command, unit);
    const { category: known } = opened.reading;
    const category = [...new Set([...known, ...categoriesOf(own)])];
    if (category.length > known.length) await readAgain({ ...opened.reading, category });
    const { table, sha256 } = requireTable();
    const { backend } = await backends.open(choices.train);
    const judging = { backend, seed: 1, unit, sha256, command, say };
    return show(await judgeOpened(own, name, table, judging), name, command, unit);
  }

  return {
    listDistances: async () => Object.entries(DISTANCES).map(([name, { words }]) => ({ name, words })),
    train(choices, goOn) {
      // Before anything is waited for: a pause may follow at once.
      const own = createControl();
      control = own;
      return inTurn(async () => {
        await written();
        return train(own, choices, goOn);
      });
    },
    async pause(isPaused) {
      control.isPaused = isPaused;
    },
    async stop() {
      control.isStopped = true;
      return stepOf();
    },
    async openModel(file, choices) {
      const bytes = new Uint8Array(await file.arrayBuffer());
      const own = modelFromBytes(bytes, file.name);
      return inTurn(() => judge(own, file.name, choices));
    },
    download: async (kind) => writeFile(kind, requireModel(), openedTable()?.name ?? null),
    viewPerson: (request) =>
      inTurn(async () => {
        const own = requireModel();
        const { backend } = await backends.open(PREDICTING);
        const table = openedTable()?.table ?? null;
        const { model: shown, unit } = own;
        return viewPerson({ model: shown, table, backend, unit, everyone: everyoneOf(own) }, request);
      }),
    explainPerson: (request) => inTurnOfCards(async () => (await openCards()).explain(request)),
    writeCard: (request) => inTurnOfCards(async () => (await openCards()).write(request)),
    async openCurves(file) {
      const bytes = new Uint8Array(await file.arrayBuffer());
      curves = await readTable(tableSourceFromBytes(file.name, bytes));
      return viewCurves(curves);
    },
    async auditCurves(request) {
      if (curves === null) throw new InputError("no curves are open", { code: "curves.none" });
      return auditOutsideCurves(curves, request, say);
    },
    auditIncidences: async (choices, request) => auditIncidences(requireTable().table, choices, request, say),
    async keepModel() {
      if (model !== null) await keepFile("model", modelToBytes(model.model));
    },
    async restoreModel(choices) {
      const [kept, saved] = await Promise.all([readKept("model"), readKept("checkpoint")]);
      if (saved !== null) checkpoint = checkpointFromBytes(saved, "the checkpoint that was kept");
      if (kept === null) return { model: null, checkpoint: stepOf() };
      const own = modelFromBytes(kept, "the model that was kept");
      const name = `${stemOf(requireTable().name)}.model`;
      return { model: await inTurn(() => judge(own, name, choices)), checkpoint: stepOf() };
    },
    clear() {
      control.isStopped = true;
      control.isDropped = true;
      [model, curves, checkpoint] = [null, null, null];
    },
  };
}

function describeVerdict(one: Model["training"]["verdict"][number]): CauseVerdict {
  const { group, n, events, slack, distance, status } = one;
  return { group, n, events, slack, distance: distance.solve, fresh: distance.fresh, status };
}

function describeHeld({
  group,
  slack,
  distance,
  status,
}: Model["training"]["verdict"][number]): GroupProgress {
  return {
    name: group,
    distance: distance.solve,
    slack,
    constrained: status !== "unsupported",
    isMet: status === "met",
  };
}

/** The mean curve of the rows that were judged; without any, nothing to compare a person with. */
function everyoneOf({ model, mean }: OpenModel) {
  return mean === null ? { time: [], survival: [] } : curveOf(model, mean);
}

function createControl(): RunControl {
  return { isPaused: false, isStopped: false, isDropped: false };
}
