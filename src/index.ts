export { type AuditGroup, type AuditInput, type AuditOptions, type AuditTable, audit } from "./audit.ts";
export * from "./core/errors.ts";
export * from "./core/measured.ts";
export * from "./data/index.ts";
export * from "./models/index.ts";
export * from "./stats/index.ts";
