/**
 * Membership of a group as an ONNX graph: data/groups/group-members.ts over raw columns. Both use Kleene's logic: every
 * term can be asked for the rows where it holds and for the rows where it fails, and a row with a missing value is in
 * neither. `!` swaps the two; `&` holds where all hold and fails where one fails. Dates are days and booleans 0 and 1,
 * as in the columns.
 */
import { InputError } from "../../core/errors.ts";
import {
  type Comparison,
  formatGroup,
  type GroupExpression,
  type GroupValue,
  isNumberText,
} from "../../data/groups/group-expression.ts";
import { parseDateText } from "../../data/reading/parse-cell.ts";
import { findMissing, findTexts, levelNumber, missingTexts, type RawTensor } from "./columns.ts";
import type { OnnxGraph } from "./graph.ts";

interface Term {
  /** Bool [N,1] or [1,1]; made only when asked for. */
  holds(): string;
  fails(): string;
}

/** The name of a bool [N,1], true for members. `columns` needs at least one entry, which gives the number of rows. */
export function groupToOnnx(
  graph: OnnxGraph,
  expression: GroupExpression,
  columns: ReadonlyMap<string, RawTensor>,
): string {
  const [first] = columns.values();
  const members = translate(graph, expression, columns).holds();
  return graph.add("Expand", [members, graph.add("Shape", [first.tensor])]);
}

function translate(
  graph: OnnxGraph,
  expression: GroupExpression,
  columns: ReadonlyMap<string, RawTensor>,
): Term {
  switch (expression.type) {
    case "all":
      return {
        holds: () => graph.constant("bool", [1, 1], [1]),
        fails: () => graph.constant("bool", [1, 1], [0]),
      };
    case "not": {
      const term = translate(graph, expression.term, columns);
      return { holds: term.fails, fails: term.holds };
    }
    case "and":
    case "or": {
      const terms = expression.terms.map((term) => translate(graph, term, columns));
      const join = (op: "And" | "Or", parts: readonly string[]) =>
        parts.reduce((a, b) => graph.add(op, [a, b]));
      const holds = expression.type === "and" ? "And" : "Or";
      const fails = expression.type === "and" ? "Or" : "And";
      return {
        holds: () =>
          join(
            holds,
            terms.map((term) => term.holds()),
          ),
        fails: () =>
          join(
            fails,
            terms.map((term) => term.fails()),
          ),
      };
    }
    case "missing": {
      const isMissing = findMissing(graph, findTested(expression, columns));
      return { holds: () => isMissing, fails: () => graph.add("Not", [isMissing]) };
    }
    default: {
      const column = findTested(expression, columns);
      const test = translateTest(graph, expression, column);
      // No comparison is true of NaN, and no test compares with a text that means missing: the test itself says where
      // it holds.
      const fails = () => graph.add("Not", [graph.add("Or", [test, findMissing(graph, column)])]);
      const isUnequal = expression.type === "compare" && expression.comparison === "!=";
      return isUnequal ? { holds: fails, fails: () => test } : { holds: () => test, fails };
    }
  }
}

type ValueTest = Extract<GroupExpression, { readonly type: "holds" | "compare" | "range" | "in" }>;

/** Bool [N,1]; for `!=`, the equality. */
function translateTest(graph: OnnxGraph, test: ValueTest, column: RawTensor): string {
  const order = (comparison: Comparison, value: GroupValue) => {
    if (column.type === "category" || column.type === "boolean") {
      throw refuseTest(
        test,
        `"${column.name}" is a ${column.type}, which has no order`,
        "use =, != or in {…}",
      );
    }
    const bound = graph.constant("double", [1, 1], [readValue(test, column, value)]);
    return graph.add(ORDERS[comparison as keyof typeof ORDERS], [column.tensor, bound]);
  };
  switch (test.type) {
    case "holds":
      if (column.type === "boolean") return findValues(graph, test, column, [true]);
      throw refuseTest(test, `"${column.name}" is a ${column.type}`, "give it a comparison");
    case "in":
      return findValues(graph, test, column, test.values);
    case "range":
      return graph.add("And", [
        order(test.lowerIncluded ? ">=" : ">", test.lower),
        order(test.upperIncluded ? "<=" : "<", test.upper),
      ]);
    case "compare":
      return test.comparison === "=" || test.comparison === "!="
        ? findValues(graph, test, column, [test.value])
        : order(test.comparison, test.value);
  }
}

const ORDERS = { "<": "Less", "<=": "LessOrEqual", ">": "Greater", ">=": "GreaterOrEqual" } as const;

function findValues(
  graph: OnnxGraph,
  test: ValueTest,
  column: RawTensor,
  values: readonly GroupValue[],
): string {
  if (column.holds === "string") {
    const missing = missingTexts(column.levels);
    const texts = new Set(values.flatMap((value) => matchLevels(column, value)));
    return findTexts(
      graph,
      column.tensor,
      [...texts].filter((text) => !missing.includes(text)),
    );
  }
  const numbers = values.flatMap((value) =>
    column.type === "category"
      ? matchLevels(column, value).map(levelNumber)
      : [readValue(test, column, value)],
  );
  return numbers
    .map((number) => graph.add("Equal", [column.tensor, graph.constant("double", [1, 1], [number])]))
    .reduce((a, b) => graph.add("Or", [a, b]));
}

/**
 * The level spelled like the value, otherwise the levels of equal value; a level not seen in training stands for
 * itself.
 */
function matchLevels({ levels }: RawTensor, value: GroupValue): string[] {
  const text = String(value);
  const same = levels.filter(
    (level) =>
      (typeof value === "number" && isNumberText(level) && Number(level) === value) ||
      (typeof value === "boolean" && level.toLowerCase() === text),
  );
  return levels.includes(text) || same.length === 0 ? [text] : same;
}

function readValue(test: ValueTest, { name, type }: RawTensor, value: GroupValue): number {
  const text = String(value);
  const refuse = (hint: string) =>
    refuseTest(test, `"${name}" is a ${type}: it cannot be compared with ${JSON.stringify(value)}`, hint);
  if (type === "date") {
    const days = /^\d{4}-\d{2}-\d{2}/.test(text) ? parseDateText(text, "month-first") : Number.NaN;
    if (Number.isNaN(days)) throw refuse("compare it with a date such as 2003-01-31");
    return days;
  }
  if (type === "boolean") {
    if (/^(?:true|1)$/i.test(text)) return 1;
    if (/^(?:false|0)$/i.test(text)) return 0;
    throw refuse("compare it with true or false");
  }
  if (typeof value !== "boolean" && isNumberText(text)) return Number(text);
  throw refuse("compare it with a number");
}

function findTested(
  test: ValueTest | Extract<GroupExpression, { readonly type: "missing" }>,
  columns: ReadonlyMap<string, RawTensor>,
): RawTensor {
  const found = columns.get(test.column);
  if (found) return found;
  throw refuseTest(
    test,
    `"${test.column}" is no input of the ONNX file (have ${[...columns.keys()].join(", ")})`,
    "export without --raw and give the group's 0/1 column with x",
  );
}

function refuseTest(test: GroupExpression, problem: string, hint: string): InputError {
  return new InputError(`group "${formatGroup(test)}" cannot be put into an ONNX file: ${problem}`, {
    code: "onnx.group",
    hint,
  });
}
