/**
 * A Parquet file that grows by a group of rows at a time: whoever writes one holds no more than a group in memory, and
 * the file's index comes last. Nothing of it is compressed.
 */
import type { DecodedArray, SchemaElement } from "hyparquet";
import type { ByteOutput } from "./growing-file.ts";

/** Rows per row group: 26 MB for a hundred bins, held until the group is complete. */
export const ROW_GROUP_ROWS = 1 << 15;

/** How Parquet declares a column. */
export type ParquetElement = Omit<SchemaElement, "num_children">;

interface RowGroups {
  /** Writes a group, column by column; none where there are no rows. */
  write(columns: readonly DecodedArray[]): Promise<void>;
  finish(): Promise<void>;
}

/** `elements` declare the columns in their order. */
export async function openRowGroups(
  output: ByteOutput,
  elements: readonly ParquetElement[],
): Promise<RowGroups> {
  // Loaded only when needed: most predictions are written as CSV.
  const { ByteWriter, ParquetWriter } = await import("hyparquet-writer");
  const bytes = new ByteWriter();
  /** Passes on the bytes of a row group and resets the buffer. */
  const flush = async () => {
    await output.write(new Uint8Array(bytes.buffer, 0, bytes.index));
    bytes.index = 0;
  };
  const schema = [{ name: "root", num_children: elements.length }, ...elements];
  // Probabilities rarely repeat: compression costs more time than it saves space.
  const writer = new ParquetWriter({ writer: bytes, codec: "UNCOMPRESSED", schema });
  return {
    async write(columns) {
      const rows = columns[0].length;
      if (rows === 0) return;
      const columnData = columns.map((data, k) => ({
        name: elements[k].name,
        data,
        encoding: "PLAIN" as const,
      }));
      await writer.write({ rowGroupSize: rows, columnData });
      await flush();
    },
    async finish() {
      await writer.finish();
      await flush();
      await output.finish();
    },
  };
}
