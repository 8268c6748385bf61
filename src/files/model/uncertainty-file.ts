/**
 * What a model file holds of the uncertainty of its curves (docs/model-file.md): a description in the header, the
 * numbers among the weights. A layer's factor is kept in single precision, Cox's sums in double. Sizes follow from the
 * header and are compared with the tensors before anything is made of them.
 */
import * as z from "zod";
import type { CoxUncertainty } from "../../models/cox/curve-errors.ts";
import type { NetworkSpec } from "../../models/networks/list.ts";
import { binsFit, factorSizes, type LayerUncertainty } from "../../models/uncertainty/layer-uncertainty.ts";
import type { CurveUncertainty } from "../../training/model.ts";
import type { Tensor } from "../container/safetensors.ts";
import { checkNames, checkShape, refuseWeights } from "./check-tensors.ts";
import { count, describing, list } from "./schema-parts.ts";

/** The uncertainty without its numbers. */
export type DescribedUncertainty =
  | Pick<LayerUncertainty, "kind" | "dense" | "shaped" | "bins">
  | Pick<CoxUncertainty, "kind">;

export const uncertaintySchema = describing<DescribedUncertainty>()(
  z.discriminatedUnion("kind", [
    z.strictObject({ kind: z.literal("layer"), dense: count, shaped: count, bins: list(count) }),
    z.strictObject({ kind: z.literal("cox") }),
  ]),
);

const PREFIX = "uncertainty.";
const OF_LAYER = ["border", "blocks", "cross"] as const;
const OF_COX = ["covariance", "variance", "drift"] as const;

export function describeUncertainty(uncertainty: CurveUncertainty): DescribedUncertainty {
  if (uncertainty.kind === "cox") return { kind: "cox" };
  const { kind, dense, shaped, bins } = uncertainty;
  return { kind, dense, shaped, bins };
}

export function uncertaintyTensors(uncertainty: CurveUncertainty): Map<string, Tensor> {
  const tensors = (type: Tensor["type"], lists: Readonly<Record<string, readonly number[]>>) =>
    new Map<string, Tensor>(
      Object.entries(lists).map(([name, values]) => [
        PREFIX + name,
        { type, shape: [values.length], values },
      ]),
    );
  if (uncertainty.kind === "cox") {
    const { covariance, variance, drift } = uncertainty;
    return tensors("F64", { covariance, variance, drift });
  }
  const { border, blocks, cross } = uncertainty;
  return tensors("F32", { border, blocks, cross });
}

/** The tensors of the uncertainty, and the others. */
export function divideTensors(tensors: ReadonlyMap<string, Tensor>): {
  readonly ofBands: Map<string, Tensor>;
  readonly others: Map<string, Tensor>;
} {
  const isOurs = (name: string) => name.startsWith(PREFIX);
  return {
    ofBands: new Map([...tensors].filter(([name]) => isOurs(name))),
    others: new Map([...tensors].filter(([name]) => !isOurs(name))),
  };
}

/** What of a header the numbers must fit. */
interface UncertainHeader {
  readonly uncertainty?: DescribedUncertainty;
  readonly predictor:
    | { readonly kind: "network"; readonly network: NetworkSpec }
    | { readonly kind: "cox"; readonly D: number };
  readonly grid: { readonly T: number };
}

/** Null where the file has none. */
export function readUncertainty(
  { uncertainty: described, predictor, grid: { T } }: UncertainHeader,
  tensors: ReadonlyMap<string, Tensor>,
  where: string,
): CurveUncertainty | null {
  const refuse = (reason: string) => refuseWeights(reason, where);
  /** Lists of finite numbers, one for each name, and no other tensors. */
  const take = (names: readonly string[], sizes: Readonly<Record<string, number>>) => {
    checkNames(tensors, new Set(names.map((name) => PREFIX + name)), where);
    return names.map((name) => {
      const list = Array.from(checkShape(tensors, PREFIX + name, [sizes[name]], where).values);
      if (!list.every(Number.isFinite)) throw refuse(`"${PREFIX + name}" has values that are not finite`);
      return list;
    });
  };
  if (described === undefined) {
    take([], {});
    return null;
  }
  if (described.kind === "cox") {
    if (predictor.kind !== "cox") throw refuse("errors of a Cox model beside a network");
    const { D } = predictor;
    const sizes = { covariance: (D * (D + 1)) / 2, variance: T, drift: T * D };
    const [covariance, variance, drift] = take(OF_COX, sizes);
    if (variance.some((value) => value < 0)) throw refuse("a variance is below 0");
    return { kind: "cox", covariance, variance, drift };
  }
  if (predictor.kind !== "network" || predictor.network.kind !== "held")
    throw refuse("errors of a held layer beside another model");
  const { dense, shaped, bins } = described;
  const { D, blocks: lastBins, chances } = predictor.network;
  // A factor that left the groups' shapes out has all columns dense, and no chances.
  const isWhole = dense + shaped === D + chances && shaped >= chances;
  if (!(isWhole || (dense === D && shaped === 0)) || !binsFit(bins, lastBins))
    throw refuse("columns that are not the model's, or bins that do not follow its blocks");
  const sizes = factorSizes(described, lastBins);
  const [border, blocks, cross] = take(OF_LAYER, sizes);
  return { kind: "layer", dense, shaped, bins, border, blocks, cross };
}
