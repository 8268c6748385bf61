/**
 * `graduate explain`: why one person of a table is predicted what they are, column by column, and with `--card` one
 * page about that person. The groups on the page are judged by rows that the model has not seen, where the table has
 * outcomes.
 */
import { availableParallelism } from "node:os";
import { type Command, Option } from "commander";
import type { Backend } from "../../compute/backend.ts";
import { GraduateError } from "../../core/errors.ts";
import { absent, type Measured } from "../../core/measured.ts";
import { present } from "../../core/present.ts";
import { outcomeNames } from "../../data/outcomes/read-outcomes.ts";
import { cellText, findColumn, type Table } from "../../data/table.ts";
import { timeLabelOf } from "../../report/data/describe-model.ts";
import { isStartStop, type Model, STAYS_AS_IT_IS } from "../../training/model.ts";
import { openStudy } from "../../verbs/model-study.ts";
import { BAND_LEVEL, type CurveBands, hasBands } from "../../verbs/people/bands.ts";
import { type CardInput, chooseRiskTimes, describeDoubts, gatherCard } from "../../verbs/people/card.ts";
import { type JudgedGroups, judgeCardGroups } from "../../verbs/people/card-groups.ts";
import { explainPerson } from "../../verbs/people/explain.ts";
import { explainDocument } from "../../verbs/people/explain-document.ts";
import { chooseCause } from "../../verbs/people/explained-quantities.ts";
import { findPersonRow } from "../../verbs/people/person-row.ts";
import { predictPeople } from "../../verbs/people/predict-people.ts";
import { columnsNeeded, gridOf } from "../../verbs/predict.ts";
import { replaceFile } from "../io/growing-file.ts";
import { readModel } from "../io/model-file.ts";
import { refuseUnwritable, refuseWrongSuffix } from "../io/output-path.ts";
import { programVersion, type TableFile } from "../io/provenance.ts";
import {
  addIdOption,
  addTableOptions,
  openTableFile,
  parseCount,
  parseThreads,
  parseTimes,
  readingOf,
  TABLE_ARGUMENT,
  type TableOptions,
} from "../options/table-options.ts";
import { printExplanation } from "../print/explain.ts";
import { print, printJson, tellFindings, warn } from "../print/output.ts";
import { openBackendOf } from "../workers/wasm-backend.ts";

interface ExplainCommandOptions extends TableOptions {
  readonly row: string;
  readonly id?: string;
  readonly at?: readonly number[];
  readonly cause?: string;
  readonly card?: string;
  readonly timeUnit?: string;
  readonly smallCells: "hide" | "show";
  readonly seed: number;
  readonly threads: number;
  readonly json?: boolean;
}

export function addExplain(program: Command): void {
  const command = program
    .command("explain")
    .description("what each column adds to one person's risk; with --card a page about that person")
    .argument("<model>", "a model that train wrote")
    .argument("<table>", TABLE_ARGUMENT)
    .requiredOption("--row <which>", "whose: a value of the id column, or a row number ('#17' beside ids)")
    .option("--at <times>", "explain the risk by these times, e.g. 365,1825", parseTimes)
    .option("--cause <name>", "of a model of several causes, the one to explain (default: the first)")
    .option("--card <file>", "write one HTML page about the person")
    .option("--time-unit <word>", 'what times count: "days"')
    .addOption(
      new Option("--small-cells <how>", "counts under 5 on the card")
        .choices(["hide", "show"])
        .default("hide"),
    );
  addTableOptions(addIdOption(command))
    .option("--seed <n>", "seed of the people compared with, and of drawn orders", parseCount, 1)
    .option("--threads <n>", "threads", parseThreads, availableParallelism())
    .option("--json", "print one JSON document")
    .action(runExplain);
}

async function runExplain(modelPath: string, path: string, options: ExplainCommandOptions): Promise<void> {
  const { card, timeUnit, seed } = options;
  await refuseUnwritable([card], [modelPath, path]);
  refuseWrongSuffix({ report: card });
  const model = await readModel(modelPath);
  const file = await openTableFile(path, readingWithId(model, options));
  const { table, sha256 } = file;
  chooseCause(model, options.cause);
  const id = options.id ?? table.columns.find(({ name }) => name === model.columns.id)?.name;
  const row = findPersonRow(table, options.row, id ?? null);
  const label = timeLabelOf(timeUnit, model.columns.origin);
  const at = options.at ?? chooseRiskTimes(gridOf(model), label);
  const backend = await openBackendOf(model, options.threads);
  try {
    const asked = { at, sha256, seed, ...present({ cause: options.cause }) };
    const explanation = await explainPerson(model, table, backend, row, asked);
    const stays = isStartStop(model) ? [STAYS_AS_IT_IS] : [];
    const warnings = [...stays, ...describeDoubts(model, table, row)];
    const whose = id === undefined ? null : cellText(findColumn(table, id), row);
    if (card !== undefined) {
      const groups = await judgeGroups(model, file, backend, options);
      const bands = hasBands(model) ? await drawPersonBands(model, table, backend, row) : undefined;
      const more = present({ timeUnit: label, id, bands });
      const showSmallCells = options.smallCells === "show";
      await writeCard(card, { model, table, explanation, groups, showSmallCells, ...more });
    }
    if (options.json) {
      printJson(explainDocument(explanation, { id: whose, warnings }));
      return;
    }
    const who = whose === null ? `row ${row + 1}` : `${whose} (row ${row + 1})`;
    printExplanation(explanation, `${who} of ${table.name}, ${model.method}`, label ?? "time");
    for (const warning of warnings) warn(warning);
    if (card !== undefined) print(`\ncard written to ${card}`);
  } finally {
    await backend?.close();
  }
}

async function drawPersonBands(
  model: Model,
  table: Table,
  backend: Backend | null,
  row: number,
): Promise<CurveBands | undefined> {
  const { bands } = await predictPeople(model, table, backend, { bands: BAND_LEVEL }, [row]);
  return bands ?? undefined;
}

/** An id is compared as it is written, so it is read as text, unless the model takes the column for something else. */
function readingWithId(model: Model, options: ExplainCommandOptions): TableOptions {
  const id = options.id ?? model.columns.id;
  const reading = readingOf(model, options);
  if (id === undefined || columnsNeeded(model).includes(id) || options.number?.includes(id)) return reading;
  return { ...reading, category: [...(reading.category ?? []), id] };
}

/** Absent, with the reason, where the table has no outcomes or they cannot be used. */
async function judgeGroups(
  model: Model,
  { table, sha256 }: TableFile,
  backend: Backend | null,
  { id }: ExplainCommandOptions,
): Promise<Measured<JudgedGroups>> {
  const names = new Set(table.columns.map(({ name }) => name));
  const missing = outcomeNames(model.columns).filter((name) => !names.has(name));
  if (missing.length > 0) return absent(`the table has no column ${missing.join(", ")}`);
  try {
    const study = await openStudy(model, table, backend, { sha256, ...present({ id }) });
    tellFindings(study.told);
    return await judgeCardGroups(study, backend);
  } catch (error) {
    if (error instanceof GraduateError) return absent(error.message);
    throw error;
  }
}

async function writeCard(path: string, input: CardInput): Promise<void> {
  const [{ parseHTML }, { renderCardPage }] = await Promise.all([
    import("linkedom"),
    import("../../report/card/render-card.ts"),
  ]);
  const { document } = parseHTML("<html></html>");
  const page = renderCardPage(gatherCard(input), { document, program: `graduate ${programVersion}` });
  await replaceFile(path, page, "the card");
}
