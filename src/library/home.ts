/**
 * Where the library runs, and what it opens there by itself: what computes a network's curves, and a document in which
 * plots are drawn. Node has threads and a small document, a page may have web workers and its own, and a bare engine
 * has neither.
 */
import type { Backend } from "../compute/backend.ts";
import type { Model } from "../training/model.ts";

/** What a place to run has. */
export interface Home {
  /** Opens what is fastest there; a model names what it was trained with. */
  openBackend(model?: Pick<Model, "provenance">): Promise<Backend>;
  /** A document that makes SVG elements. */
  openDocument(): Promise<unknown>;
  /** The program's name, with its version where that is known. */
  readonly program: string;
}

/** What most functions of a model take besides their own options. */
export interface BackendOption {
  /** Computes the curves; opened for the call, and closed after it, unless given. */
  readonly backend?: Backend | null;
}

/** Whether a model or method has no network, so that nothing needs to be opened. */
type Needs = Pick<Model, "predictor" | "provenance"> | { readonly isNetwork: boolean };

/** Runs with the given backend, or with one that is opened for it and closed after it. */
export async function withBackend<Result>(
  home: Home,
  needs: Needs,
  given: Backend | null | undefined,
  use: (backend: Backend | null) => Promise<Result>,
): Promise<Result> {
  if (given !== null && given !== undefined) return use(given);
  const isNetwork = "predictor" in needs ? needs.predictor.kind === "network" : needs.isNetwork;
  if (!isNetwork) return use(null);
  const opened = await home.openBackend("predictor" in needs ? needs : undefined);
  try {
    return await use(opened);
  } finally {
    await opened.close();
  }
}
