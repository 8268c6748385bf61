// The graphics device that tests run on: the machine's own, or SwiftShader, the one that Chromium brings along, which
// computes on the processor. vitest.config.ts names it before the tests' processes start, because the system's loader
// reads these variables only then.
import { existsSync } from "node:fs";
import { type LstmEffort, SOFTWARE } from "../../src/compute/webgpu/lstm/lstm-plan.ts";
import type { WebGpuBackend } from "../../src/compute/webgpu/webgpu-backend.ts";
import { openWebGpuBackend } from "../../src/node/workers/webgpu-backend.ts";

const CHROMIUM = "/usr/lib/chromium";

export function offerSoftwareDevice(environment: Record<string, string | undefined>): void {
  const driver = `${CHROMIUM}/vk_swiftshader_icd.json`;
  if (environment.VK_ICD_FILENAMES !== undefined || !existsSync(driver)) return;
  environment.VK_ICD_FILENAMES = driver;
  // After the system's own libraries, of which this folder has others by the same names.
  environment.LD_LIBRARY_PATH = [environment.LD_LIBRARY_PATH, CHROMIUM].filter(Boolean).join(":");
}

/** The layout of lanes-plan.ts, short enough for a device that is a program. */
export const LANES: LstmEffort = {
  ...SOFTWARE,
  lanes: [{ upTo: Number.POSITIVE_INFINITY, tileRows: 8, products: [8, 5], slices: 3, writtenOut: false }],
};

/** Whether the device is a program, or why there is none to test on. */
export type TestDevice = { readonly software: boolean } | { readonly missing: string };

let found: Promise<TestDevice> | null = null;

export function findDevice(): Promise<TestDevice> {
  found ??= openWebGpuBackend().then(
    async ({ software, close }: WebGpuBackend) => {
      await close();
      return { software };
    },
    (error: Error) => ({ missing: error.message }),
  );
  return found;
}
