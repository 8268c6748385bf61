/**
 * `graduate jobs`: the plans in a queue. Alone it lists them; `resume` waits for a plan whose submitter is gone and
 * writes its results to a file; `cancel` takes back the runs that have not begun; `forget` removes a plan and its
 * results.
 */
import { Argument, type Command } from "commander";
import { InputError } from "../../core/errors.ts";
import { countOf } from "../../core/text.ts";
import type { RunEvent } from "../../verbs/runs.ts";
import { isPlainName, refuseUnwritable, refuseWrongSuffix } from "../io/output-path.ts";
import { endBySignal, onInterrupt } from "../io/process-end.ts";
import { COMPARE_LINES, TUNE_LINES } from "../io/run-lines.ts";
import { type KeptRun, openRunResults, type QueuedForm } from "../io/run-results.ts";
import { addQueueAddress, type QueueOptions, requireQueue } from "../options/queue-option.ts";
import { sayQueueGoesOn } from "../print/follow-runs.ts";
import {
  clearLive,
  EXIT_INTERRUPTED,
  isLive,
  nameColumn,
  numberColumns,
  print,
  printTable,
  printWrapped,
  say,
  showLive,
  warn,
} from "../print/output.ts";
import { followPlanInQueue } from "../queue/follow-queued.ts";
import { type OpenQueue, openQueue } from "../queue/open-queue.ts";
import {
  countRuns,
  forgetPlan,
  isCancelled,
  listHeads,
  listRefusals,
  listWorkers,
  markCancelled,
  type PlanCounts,
  type PlanHead,
  readClock,
  requireHead,
  sayCommand,
} from "../queue/plan-heads.ts";
import { orExplain } from "../queue/read-redis.ts";

const ACTIONS = ["list", "resume", "cancel", "forget"] as const;
type Action = (typeof ACTIONS)[number];

interface JobsOptions extends QueueOptions {
  readonly results?: string;
}

export function addJobs(program: Command): void {
  const command = program
    .command("jobs")
    .description("show the plans in a queue, wait for one, cancel or forget it")
    .addArgument(new Argument("[action]", "what to do").choices(ACTIONS).default("list"))
    .argument("[plan]", "its name, or the beginning of it");
  addQueueAddress(
    command,
    "the Redis that holds the queue: redis://host:6379, rediss:// for TLS (required); GRADUATE_QUEUE_KEY seals results",
  )
    .option(
      "--results <file>",
      "resume: where the results go (default: the plain name the submitter gave, in this folder)",
    )
    .action(runJobs);
}

async function runJobs(action: Action, asked: string | undefined, options: JobsOptions): Promise<void> {
  const url = requireQueue(options);
  if (action !== "list" && asked === undefined) {
    throw new InputError(`no plan is named to ${action}`, {
      code: "queue.plan",
      hint: `\`graduate jobs --queue …\` lists them; then graduate jobs ${action} NAME --queue …`,
    });
  }
  const queue = await openQueue(url, { onTrouble: warn });
  try {
    await orExplain(queue, act(queue, action, asked, options));
  } finally {
    queue.close();
  }
}

async function act(
  queue: OpenQueue,
  action: Action,
  asked: string | undefined,
  options: JobsOptions,
): Promise<void> {
  if (action === "list" || asked === undefined) return listPlans(queue);
  const head = await requireHead(queue, asked);
  if (action === "resume") return resumePlan(queue, head, options);
  if (action === "cancel") return cancelPlan(queue, head);
  await forgetPlan(queue, head.id);
  print(`${head.name} is forgotten: its runs and their results are no longer in Redis`);
}

async function countPlan(queue: OpenQueue, id: string): Promise<PlanCounts> {
  const runs = queue.openRuns(id);
  try {
    return await countRuns(queue, runs);
  } finally {
    await runs.close();
  }
}

async function listPlans(queue: OpenQueue): Promise<void> {
  const heads = await listHeads(queue);
  const { length: workers } = await listWorkers(queue);
  const at = `${countOf(workers, "worker")} at ${queue.address.shown}`;
  if (heads.length === 0) return print(`${at}, and no plan`);
  const now = await readClock(queue);
  print(`${at}\n`);
  const rows = await Promise.all(
    heads.map(async ({ id, name, submitted }) => {
      const { done, failed, active, waiting } = await countPlan(queue, id);
      const note = (await isCancelled(queue, id)) ? " (cancelled)" : "";
      return [`${name}${note}`, ...[done, failed, active, waiting].map(String), sayAge(now - submitted)];
    }),
  );
  printTable([nameColumn("plan"), ...numberColumns("done", "failed", "under way", "waiting", "age")], rows);
  for (const { id, name } of heads) {
    for (const refusal of await listRefusals(queue, id))
      printWrapped(`${name} is refused by ${refusal}`, "  ");
  }
}

function sayAge(seconds: number): string {
  if (seconds < 90) return `${Math.max(0, Math.round(seconds))} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 90) return `${minutes} min`;
  const hours = Math.round(minutes / 60);
  return hours < 48 ? `${hours} h` : `${Math.round(hours / 24)} days`;
}

async function cancelPlan(queue: OpenQueue, head: PlanHead): Promise<void> {
  const { id, name } = head;
  const runs = queue.openRuns(id);
  try {
    const before = await countRuns(queue, runs);
    await markCancelled(queue, id);
    await runs.drain(true);
    const after = await countRuns(queue, runs);
    const gone = countOf(before.waiting - after.waiting, "run");
    const begun = after.active === 0 ? "" : `; ${countOf(after.active, "run")} under way will end`;
    print(`${name}: ${gone} taken back${begun}; ${countOf(after.done, "result")} stay in Redis`);
    print("the same command, with --queue, submits the others again:");
    print(`  ${sayCommand(head)}`);
  } finally {
    await runs.close();
  }
}

/** Commands whose lines this one can write. */
const FORMS: Readonly<Record<string, AnyForm>> = { tune: widen(TUNE_LINES), compare: widen(COMPARE_LINES) };

type AnyResult = { readonly warnings: readonly string[] };
type AnyForm = QueuedForm<unknown, AnyResult>;

/** Tasks and results come from Redis, and are the form's own after it has read them. */
function widen<Task, Result extends AnyResult>(form: QueuedForm<Task, Result>): AnyForm {
  return { ...form, write: (run) => form.write(run as KeptRun<Task, Result>) };
}

/** The name that the submitter gave, unless it could be anything but that of a results file in this folder. */
function placeResults({ name, results }: PlanHead): string {
  if (isPlainName(results) && results.endsWith(".jsonl")) return results;
  throw new InputError(`the results of ${name} have no plain name that ends in .jsonl: "${results}"`, {
    code: "queue.results",
    hint: "name the file yourself: --results runs.jsonl",
  });
}

/** Writes what the submitter would have written. What the runs say together is for the command itself to print. */
async function resumePlan(queue: OpenQueue, head: PlanHead, options: JobsOptions): Promise<void> {
  const form = Object.hasOwn(FORMS, head.command) ? FORMS[head.command] : undefined;
  if (form === undefined) {
    print(`results of ${head.command} are collected by the same command, with --queue:`);
    return print(`  ${sayCommand(head)}`);
  }
  const path = options.results ?? placeResults(head);
  await refuseUnwritable([path]);
  refuseWrongSuffix({ runs: path });
  const stop = new AbortController();
  const leave = onInterrupt(() => (stop.signal.aborted ? endBySignal("SIGINT") : stop.abort()));
  const file = openRunResults(path, form);
  let done = 0;
  const onEvent = (event: RunEvent<AnyResult>, run: Omit<KeptRun<unknown, unknown>, "result">) => {
    if (event.type !== "result") return;
    file.append({ ...run, result: event.result });
    done++;
    if (isLive()) showLive(`${head.name}: ${done} more of ${countOf(head.total, "run")}`);
  };
  try {
    const following = { form, known: file.recorded, signal: stop.signal, tell: warn, onEvent };
    await followPlanInQueue(queue, head, following);
    clearLive();
    print(`${head.name}: all its runs are in ${path}; this prints what they say:`);
    print(`  ${sayCommand(head)}`);
  } catch (error) {
    clearLive();
    if (!stop.signal.aborted) throw error;
    process.exitCode = EXIT_INTERRUPTED;
    say(`\ngraduate: interrupted; ${countOf(done, "run")} more are in ${path}\n${sayQueueGoesOn()}`);
  } finally {
    file.close();
    leave();
  }
}
