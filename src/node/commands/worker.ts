/**
 * `graduate worker`: makes the runs that tune, compare and reproduce have put into a queue, until it is stopped.
 * SIGTERM, SIGHUP and Ctrl-C let the runs under way end; a second one gives them back to the queue at once.
 */
import { stat } from "node:fs/promises";
import { availableParallelism, hostname } from "node:os";
import { type Command, InvalidArgumentError, Option } from "commander";
import { InputError } from "../../core/errors.ts";
import { countOf } from "../../core/text.ts";
import { endBySignal, onInterrupt } from "../io/process-end.ts";
import { addQueueAddress, type QueueOptions, requireQueue } from "../options/queue-option.ts";
import { parsePositive, parseThreads } from "../options/table-options.ts";
import { say, warn } from "../print/output.ts";
import { attendQueue } from "../queue/attend-queue.ts";
import { openQueue } from "../queue/open-queue.ts";
import { orExplain } from "../queue/read-redis.ts";
import { type OpenRuns, RUN_KINDS } from "../queue/run-kinds.ts";

interface WorkerOptions extends QueueOptions {
  readonly concurrency: number;
  readonly lostAfter: number;
  readonly tables: string;
  readonly untilEmpty?: boolean;
}

/** Runs of commands that only a checkout has, by command. */
export type LoadRunKinds = () => Promise<Readonly<Record<string, OpenRuns>>>;

/** Seconds: a busy machine must not seem lost. */
const USUAL_LOST_AFTER = 30;
const LEAST_LOST_AFTER = 1;

/** Milliseconds to give runs back before the program ends anyway: Redis may be away. */
const LEAVE_WITHIN = 5000;

export function addWorker(program: Command, loadRunKinds?: LoadRunKinds): void {
  const command = program
    .command("worker")
    .description("make the runs that tune, compare and reproduce have put into a queue (--queue)");
  addQueueAddress(
    command,
    "the Redis that holds the queue: redis://host:6379, rediss:// for TLS (required); GRADUATE_QUEUE_KEY seals results",
  )
    .addOption(
      new Option("--concurrency <n>", "runs at a time, each on one thread")
        .argParser(parseThreads)
        .default(availableParallelism(), "one for each core"),
    )
    .option(
      "--lost-after <seconds>",
      "give a run to another worker when its own has shown no sign of life for so long",
      parseLostAfter,
      USUAL_LOST_AFTER,
    )
    .addOption(
      new Option("--tables <folder>", "read tables below this folder, and no others").default(
        ".",
        "the current folder",
      ),
    )
    .option("--until-empty", "end when nothing is left to make")
    .action((options: WorkerOptions) => runWorker(options, loadRunKinds));
}

function parseLostAfter(text: string): number {
  const seconds = parsePositive(text);
  if (seconds < LEAST_LOST_AFTER)
    throw new InvalidArgumentError(`expected seconds, ${LEAST_LOST_AFTER} or more.`);
  return seconds;
}

async function runWorker(options: WorkerOptions, loadRunKinds?: LoadRunKinds): Promise<void> {
  const { concurrency, lostAfter, tables, untilEmpty = false } = options;
  if ((await stat(tables).catch(() => null))?.isDirectory() !== true) {
    throw new InputError(`no such folder: "${tables}"`, {
      code: "queue.tables",
      hint: "--tables names the folder that holds the tables, and those in folders below it",
    });
  }
  const queue = await openQueue(requireQueue(options), { onTrouble: warn });
  const kinds = { ...RUN_KINDS, ...(await loadRunKinds?.()) };
  const name = `${hostname()}-${process.pid}`;
  const [stop, abandon] = [new AbortController(), new AbortController()];
  const onSignal = (signal: NodeJS.Signals) => {
    if (abandon.signal.aborted) endBySignal(signal);
    if (stop.signal.aborted) {
      abandon.abort();
      setTimeout(() => endBySignal(signal), LEAVE_WITHIN).unref();
      return;
    }
    stop.abort();
    say("stopping when the runs under way have ended; once more gives them back to the queue at once");
  };
  const leave = onInterrupt(() => onSignal("SIGINT"));
  for (const signal of ["SIGTERM", "SIGHUP"] as const) process.on(signal, onSignal);
  try {
    say(`worker ${name} at ${queue.address.shown}: up to ${countOf(concurrency, "run")} at a time`);
    const attending = attendQueue(queue, {
      name,
      concurrency,
      lostAfter,
      tables,
      untilEmpty,
      kinds,
      tell: say,
      stop: stop.signal,
      abandon: abandon.signal,
    });
    const made = await orExplain(queue, attending);
    say(`worker ${name} has made ${countOf(made, "run")}`);
  } finally {
    for (const signal of ["SIGTERM", "SIGHUP"] as const) process.removeListener(signal, onSignal);
    leave();
    queue.close();
  }
}
