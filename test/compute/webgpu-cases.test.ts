// Every case on a graphics device, its rows in pairs and in lanes.
import { describe } from "vitest";
import { deviceBackends, testCases } from "./backends.ts";
import { findDevice } from "./webgpu-device.ts";

const device = await findDevice();
if ("missing" in device) console.log(`the compute cases are skipped on webgpu: ${device.missing}`);

describe.skipIf("missing" in device)("on a graphics device", () => {
  testCases(deviceBackends("software" in device && device.software));
});
