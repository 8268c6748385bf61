/**
 * `graduate predict`: survival curves and median times for the rows of a table, or what people ask of them (risks at
 * times, quantiles, restricted means), read, predicted and written part by part, so that memory does not grow with the
 * table. Rows before a bad one may already have been printed; a file is either complete or absent.
 */
import { availableParallelism } from "node:os";
import { type Command, Option } from "commander";
import type { Backend } from "../../compute/backend.ts";
import { InputError } from "../../core/errors.ts";
import { isAbsent } from "../../core/measured.ts";
import { present } from "../../core/present.ts";
import { countOf } from "../../core/text.ts";
import type { Curves } from "../../data/curves/curves.ts";
import { addCellWarnings, type CellWarning } from "../../data/encode/new-cells.ts";
import { inWholeTable, pickWriting } from "../../data/reading/containers.ts";
import { readTableChunks } from "../../data/reading/read-table.ts";
import type { Table } from "../../data/table.ts";
import { isStartStop, type Model, STAYS_AS_IT_IS } from "../../training/model.ts";
import { BAND_LEVEL } from "../../verbs/people/bands.ts";
import { BOUND_LEVEL, calibrateBound, type LowerBound } from "../../verbs/people/lower-bound.ts";
import { layOutPeople } from "../../verbs/people/people-columns.ts";
import {
  type PeoplePrediction,
  type PeopleRequest,
  preparePeople,
} from "../../verbs/people/predict-people.ts";
import {
  columnsNeeded,
  gridOf,
  knowsAtRisk,
  type Prediction,
  preparePredictor,
  riskOf,
} from "../../verbs/predict.ts";
import { type ByteOutput, openGrowingFile, openStandardOutput } from "../io/growing-file.ts";
import { openStreamedSource } from "../io/input-file.ts";
import { readModel } from "../io/model-file.ts";
import { refuseUnwritable, refuseWrongSuffix } from "../io/output-path.ts";
import { openCsvPeople, openParquetPeople } from "../io/people-output.ts";
import { openCsvPredictions, openParquetPredictions } from "../io/prediction-output.ts";
import { openModelStudy, readModelTable } from "../io/read-predictions.ts";
import {
  addTableOptions,
  idOption,
  parsePositive,
  parseShare,
  parseShares,
  parseThreads,
  parseTimes,
  readingOf,
  TABLE_ARGUMENT,
  type TableOptions,
} from "../options/table-options.ts";
import { createProgress, print, say, tellFindings, warn } from "../print/output.ts";
import { openBackendOf } from "../workers/wasm-backend.ts";

/** The number of columns named in warnings. */
const MAX_WARNINGS = 20;
/** Of a model whose file has no share at risk. */
const EQUAL_WEIGHTS =
  "this model's file does not say how many people were at risk when: the risk counts all time bins alike";

interface PredictOptions extends TableOptions, Pick<PeopleRequest, "at" | "quantiles" | "rmst" | "id"> {
  readonly bands?: number;
  readonly lowerBound?: number;
  readonly calibrate?: string;
  readonly long?: true;
  readonly curves: boolean;
  readonly out?: string;
  readonly risk?: true;
  readonly threads: number;
}

export function addPredict(program: Command): void {
  const command = program
    .command("predict")
    .description("survival curves S1..ST and median times, one row a person")
    .argument("<model>", "a model that train wrote")
    .argument("<table>", `${TABLE_ARGUMENT}, of any length; - is standard input`);
  addTableOptions(command)
    .option("--at <times>", "the risk of the event by these times, e.g. 365,1825", parseTimes)
    .option(
      "--quantiles <shares>",
      "the times by which these shares have had the event, e.g. 0.25,0.5",
      parseShares,
    )
    .option("--rmst <time>", "the mean time to the event, counted up to this time", parsePositive)
    .option("--id <column>", "whose row it is: a column `id`, as the table writes it", idOption)
    .option("--long", "one row a person and time: the times of --at, or all edges of the time bins")
    .option("--no-curves", "leave S1..ST out")
    .option("--out <file>", "write CSV here, or Parquet if it ends in .parquet (default: standard output)")
    .option("--risk", "add a column `risk`, the one number by which the curves rank people")
    .addOption(
      new Option(
        "--bands [level]",
        `bands made to hold the true curves with this probability at each time (default: ${BAND_LEVEL})`,
      )
        .argParser(parseShare)
        .preset(String(BAND_LEVEL)),
    )
    .addOption(
      new Option(
        "--lower-bound [level]",
        `the time that the event exceeds with this probability, also within groups (default: ${BOUND_LEVEL})`,
      )
        .argParser(parseShare)
        .preset(String(BOUND_LEVEL)),
    )
    .option(
      "--calibrate <table>",
      "of --lower-bound: rows with outcomes that are new to the model; of its own table, the test rows",
    )
    .option("--threads <n>", "threads", parseThreads, availableParallelism())
    .action(async (modelPath: string, path: string, options: PredictOptions) => {
      await refuseUnwritable([options.out], [modelPath, path, options.calibrate]);
      refuseWrongSuffix({ curves: options.out });
      refuseUncalibrated(options);
      const model = await readModel(modelPath);
      if (options.risk && !knowsAtRisk(model)) warn(EQUAL_WEIGHTS);
      const backend = await openBackendOf(model, options.threads);
      try {
        const lowerBound = await readBound(modelPath, options);
        const { rows, warnings } =
          isPlain(options) && model.causes === undefined
            ? await predictFile(path, model, options, planCurves(model, backend, options))
            : await predictFile(path, model, options, planPeople(model, backend, { ...options, lowerBound }));
        if (isStartStop(model)) warn(STAYS_AS_IT_IS);
        for (const { message } of warnings.slice(0, MAX_WARNINGS)) warn(message);
        if (warnings.length > MAX_WARNINGS) warn(`and ${warnings.length - MAX_WARNINGS} more such columns`);
        if (options.out !== undefined) print(`${rows} rows written to ${options.out}`);
      } finally {
        await backend?.close();
      }
    });
}

/** A bound needs rows to be calibrated on, and rows to calibrate on are for a bound. */
function refuseUncalibrated({ lowerBound, calibrate }: PredictOptions): void {
  if ((lowerBound === undefined) === (calibrate === undefined)) return;
  throw new InputError(
    lowerBound === undefined
      ? "--calibrate is for --lower-bound, which was not asked for"
      : "--lower-bound needs rows with outcomes that are new to the model",
    {
      code: "option.conflict",
      hint: "--lower-bound 0.9 --calibrate TABLE; of the table it was trained on, its test rows are taken",
    },
  );
}

/** Undefined where none is asked for. */
async function readBound(modelPath: string, options: PredictOptions): Promise<LowerBound | undefined> {
  const { lowerBound: level, calibrate, threads } = options;
  if (level === undefined || calibrate === undefined) return undefined;
  const asked = { threads, ...pickWriting(options) };
  const { study, backend } = await openModelStudy(await readModelTable([modelPath, calibrate], asked), asked);
  tellFindings(study.told);
  try {
    const bound = await calibrateBound(study, backend, level);
    const own = bound.groups.filter(({ threshold }) => !isAbsent(threshold)).length - 1;
    const calibrated = `calibrated on ${countOf(bound.rows, "row")} with ${countOf(bound.events, "event")}`;
    say(`the lower bound was ${calibrated}, and holds for everyone and within ${countOf(own, "group")}`);
    return bound;
  } finally {
    await backend?.close();
  }
}

/** How the rows of a part are predicted, and how what comes out is written. */
interface Plan<Predicted extends Prediction> {
  predict(table: Table): Promise<Predicted>;
  /** Rows that are written for each that is read. */
  readonly rowsEach: number;
  open(output: ByteOutput): Promise<PartWriter<Predicted>>;
}

interface PartWriter<Predicted> {
  write(part: Predicted, firstRow: number): Promise<void>;
  finish(): Promise<void>;
}

/** Whether the columns are those of curves and medians. */
function isPlain({ at, quantiles, rmst, id, long, curves, bands, lowerBound }: PredictOptions): boolean {
  return curves && [at, quantiles, rmst, id, long, bands, lowerBound].every((option) => option === undefined);
}

function isParquet({ out }: Pick<PredictOptions, "out">): boolean {
  return out?.endsWith(".parquet") === true;
}

function planCurves(model: Model, backend: Backend | null, options: PredictOptions): Plan<Prediction> {
  const { T } = model.grid;
  const more = options.risk ? { riskOf: (curves: Curves) => riskOf(model, curves) } : {};
  return {
    predict: preparePredictor(model, backend),
    rowsEach: 1,
    open: async (output) =>
      isParquet(options) ? openParquetPredictions(output, T, more) : openCsvPredictions(output, T, more),
  };
}

/** The options, with the bound that was calibrated. */
type PeopleOptions = Omit<PredictOptions, "lowerBound"> & { readonly lowerBound: LowerBound | undefined };

function planPeople(model: Model, backend: Backend | null, options: PeopleOptions): Plan<PeoplePrediction> {
  const { quantiles, rmst, id, long, bands, lowerBound, risk: ranking } = options;
  const at = options.at ?? (long ? [...gridOf(model).edges] : undefined);
  const request = present({ at, quantiles, rmst, id, ranking, bands, lowerBound });
  const curves = options.curves ? model.grid.T : undefined;
  const table = layOutPeople(request, present({ long, curves, causes: model.causes }));
  return {
    predict: preparePeople(model, backend, request),
    rowsEach: table.rowsEach,
    async open(output) {
      const isShown = options.out === undefined;
      const written = isParquet(options)
        ? await openParquetPeople(output, table)
        : openCsvPeople(output, table, isShown);
      return {
        write: (part, firstRow) => written.write({ ...part, firstRow }),
        finish: written.finish,
      };
    },
  };
}

/**
 * How the table is read. An id is copied as it is written, so it is read as text, unless the model or the caller takes
 * the column for a number.
 */
function readingWithId(model: Model, options: PredictOptions): TableOptions & { readonly columns: string[] } {
  const needed = columnsNeeded(model);
  const reading = readingOf(model, options);
  const { id } = options;
  if (id === undefined || needed.includes(id)) return { ...reading, columns: needed };
  const isNumber = options.number?.includes(id) === true;
  const category = isNumber ? reading.category : [...new Set([...(reading.category ?? []), id])];
  return { ...reading, ...present({ category }), columns: [...needed, id] };
}

/** Returns how many rows were written, and the remarks on the cells of those that were read. */
async function predictFile<Predicted extends Prediction>(
  path: string,
  model: Model,
  options: PredictOptions,
  plan: Plan<Predicted>,
): Promise<{ readonly rows: number; readonly warnings: readonly CellWarning[] }> {
  const { columns, ...reading } = readingWithId(model, options);
  const dates = columns.filter((name) =>
    model.encoder.columns.some(({ column, type }) => column === name && type === "date"),
  );
  const { source, close } = await openStreamedSource(path, dates.length > 0 ? 2 : 1);
  const progress = createProgress(`predicting ${source.name}`);
  const output =
    options.out === undefined ? openStandardOutput() : await openGrowingFile(options.out, "the predictions");
  let rows = 0;
  let warnings: readonly CellWarning[] = [];
  try {
    const written = await plan.open(output);
    const chunks = readTableChunks(source, {
      columns,
      dates,
      ...pickWriting(reading),
      onProgress: (bytes) => progress.update(bytes, source.byteLength),
    });
    for await (const chunk of chunks) {
      const predicted = await inWholeTable(chunk, () => plan.predict(chunk.table));
      await written.write(predicted, rows);
      const before = rows;
      rows += chunk.table.rows;
      warnings = addCellWarnings(model.encoder, warnings, predicted.warnings, before, rows);
    }
    await written.finish();
  } finally {
    progress.finish();
    await output.abandon();
    close();
  }
  return { rows: rows * plan.rowsEach, warnings };
}
