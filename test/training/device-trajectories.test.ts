// The trainer on a graphics device, held to PyTorch's steps as trainer.test.ts holds it on a processor.
import { afterAll, describe } from "vitest";
import { openWebGpuBackend } from "../../src/node/workers/webgpu-backend.ts";
import { findDevice } from "../compute/webgpu-device.ts";
import { followPyTorch } from "./trajectories.ts";

const device = await findDevice();
// One for all runs: a device compiles its kernels anew whenever it is opened.
const opened = "missing" in device ? null : await openWebGpuBackend();
if ("missing" in device) console.log(`trajectories on webgpu are skipped: ${device.missing}`);
afterAll(() => opened?.close());

describe.skipIf(opened === null)("on a graphics device", () => {
  const open = async () => {
    if (opened === null) throw new Error("no device");
    return { ...opened, close: async () => {} };
  };
  followPyTorch([{ name: "webgpu", open, tolerance: 1e-4 }]);
});
