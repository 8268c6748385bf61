export { createSha256, type Sha256, sha256, toHex } from "./container/checksum.ts";
export { checkpointFromBytes, checkpointToBytes, type SavedCheckpoint } from "./model/checkpoint-file.ts";
export { modelFromBytes, modelToBytes } from "./model/model-file.ts";
export { explainIssue } from "./model/schema-parts.ts";
export { modelToOnnx, type OnnxFile, type OnnxOptions } from "./onnx/onnx.ts";
