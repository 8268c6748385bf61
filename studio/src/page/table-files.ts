/** The files of this computer that can be read as a table. */
export const TABLE_FILES = ".csv,.tsv,.txt,.gz,.parquet,.pq";
