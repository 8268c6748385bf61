/** What the module exports. Everything in this folder is AssemblyScript, compiled by asc (bin/build.js), not by tsc. */
import { denseBackward, denseForward, denseGradient, denseScratchBytes, denseSlotBytes } from "./dense.ts";
import { activate } from "./activations.ts";
import { additiveBackward, additiveForward, additiveScratchBytes } from "./additive.ts";
import { addRecurrent, differentiateGates, multiplyBack } from "./lstm-backward.ts";
import { lstmBackward, lstmGradient, lstmSlotBytes } from "./lstm-backward.ts";
import { lstmForward } from "./lstm-forward.ts";
import { lstmScratchBytes, lstmTapeBytes } from "./lstm-scratch.ts";
import { backThroughConditional, causeLikelihood, fillCauseCurves } from "./causes.ts";
import { fillCurves } from "./curves.ts";
import { backThroughFreeCurves, fillFreeCurves } from "./incidences.ts";
import { likelihood, likelihoodScratchBytes, likelihoodTail } from "./likelihood.ts";
import { chainMultiplyAdds } from "./simd.ts";
import { backThroughCurves, replaceCurves } from "./statistics.ts";

export { activate, chainMultiplyAdds };
export { additiveBackward, additiveForward, additiveScratchBytes };
export { denseBackward, denseForward, denseGradient, denseScratchBytes, denseSlotBytes };
export { lstmBackward, lstmForward, lstmGradient, lstmScratchBytes, lstmSlotBytes, lstmTapeBytes };
export { backThroughConditional, causeLikelihood, fillCauseCurves };
export { backThroughFreeCurves, fillFreeCurves };
export { backThroughCurves, fillCurves, likelihood, likelihoodScratchBytes, likelihoodTail, replaceCurves };

// Nobody calls these from outside: an exported function is not inlined into its caller, where the engine would find
// fewer registers and unroll less (2 % of the backward pass).
export { addRecurrent, differentiateGates, multiplyBack };
