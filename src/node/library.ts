/** What `import "graduate"` is in Node: the library, with a `fit` that finds its backend by itself. */
export * from "../index.ts";
export { fit } from "./fit.ts";
