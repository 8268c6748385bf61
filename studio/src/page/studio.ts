/**
 * The state of the page and what a person can do to it. State is one object that is replaced, never changed; the worker
 * holds what is large. A check of the table follows every change of a choice that it depends on, and only the answer to
 * the latest question counts.
 */
import type {
  Choices,
  Desk,
  FileKind,
  FileView,
  GateView,
  Loss,
  ModelView,
  Reading,
  RunView,
  TableFile,
  TableView,
  TrainChoices,
  Trouble,
} from "../protocol.ts";
import { NO_CHOICES } from "../choices.ts";
import { assignRole, clean } from "./choosing.ts";
import { openDesk, Refusal } from "./client.ts";
import { isStep, type StepName } from "./steps.ts";

export interface Studio {
  readonly step: StepName;
  readonly table: TableView | null;
  /** The file that was asked for, so that it can be read again in another way. */
  readonly file: TableFile | null;
  readonly trouble: Trouble | null;
  readonly busy: { readonly words: string; readonly share: number } | null;
  readonly choices: Choices;
  readonly gate: GateView | null;
  readonly run: RunView | null;
  readonly losses: readonly Loss[];
  readonly isTraining: boolean;
  /** What was asked of the run, which answers at its next step or turn. */
  readonly isPausing: boolean;
  readonly isStopping: boolean;
  /** A step that a stopped run can go on from. */
  readonly checkpoint: number | null;
  readonly model: ModelView | null;
  readonly keeps: boolean;
  readonly isRestored: boolean;
}

const EMPTY: Studio = {
  step: "table",
  table: null,
  file: null,
  trouble: null,
  busy: null,
  choices: NO_CHOICES,
  gate: null,
  run: null,
  losses: [],
  isTraining: false,
  isPausing: false,
  isStopping: false,
  checkpoint: null,
  model: null,
  keeps: false,
  isRestored: false,
};

/** Milliseconds after the last change before choices are kept. */
const KEEP_AFTER = 250;

/** Milliseconds without another letter after which a name is likely whole. */
const TYPED_AFTER = 300;

export interface Actions {
  readonly desk: Desk;
  openTable(file: TableFile, category?: readonly string[], leaveOut?: string): Promise<void>;
  /** The table that is open, read in another way; what was chosen stays. */
  readAgain(change: Partial<Reading & Pick<Choices, "roles">>): Promise<void>;
  choose(change: Partial<Choices>): void;
  chooseTraining(change: Partial<TrainChoices>): void;
  setRole(column: string, role: Choices["roles"][string]): void;
  train(goOn: boolean): Promise<void>;
  pause(isPaused: boolean): void;
  stop(): void;
  openModel(file: File): Promise<void>;
  download(kind: FileKind): Promise<void>;
  keep(isKept: boolean): Promise<void>;
  forget(): Promise<void>;
  dismiss(): void;
  /** Nothing is being waited for any more. */
  rest(): void;
}

export interface Store {
  get(): Studio;
  subscribe(listener: () => void): () => void;
  readonly actions: Actions;
}

export function createStudio(): Store {
  let state: Studio = { ...EMPTY, step: readStep() };
  const listeners = new Set<() => void>();
  const set = (change: Partial<Studio>) => {
    state = { ...state, ...change };
    for (const listener of listeners) listener();
  };
  const desk = openDesk((told) => {
    if (told.type === "progress") set({ busy: { words: told.words, share: told.share } });
    else set({ run: told.run, losses: [...state.losses, ...told.run.losses] });
  });
  addEventListener("hashchange", () => set({ step: readStep() }));

  /** Runs a question to its end; its refusal is shown where the person is. */
  async function attempt<Answer>(work: () => Promise<Answer>): Promise<Answer | null> {
    set({ trouble: null });
    try {
      return await work();
    } catch (error) {
      set({ trouble: error instanceof Refusal ? error.trouble : { message: String(error) } });
      return null;
    } finally {
      set({ busy: null });
    }
  }

  const checking = createChecking(desk, () => state, set);
  const keeping = createKeeping(desk, () => state);

  function choose(change: Partial<Choices>): void {
    set({ choices: { ...state.choices, ...change } });
    // A cause's name is typed letter by letter, and each would be a search of the whole table.
    checking("causeNames" in change ? TYPED_AFTER : 0);
    keeping();
  }

  async function openTable(file: TableFile, category: readonly string[] = [], leaveOut?: string) {
    set({ busy: { words: `reading ${file.name}`, share: 0 }, file });
    const table = await attempt(() => desk.openTable(file, { category, number: [] }));
    if (table === null) return;
    const roles = leaveOut === undefined ? {} : { [leaveOut]: "leave" as const };
    const { train } = state.choices;
    const unit = file instanceof File ? table.guess.unit : file.unit;
    const choices = { ...NO_CHOICES, ...table.guess, unit, train, category, roles };
    set({ table, choices, gate: null, model: null, run: null, losses: [], checkpoint: null });
    checking();
    keeping();
  }

  async function readAgain(change: Parameters<Actions["readAgain"]>[0]) {
    const choices = { ...state.choices, ...change };
    set({ busy: { words: "reading the table again", share: 0 } });
    const table = await attempt(() => desk.openTable(null, choices));
    if (table === null) return;
    set({ table, choices, gate: null, model: null, run: null, losses: [], checkpoint: null });
    checking();
    keeping();
  }

  async function train(goOn: boolean): Promise<void> {
    const losses = goOn ? state.losses : [];
    const asked = { isPausing: false, isStopping: false };
    set({ isTraining: true, ...asked, run: null, losses, model: null, checkpoint: null });
    // A checkpoint goes on with the choices it had: the run waits for them to be written.
    if (state.keeps) void desk.keep(state.choices);
    const model = await attempt(() => desk.train(state.choices, goOn));
    if (model !== null) {
      const run = state.run && {
        ...state.run,
        phase: "done" as const,
        words: "",
        step: state.run.steps,
        secondsLeft: null,
      };
      set({ model, run, isTraining: false });
      return;
    }
    const checkpoint = await desk.stop();
    // Of a run that could not begin nothing is left to show.
    set({ isTraining: false, checkpoint, run: state.run?.phase === "stopped" ? state.run : null });
  }

  async function openModel(file: File): Promise<void> {
    set({ busy: { words: `opening ${file.name}`, share: 0 } });
    const model = await attempt(() => desk.openModel(file, state.choices));
    // A run that was shown is of another model.
    if (model !== null) set({ model, run: null, losses: [] });
  }

  async function keep(isKept: boolean): Promise<void> {
    set({ keeps: isKept });
    await attempt(() => desk.keep(isKept ? state.choices : null));
  }

  async function restore(): Promise<void> {
    const kept = await attempt(() => desk.restore());
    if (kept !== null) {
      const { table, model, checkpoint } = kept;
      set({ table, choices: kept.choices, model, checkpoint, keeps: true });
      checking();
    }
    set({ isRestored: true });
  }
  void restore();

  return {
    get: () => state,
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    actions: {
      desk,
      openTable,
      readAgain,
      choose,
      chooseTraining: (change) => choose({ train: clean({ ...state.choices.train, ...change }) }),
      setRole: (column, role) => choose({ roles: assignRole(state.choices.roles, column, role) }),
      train,
      pause(isPaused) {
        set({ isPausing: isPaused });
        void desk.pause(isPaused);
      },
      stop() {
        set({ isStopping: true });
        void desk.stop();
      },
      openModel,
      async download(kind) {
        const file = await attempt(() => desk.download(kind));
        if (file !== null) save(file);
      },
      keep,
      async forget() {
        await attempt(() => desk.forget());
        set({ ...EMPTY, step: state.step, isRestored: true });
      },
      dismiss: () => set({ trouble: null }),
      rest: () => set({ busy: null }),
    },
  };
}

function readStep(): StepName {
  const name = location.hash.slice(1);
  return isStep(name) ? name : "table";
}

/** Asks the gate after a change; columns it leaves out get that role once, so that the person sees it. */
function createChecking(
  desk: Desk,
  get: () => Studio,
  set: (change: Partial<Studio>) => void,
): (wait?: number) => void {
  let asked = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const ask = (own: number) => {
    const { time, event } = get().choices;
    if (time === "" || event === "" || time === event) return set({ gate: null });
    desk.checkTable(get().choices).then(
      (gate) => {
        if (own !== asked) return;
        const { roles } = get().choices;
        const fresh = gate.leftOut.filter(
          ({ name, reason }) => !(name in roles) && !/gives the outcome/.test(reason),
        );
        set({ gate, trouble: null });
        if (fresh.length === 0) return;
        const left = Object.fromEntries(fresh.map(({ name }) => [name, "leave" as const]));
        set({ choices: { ...get().choices, roles: { ...left, ...roles } } });
      },
      (error: Refusal) => own === asked && set({ gate: null, trouble: error.trouble }),
    );
  };
  return (wait = 0) => {
    clearTimeout(timer);
    const own = ++asked;
    if (wait === 0) ask(own);
    else timer = setTimeout(() => ask(own), wait);
  };
}

/** Keeps the choices a moment after the last change, where the person wants them kept. */
function createKeeping(desk: Desk, get: () => Studio): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  return () => {
    clearTimeout(timer);
    if (get().keeps) timer = setTimeout(() => void desk.keep(get().choices), KEEP_AFTER);
  };
}

/** Hands a file to the person; it goes from the page's memory to their disk. */
export function save({ name, type, bytes }: FileView): void {
  const address = URL.createObjectURL(new Blob([bytes], { type }));
  const link = Object.assign(document.createElement("a"), { href: address, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
