/**
 * An ONNX graph while it is being built: operators are added one after another, and each returns the name of its
 * result. Names inside the graph avoid those of the inputs, which are a table's own column names. Operators are those
 * of version 13 (and of version 2 of ai.onnx.ml, for texts only), so that a runtime of 2021 still opens the file.
 */
import { InputError } from "../../core/errors.ts";
import {
  type OnnxAttribute,
  type OnnxModel,
  type OnnxNode,
  type OnnxTensor,
  type OnnxValue,
  writeOnnx,
} from "./writer.ts";

/** IR 7 came with operators 13. */
const IR_VERSION = 7;
const OPERATORS_VERSION = 13;
export const TEXT_DOMAIN = "ai.onnx.ml";
const TEXT_OPERATORS_VERSION = 2;

export type OnnxGraph = ReturnType<typeof createOnnxGraph>;

type OnnxAbout = Pick<OnnxModel, "producer" | "about" | "name" | "metadata">;

/** The largest float32: the limit of single precision. */
const LARGEST_FLOAT32 = 3.4028234663852886e38;

/** A result of the graph, and the output that it is given as. */
interface Exposed {
  readonly result: string;
  readonly output: OnnxValue;
}

function exposeResult({ result, output }: Exposed): OnnxNode {
  return { op: "Identity", domain: "", inputs: [result], output: output.name, attributes: {} };
}

export function createOnnxGraph(inputs: readonly OnnxValue[]) {
  const taken = new Set(inputs.map(({ name }) => name));
  const nodes: OnnxNode[] = [];
  const tensors: OnnxTensor[] = [];
  const counts = new Map<string, number>();

  /** The name, or the first unused one of name_1, name_2, …. */
  function freeName(name: string): string {
    if (!taken.has(name)) return name;
    for (let k = counts.get(name) ?? 1; ; k++) {
      counts.set(name, k + 1);
      if (!taken.has(`${name}_${k}`)) return `${name}_${k}`;
    }
  }
  function take(name: string): string {
    const free = freeName(name);
    taken.add(free);
    return free;
  }

  return {
    inputs,
    freeName,
    /** Adds an operator with one result and returns the result's name. */
    add(
      op: string,
      from: readonly string[],
      attributes: Readonly<Record<string, OnnxAttribute>> = {},
      domain = "",
    ): string {
      const output = take(op);
      nodes.push({ op, domain, inputs: from, output, attributes });
      return output;
    },
    /** Numbers, row-major. `label` is what a viewer of the graph shows. */
    constant(
      type: OnnxTensor["type"],
      shape: readonly number[],
      values: ArrayLike<number>,
      label = "constant",
    ): string {
      for (let i = 0; type === "float" && i < values.length; i++) {
        if (!(Math.abs(values[i]) > LARGEST_FLOAT32)) continue;
        throw new InputError(
          `a number too large for an ONNX file in single precision: ${values[i]} (${label})`,
          {
            code: "onnx.range",
            hint: "train the model anew: a weight of this size makes no sensible prediction",
          },
        );
      }
      const name = take(label);
      tensors.push({ name, shape, type, values });
      return name;
    },
    /** The whole graph as bytes, with `result` exposed as `output`, and `more` results as theirs. */
    finish(result: string, output: OnnxValue, about: OnnxAbout, more: readonly Exposed[] = []): Uint8Array {
      const exposed = [{ result, output }, ...more];
      const usesTexts = nodes.some(({ domain }) => domain === TEXT_DOMAIN);
      return writeOnnx({
        ...about,
        irVersion: IR_VERSION,
        operators: new Map([
          ["", OPERATORS_VERSION],
          ...(usesTexts ? ([[TEXT_DOMAIN, TEXT_OPERATORS_VERSION]] as const) : []),
        ]),
        inputs,
        outputs: exposed.map((one) => one.output),
        tensors,
        nodes: [...nodes, ...exposed.map(exposeResult)],
      });
    },
  };
}
