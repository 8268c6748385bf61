/**
 * Runs that do not depend on each other, several at a time, told as if they came one after the other. Each is an async
 * generator; a lane takes the next run when its last one has ended. Whoever reads the events sees the first unfinished
 * run as it goes; what the runs behind it told is kept until their turn. Runs go on only while an event is waited for:
 * a reader that pauses pauses all of them, and one that stops ends all of them.
 */

export interface SideBySide<Event, Made> {
  /** How many runs there are, and how many are made at a time. */
  readonly count: number;
  readonly lanes: number;
  readonly begin: (index: number, lane: number) => AsyncGenerator<Event, Made>;
  /** What is kept of an event whose run goes on before it is told: it as it is now; null where nothing is. */
  readonly keep: (event: Event) => Event | null;
  /** The event as the reader gets it, given what the runs before made; null where it gets none. */
  readonly tell: (event: Event, index: number, made: readonly Made[]) => Event | null;
}

/** A run, and what is kept of it until its turn. */
interface Behind<Event, Made> {
  readonly run: AsyncGenerator<Event, Made>;
  readonly told: Event[];
  /** The step it is taking; null between two. */
  step: Promise<void> | null;
  /** Waits for the run's turn. */
  failure: { readonly error: unknown } | null;
  ended: { readonly made: Made } | null;
}

/** Yields the events of all runs in the order of the runs; returns what they made. */
export async function* runSideBySide<Event, Made>({
  count,
  lanes,
  begin,
  keep,
  tell,
}: SideBySide<Event, Made>): AsyncGenerator<Event, readonly Made[]> {
  const made: Made[] = [];
  const runs: Behind<Event, Made>[] = [];
  const inLane: (Behind<Event, Made> | undefined)[] = new Array(Math.min(lanes, count)).fill(undefined);
  let isAwaited = false;

  /** Gives a run to every lane that has none, and lets those behind the first take a step. */
  const goOn = () => {
    for (const lane of inLane.keys()) {
      const current = inLane[lane];
      if ((current === undefined || current.ended !== null) && runs.length < count) {
        const run = begin(runs.length, lane);
        inLane[lane] = { run, told: [], step: null, failure: null, ended: null };
        runs.push(inLane[lane]);
      }
      const taken = inLane[lane];
      if (taken === undefined || taken === runs[made.length] || isResting(taken)) continue;
      taken.step = takeStep(taken, keep).then(() => {
        taken.step = null;
        if (isAwaited) goOn();
      });
    }
  };

  try {
    while (made.length < count) {
      isAwaited = true;
      goOn();
      const front = runs[made.length];
      const next = await takeTurn(front);
      isAwaited = false;
      if (next === null) {
        if (front.ended !== null) made.push(front.ended.made);
        continue;
      }
      const event = tell(next.event, made.length, made);
      if (event !== null) yield event;
    }
    return made;
  } finally {
    isAwaited = false;
    await Promise.all(runs.map(({ step }) => step));
    await Promise.all(runs.map(({ run }) => run.return(undefined as never)));
  }
}

/** Whether a run cannot be asked for a step: it takes one, has failed, or has ended. */
function isResting<Event, Made>({ step, failure, ended }: Behind<Event, Made>): boolean {
  return step !== null || failure !== null || ended !== null;
}

async function takeStep<Event, Made>(
  behind: Behind<Event, Made>,
  keep: (event: Event) => Event | null,
): Promise<void> {
  try {
    const next = await behind.run.next();
    if (next.done) {
      behind.ended = { made: next.value };
      return;
    }
    const kept = keep(next.value);
    if (kept !== null) behind.told.push(kept);
  } catch (error) {
    behind.failure = { error };
  }
}

/** The next event of the run whose turn it is: what was kept first, then as it goes; null at its end. */
async function takeTurn<Event, Made>(front: Behind<Event, Made>): Promise<{ readonly event: Event } | null> {
  for (;;) {
    if (front.told.length > 0) return { event: front.told.splice(0, 1)[0] };
    if (front.failure !== null) throw front.failure.error;
    if (front.ended !== null) return null;
    if (front.step === null) break;
    await front.step;
  }
  const next = await front.run.next();
  if (!next.done) return { event: next.value };
  front.ended = { made: next.value };
  return null;
}
