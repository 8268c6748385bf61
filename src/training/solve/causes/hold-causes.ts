/**
 * Several causes, held to their groups. With the others given, the likelihood and the at-risk constraints of cause k
 * are those of an ordinary hazard with the conditional logits u_k (objectives/causes/cause-curves.ts). So each cause in
 * turn makes its choices and solves its own output layer, as a run of one kind of event does (hold.ts), and the causes
 * take turns until none moves another's distances: block coordinate descent on one convex likelihood, whose blocks are
 * coupled by h_j h_k alone. Incidences are coupled by all that others take first, and settle more slowly; each cause
 * answers for its own, given the others'. All causes share time blocks and the network below.
 */
import { present } from "../../../core/present.ts";
import type { AsyncTurns } from "../../../core/progress.ts";
import type { BinnedOutcomes, BinnedSingleCause } from "../../../data/outcomes/outcomes.ts";
import { causeParameters, causeSpec, openCause } from "../../../models/networks/cause-view.ts";
import type { Network } from "../../../models/networks/network.ts";
import type { ParameterValues } from "../../../models/networks/parameters.ts";
import type { Precisions } from "../../../models/start/additive-start.ts";
import { seeCause, seeCauseAgainstNone } from "../../../objectives/causes/cause-rows.ts";
import { equalEventBlocks } from "../../../objectives/time-blocks.ts";
import { joinBinned } from "../rows.ts";
import {
  chooseHeld,
  gatherAgain,
  type HeldFit,
  type HoldChoices,
  type HoldInput,
  mixNetwork,
  type SolvedFit,
  solveChosen,
} from "../hold.ts";
import { joinHeld, joinReports, joinVerdicts } from "./join-causes.ts";

/** What is held, with what the start estimated for each cause. */
export interface HoldCausesInput extends Omit<HoldInput, "precisions" | "cause" | "blocks"> {
  readonly causes: readonly string[];
  readonly precisions: readonly (Precisions | null)[]; // [K]
}

/** Turns of all causes, at most; the third changes distances by less than 1e-6 where hazards of a bin are below .1. */
const MOST_TURNS = 6;
/** The same where incidences are held: a turn gains about a digit. */
const MOST_TURNS_OF_INCIDENCES = 12;
/** Causes have settled when no distance moves by more than this share, or where incidences are held, of its slack. */
const SETTLED = 1e-6;

export async function* holdCauses(input: HoldCausesInput): AsyncTurns<HeldFit> {
  const seats = seatCauses(input);
  const choices: HoldChoices[] = [];
  const fits: SolvedFit[] = [];
  // Every cause chooses beside the others as they were trained, whichever comes first.
  for (const seat of seats) choices.push(yield* chooseHeld(seat.inputBeside(seats)));
  for (const [k, seat] of seats.entries()) {
    const own = seat.inputBeside(seats);
    const fit = yield* solveChosen(own, k === 0 ? choices[k] : await gatherAgain(own, choices[k]));
    fits.push(fit);
    seat.take(fit);
  }
  const isOfIncidences = input.distance !== "atRisk";
  const most = isOfIncidences ? MOST_TURNS_OF_INCIDENCES : MOST_TURNS;
  let moved = 0;
  for (let turn = 1; turn < most; turn++) {
    moved = 0;
    for (const [k, seat] of seats.entries()) {
      const own = seat.inputBeside(seats);
      const fit = yield* solveChosen(own, await gatherAgain(own, choices[k]), fits[k]);
      moved = Math.max(moved, isOfIncidences ? fit.drift : furthest(fits[k], fit));
      fits[k] = fit;
      seat.take(fit);
    }
    if (moved < SETTLED) break;
  }
  return {
    ...joinHeld(input.spec, fits, choices),
    verdict: joinVerdicts(input.causes, fits),
    solve: joinReports(input.causes, fits, isOfIncidences && moved >= SETTLED ? moved : 0),
    uncertainty: null,
  };
}

/** The mixtures alone, each cause with its own share of training. */
export async function* mixCauses(input: HoldCausesInput): AsyncTurns<readonly ParameterValues[]> {
  const seats = seatCauses(input);
  const mixed: ParameterValues[] = [];
  for (const seat of seats) mixed.push(yield* mixNetwork(seat.inputBeside(seats)));
  return mixed;
}

/** One cause at the table: what it is asked, and its logits as they are by now. */
interface Seat {
  logits: Network;
  inputBeside(seats: readonly Seat[]): HoldInput;
  take(fit: HeldFit): void;
}

function seatCauses(input: HoldCausesInput): Seat[] {
  const { backend, training, validation, all, test, causes, spec } = input;
  const blocks = equalEventBlocks(ofAnyCause(training.binned));
  return causes.map((_, k): Seat => {
    const open = openCause(backend, k);
    const see = <Rows extends { readonly binned: BinnedOutcomes }>({ binned, ...rows }: Rows) => ({
      ...rows,
      binned: seeCause(binned, k) as BinnedOutcomes,
    });
    const own = <Values extends ParameterValues | null>(values: Values): Values =>
      (values === null || spec.kind === "mean" ? values : causeParameters(spec, values, k)) as Values;
    const ownSpec = spec.kind === "mean" ? spec : causeSpec(spec);
    const trained = own(input.trained);
    const seat: Seat = {
      logits: open(ownSpec, trained),
      inputBeside: (seats) => ({
        ...input,
        training: see(training) as HoldInput["training"],
        validation: validation && (see(validation) as HoldInput["training"]),
        ...present({ all: all?.map((rows) => see(rows) as NonNullable<HoldInput["all"]>[number]) }),
        test: test && (see(test) as NonNullable<HoldInput["test"]>),
        spec: ownSpec,
        trained,
        start: own(input.start),
        ...(input.shrunk === undefined ? {} : { shrunk: seeShrunk(input.shrunk, k) }),
        precisions: input.precisions[k],
        blocks,
        cause: {
          open,
          others: seats.filter((other) => other !== seat).map(({ logits }) => logits),
          startBinned: startBinned(input, k),
        },
      }),
      take(fit) {
        seat.logits = open(fit.spec, fit.parameters);
      },
    };
    return seat;
  });
}

type Shrunk = NonNullable<HoldInput["shrunk"]>;

function seeShrunk({ spec, parameters }: Shrunk, k: number): Shrunk {
  if (spec.kind === "mean" || spec.kind === "held") return { spec, parameters };
  return { spec: causeSpec(spec), parameters: causeParameters(spec, parameters, k) };
}

function ofAnyCause({ cause: _, ...binned }: BinnedOutcomes): BinnedSingleCause {
  return binned;
}

/** Outcomes of training and validation rows, this cause against none. */
function startBinned({ training, validation }: HoldCausesInput, k: number): BinnedSingleCause {
  const sets = validation === null ? [training] : [training, validation];
  return joinBinned(
    sets.map(({ binned }) => seeCauseAgainstNone(binned, k)),
    training.binned.T,
  );
}

/** The largest relative change of a group's distance. */
function furthest(before: HeldFit, after: HeldFit): number {
  return Math.max(
    0,
    ...after.verdict.map(({ distance }, g) => {
      const had = before.verdict[g].distance.solve;
      return Math.abs(distance.solve - had) / (1 + had);
    }),
  );
}
