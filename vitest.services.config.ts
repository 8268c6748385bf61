import { configDefaults, defineConfig } from "vitest/config";
import { SERVICES } from "./test/services.ts";
import every from "./vitest.config.ts";

export default defineConfig({
  ...every,
  test: { ...every.test, include: SERVICES, exclude: configDefaults.exclude },
});
