/** What `import "graduate"` loads in Node: the library, with a `fit` that finds its own backend. */
export * from "../index.ts";
export { fit } from "./fit.ts";
