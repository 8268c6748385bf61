/** Placebo groups: the same sizes and overlaps as real groups, with members drawn at random. */
import { createRandom, shuffle } from "graduate-survival/core";
import { type Group, resolveGroups, type Table } from "graduate-survival/data";

/** Separate from every stream that a run of the same seed uses. */
const PLACEBO_STREAM = 0x50000000;

function placeboColumn(group: number): string {
  return `placebo ${group}`;
}

/** The groups defined by their placebo columns, and those columns, which are not features. */
export function namePlacebos(groups: readonly Group[]): {
  readonly groups: readonly Group[];
  readonly columns: readonly string[];
} {
  return {
    groups: groups.map(({ name }, g) => ({ name, expression: `"${placeboColumn(g)}"` })),
    columns: groups.map((_, g) => placeboColumn(g)),
  };
}

/** Adds each group as a column, its rows exchanged at random with others of the same part. */
export function addPlacebos(
  table: Table,
  groups: readonly Group[],
  parts: readonly Int32Array[],
  seed: number,
): Table {
  const from = Int32Array.from({ length: table.rows }, (_, row) => row);
  parts.forEach((part, k) => {
    const order = Int32Array.from(part);
    shuffle(order, createRandom(seed, PLACEBO_STREAM + k));
    part.forEach((row, i) => {
      from[row] = order[i];
    });
  });
  const columns = resolveGroups(groups, table, { unknownLevels: "allow" }).map(({ rows }, g) => {
    const members = new Set(rows);
    const values = Uint8Array.from(from, (row) => (members.has(row) ? 1 : 0));
    return { name: placeboColumn(g), type: "boolean" as const, values };
  });
  return { ...table, columns: [...table.columns, ...columns] };
}
