/**
 * The desk: what the worker has open, and the answers to what the page may ask of it. Here are tables and what is kept;
 * model-desk.ts has the rest, and is loaded when it is first needed.
 */
import { readTable, tableSourceFromBytes } from "graduate-survival";
import { InputError } from "graduate-survival/core";
import { sha256 as hashBytes, toHex } from "graduate-survival/files";
import { NO_CHOICES, pickReading } from "../choices.ts";
import type { Choices, Desk, FromDesk, Kept, Reading, TableFile, TableView } from "../protocol.ts";
import { viewColumns } from "./columns.ts";
import { createGate } from "./gate.ts";
import { suggestGroups, viewGroups } from "./groups.ts";
import { guessOutcome } from "./guess.ts";
import type { ModelDesk, ModelTable } from "./model-desk.ts";
import { forgetAll, isKeeping, keepFile, readKept, startKeeping } from "./store.ts";
import { createTurns } from "./turns.ts";

interface OpenTable extends ModelTable {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly gate: ReturnType<typeof createGate>;
}

/** What is kept of a person's work besides bytes. */
interface KeptChoices {
  readonly name: string;
  readonly sha256: string;
  readonly choices: Choices;
}

export function createDesk(tell: (message: FromDesk) => void): Desk {
  let opened: OpenTable | null = null;
  let loading: Promise<ModelDesk> | null = null;
  const inTurn = createTurns();
  let writing: Promise<unknown> = Promise.resolve();

  function loadModels(): Promise<ModelDesk> {
    loading ??= import("./model-desk.ts").then(({ createModelDesk }) =>
      createModelDesk({
        tell,
        table: () => opened,
        written: () => writing,
        async readAgain(reading) {
          if (opened !== null) await openBytes(opened.name, opened.bytes, reading);
        },
      }),
    );
    return loading;
  }

  async function openBytes(name: string, bytes: Uint8Array<ArrayBuffer>, asked: Reading): Promise<TableView> {
    const reading = pickReading(asked);
    const { number, decimal, thousands } = reading;
    const onProgress = (read: number) =>
      tell({ type: "progress", words: `reading ${name}`, share: read / bytes.length });
    const table = await readTable(tableSourceFromBytes(name, bytes), {
      ...reading,
      onProgress,
      // Columns are read as numbers where they have decimal commas.
      ...(number.length === 0 || decimal || thousands ? {} : { decimal: "comma" as const }),
    });
    opened = { name, bytes, table, sha256: toHex(hashBytes(bytes)), reading, gate: createGate(table) };
    const columns = viewColumns(table);
    return { name: table.name, rows: table.rows, columns, ...guessOutcome(columns, table) };
  }

  function requireTable(): OpenTable {
    if (opened === null) throw new InputError("no table is open", { code: "table.none" });
    return opened;
  }

  async function keep(choices: Choices | null): Promise<void> {
    if (choices === null) return forgetAll();
    const isFirst = !(await isKeeping());
    await startKeeping();
    if (opened === null) return;
    const { name, sha256, bytes } = opened;
    if ((await readChoices())?.sha256 !== sha256) {
      await keepFile("table", bytes);
      if (!isFirst) for (const stale of ["model", "checkpoint"] as const) await keepFile(stale, null);
    }
    const kept: KeptChoices = { name, sha256, choices };
    await keepFile("choices", new TextEncoder().encode(JSON.stringify(kept)));
    if (isFirst && loading !== null) await (await loading).keepModel();
  }

  async function restore(): Promise<Kept | null> {
    const [bytes, kept] = await Promise.all([readKept("table"), readChoices()]);
    if (bytes === null || kept === null) return null;
    const { name } = kept;
    // Choices that were kept before there was a field have none of it.
    const choices = { ...NO_CHOICES, ...kept.choices };
    const table = await openBytes(name, bytes, choices);
    const models = await loadModels();
    return { table, choices, ...(await models.restoreModel(choices)) };
  }

  const models =
    <Name extends keyof Omit<ModelDesk, "keepModel" | "restoreModel" | "clear">>(name: Name) =>
    async (...args: Parameters<Desk[Name]>) => {
      const answer = (await loadModels())[name] as (...all: Parameters<Desk[Name]>) => unknown;
      return answer(...args);
    };

  return {
    async openTable(file, reading) {
      const { name, bytes } = file === null ? requireTable() : await readBytes(file);
      const view = await openBytes(name, bytes, reading);
      if (loading !== null) (await loading).clear();
      return view;
    },
    checkTable: async (choices) => requireTable().gate(choices),
    suggestGroups: async (choices) => suggestGroups(requireTable().table, choices),
    viewGroups: async (choices, groups) => viewGroups(requireTable().table, choices, groups),
    listDistances: models("listDistances") as Desk["listDistances"],
    train: models("train") as Desk["train"],
    pause: models("pause") as Desk["pause"],
    stop: models("stop") as Desk["stop"],
    openModel: models("openModel") as Desk["openModel"],
    download: models("download") as Desk["download"],
    viewPerson: models("viewPerson") as Desk["viewPerson"],
    explainPerson: models("explainPerson") as Desk["explainPerson"],
    writeCard: models("writeCard") as Desk["writeCard"],
    openCurves: models("openCurves") as Desk["openCurves"],
    auditCurves: models("auditCurves") as Desk["auditCurves"],
    auditIncidences: models("auditIncidences") as Desk["auditIncidences"],
    keep(choices) {
      const kept = inTurn(() => keep(choices));
      writing = kept.catch(() => undefined);
      return kept;
    },
    restore,
    async forget() {
      if (loading !== null) (await loading).clear();
      opened = null;
      // After what is being written, which would bring the folder back.
      await inTurn(forgetAll);
    },
  };
}

async function readChoices(): Promise<KeptChoices | null> {
  const text = await readKept("choices");
  return text === null ? null : (JSON.parse(new TextDecoder().decode(text)) as KeptChoices);
}

async function readBytes(file: TableFile): Promise<{ name: string; bytes: Uint8Array<ArrayBuffer> }> {
  if (file instanceof File) return { name: file.name, bytes: new Uint8Array(await file.arrayBuffer()) };
  const { name, address } = file;
  const response = await fetch(address);
  if (response.ok) return { name, bytes: new Uint8Array(await response.arrayBuffer()) };
  throw new InputError(`the example cannot be fetched: status ${response.status}`, { code: "file.missing" });
}
