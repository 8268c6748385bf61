/** What the module exports. Everything in this folder is AssemblyScript, compiled by asc (bin/build.js), not by tsc. */
import { denseBackward, denseForward, denseGradient, denseScratchBytes, denseSlotBytes } from "./dense.ts";
import { activate } from "./exponential.ts";
import { lstmBackward, lstmGradient, lstmSlotBytes } from "./lstm-backward.ts";
import { lstmForward } from "./lstm-forward.ts";
import { lstmScratchBytes, lstmTapeBytes } from "./lstm-scratch.ts";

export { activate };
export { denseBackward, denseForward, denseGradient, denseScratchBytes, denseSlotBytes };
export { lstmBackward, lstmForward, lstmGradient, lstmScratchBytes, lstmSlotBytes, lstmTapeBytes };
