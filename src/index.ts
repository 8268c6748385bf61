export { type AuditGroup, type AuditInput, type AuditOptions, type AuditTable, audit } from "./audit.ts";
export type { Backend, Floats } from "./compute/backend.ts";
export { createReferenceBackend } from "./compute/reference.ts";
export * from "./core/errors.ts";
export * from "./core/measured.ts";
export * from "./data/index.ts";
export { type DiscoverInput, type DiscoverOptions, type Discovery, discover } from "./discover.ts";
export * from "./files/index.ts";
export * from "./models/index.ts";
export * from "./objectives/index.ts";
export { type Prediction, predict } from "./predict.ts";
export * from "./stats/index.ts";
export {
  type CandidateEvent,
  type StartEvent,
  type TrainEvent,
  type TrainHooks,
  type TrainRequest,
  train,
} from "./train.ts";
export * from "./training/index.ts";
