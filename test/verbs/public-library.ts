// Everything that the package's subpaths export, as one namespace.
export * from "../../src/core/index.ts";
export * from "../../src/data/index.ts";
export * from "../../src/files/index.ts";
export * from "../../src/index.ts";
// Of the package's own entry, which gives it methods.
export { modelFromBytes } from "../../src/index.ts";
export * from "../../src/models/index.ts";
export * from "../../src/objectives/index.ts";
export * from "../../src/repair/index.ts";
export * from "../../src/stats/index.ts";
export * from "../../src/study/index.ts";
export * from "../../src/training/index.ts";
export * from "../../src/verbs/index.ts";
