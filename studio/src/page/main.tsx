/**
 * Starts the page. Where its files were not sent with the headers that threads need, a small worker adds them and the
 * page is loaded once more; where there is no such worker, everything still runs, on one thread.
 */
import { PALETTE_RULES } from "graduate-survival/report";
import { render } from "preact";
import { App } from "./app.tsx";
import "./style.css";
import { createStudio } from "./studio.ts";

const palette = new CSSStyleSheet();
palette.replaceSync(PALETTE_RULES);
document.adoptedStyleSheets = [palette];

/** Milliseconds after which a worker is no longer waited for: some browsers refuse it without a word. */
const WORKER_PATIENCE = 1500;

/** Whether the page has to be loaded again to share memory between threads. */
async function addHeaders(): Promise<boolean> {
  if (globalThis.crossOriginIsolated || !("serviceWorker" in navigator)) return false;
  try {
    if (navigator.serviceWorker.controller !== null) return false;
    await navigator.serviceWorker.register("./add-headers.js");
    const late = new Promise<null>((resolve) => setTimeout(resolve, WORKER_PATIENCE, null));
    return (await Promise.race([navigator.serviceWorker.ready, late])) !== null;
  } catch {
    return false;
  }
}

// A file that is dropped beside its place would be opened in place of the page.
for (const kind of ["dragover", "drop"]) addEventListener(kind, (event) => event.preventDefault());

const root = document.getElementById("studio");
if (await addHeaders()) location.reload();
else {
  const store = createStudio();
  // In a task of its own: loading the page and drawing it are both noticed on a busy machine.
  setTimeout(() => root !== null && render(<App store={store} />, root), 0);
}
