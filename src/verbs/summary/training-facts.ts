/**
 * What a model's file says of the model and its training without computing anything: kind of network, how its layer was
 * solved, seed and steps, table, rows and events, and the verdict on a group, or on a group and cause.
 */
import { absent } from "../../core/measured.ts";
import { describeShapes } from "../../data/encode/number-shape.ts";
import { ALL_GROUP } from "../../data/groups/groups.ts";
import { nameCell } from "../../objectives/causes/cause-rows.ts";
import { METHODS, NETWORKS } from "../../training/choices.ts";
import { countMembers, type Model } from "../../training/model.ts";
import type { GroupVerdict } from "../../training/solve/verdict.ts";
import type { ModelSummary } from "./model-summary.ts";

/** What the model is. */
export function describeKind(
  model: Model,
): Pick<ModelSummary, "method" | "network" | "members" | "held" | "shapes"> {
  const { predictor, training } = model;
  const network = predictor.kind === "cox" ? null : predictor.network;
  const below = network?.kind === "held" ? network.base : network;
  const single = below?.kind === "mean" ? below.members[0] : below;
  return {
    method: { name: model.method, words: METHODS[model.method] },
    network: single === null ? null : { kind: single.kind, words: NETWORKS[single.kind] },
    members: countMembers(model),
    held:
      network?.kind === "held"
        ? {
            solvedOn: training.solve?.solvedOn ?? null,
            blocks: network.blocks.length,
            chances: network.chances,
          }
        : null,
    shapes: describeShapes(model.encoder),
  };
}

/** On whom it was trained, and by what. */
export function describeTraining(
  model: Model,
): Pick<
  ModelSummary,
  "parameters" | "steps" | "seed" | "version" | "backend" | "trainedOn" | "outcome" | "grid"
> {
  const { training, provenance, grid, columns } = model;
  return {
    parameters: training.parameters,
    steps: training.steps,
    seed: training.seed,
    version: provenance?.version ?? absent("the file does not say"),
    backend: training.backend,
    trainedOn: {
      table: provenance?.table ?? absent("it did not come from a file"),
      rows: training.rows,
      people: training.people ?? absent("each row was taken as a person"),
      events: countEvents(model) ?? absent("the file does not count them"),
    },
    outcome: columns,
    grid: { kind: grid.kind, T: grid.T, horizon: grid.edges[grid.T] },
  };
}

/** Of everyone, all causes together; undefined where everyone was not held. */
function countEvents({ training, causes }: Model): number | undefined {
  const own = (causes ?? [null]).map((cause) => findVerdict(training.verdict, ALL_GROUP.name, cause)?.events);
  return own.reduce(
    (sum, events) => (sum === undefined || events === undefined ? undefined : sum + events),
    0,
  );
}

/** What training said of a group, or of a group and cause. */
export function findVerdict(
  verdict: readonly GroupVerdict[],
  group: string,
  cause: string | null,
): GroupVerdict | undefined {
  const name = cause === null ? group : nameCell(group, cause);
  return verdict.find((one) => one.group === name);
}
