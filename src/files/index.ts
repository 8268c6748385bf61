export { checkpointFromBytes, checkpointToBytes, type SavedCheckpoint } from "./checkpoint-file.ts";
export { createSha256, type Sha256, sha256, toHex } from "./checksum.ts";
export { modelFromBytes, modelToBytes } from "./model-file.ts";
export { modelToOnnx, type OnnxFile, type OnnxOptions } from "./onnx.ts";
