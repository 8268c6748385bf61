/**
 * What a model file holds of the uncertainty of its curves (docs/model-file.md): a description in the header, the
 * numbers among the weights. A layer's factor is kept in single precision, Cox's sums in double. Sizes follow from the
 * header and are compared with the tensors before anything is made of them.
 */
import { z } from "zod";
import type { CoxUncertainty } from "../../models/cox/curve-errors.ts";
import type { NetworkSpec } from "../../models/networks/list.ts";
import { binsFit, factorSizes, type LayerUncertainty } from "../../models/uncertainty/layer-uncertainty.ts";
import { type MissedProducts, productSizes } from "../../models/uncertainty/missed-products.ts";
import type { CurveUncertainty } from "../../training/model.ts";
import type { Tensor } from "../container/safetensors.ts";
import { checkNames, checkShape, refuseWeights } from "./check-tensors.ts";
import { count, describing, list } from "./schema-parts.ts";

/** The uncertainty without its numbers. */
export type DescribedUncertainty =
  | (Pick<LayerUncertainty, "kind" | "dense" | "shaped" | "bins"> & { readonly products?: DescribedProducts })
  | Pick<CoxUncertainty, "kind">;

type DescribedProducts = Pick<MissedProducts, "first" | "second">;

export const uncertaintySchema = describing<DescribedUncertainty>()(
  z.discriminatedUnion("kind", [
    z.strictObject({
      kind: z.literal("layer"),
      dense: count,
      shaped: count,
      bins: list(count),
      products: z.strictObject({ first: list(count), second: list(count) }).exactOptional(),
    }),
    z.strictObject({ kind: z.literal("cox") }),
  ]),
);

const PREFIX = "uncertainty.";
const OF_LAYER = ["border", "blocks", "cross"] as const;
const OF_PRODUCTS = ["means", "scales", "explained", "slopes", "factor"] as const;
/** Names of the products' tensors begin with it. */
const PRODUCTS = "products.";
const OF_COX = ["covariance", "variance", "drift"] as const;

export function describeUncertainty(uncertainty: CurveUncertainty): DescribedUncertainty {
  if (uncertainty.kind === "cox") return { kind: "cox" };
  const { kind, dense, shaped, bins, products } = uncertainty;
  if (products === undefined) return { kind, dense, shaped, bins };
  const { first, second } = products;
  return { kind, dense, shaped, bins, products: { first, second } };
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
  const { border, blocks, cross, products } = uncertainty;
  const ofProducts = OF_PRODUCTS.map((name): [string, readonly number[]] => [
    PRODUCTS + name,
    products?.[name] ?? [],
  ]);
  return tensors("F32", {
    border,
    blocks,
    cross,
    ...(products && Object.fromEntries(ofProducts)),
  });
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
  const pairs = described.products;
  if (pairs !== undefined && !pairsFit(pairs, D)) throw refuse("products of columns that are not there");
  const ofProducts = pairs === undefined ? {} : productSizes(pairs.first.length, D);
  const sizes = { ...factorSizes(described, lastBins), ...prefixed(ofProducts) };
  const [border, blocks, cross, ...numbers] = take(
    [...OF_LAYER, ...Object.keys(prefixed(ofProducts))],
    sizes,
  );
  const factor = { kind: "layer", dense, shaped, bins, border, blocks, cross } as const;
  if (pairs === undefined) return factor;
  const [means, scales, explained, slopes, ofFactor] = numbers;
  const products = { ...pairs, means, scales, explained, slopes, factor: ofFactor };
  if (scales.some((_, k) => !(ofFactor[(k * (k + 3)) / 2] > 0)))
    throw refuse("products whose factor is not one");
  return { ...factor, products };
}

/** At least one product, each of a column and a later one. */
function pairsFit({ first, second }: DescribedProducts, D: number): boolean {
  return (
    first.length > 0 &&
    first.length === second.length &&
    first.every((column, k) => column < second[k] && second[k] < D)
  );
}

function prefixed(sizes: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(Object.entries(sizes).map(([name, size]) => [PRODUCTS + name, size]));
}
