/**
 * What pages may do, as a Content-Security-Policy writes it: a report loads nothing and runs its sorting script alone;
 * a page that computes and shows reports loads and reaches its own files, and nothing from elsewhere.
 */

/** The hash of SORT_SCRIPT (render-report.ts); a test recomputes it. */
export const SORT_SCRIPT_HASH = "sha256-lWGp/z+OYdEQoCTxO5aOtJP07ZXZpj6fMvTHU3BTyEs=";

export const REPORT_POLICY: string =
  `default-src 'none'; style-src 'unsafe-inline'; script-src '${SORT_SCRIPT_HASH}'; img-src data:; ` +
  "base-uri 'none'; form-action 'none'";

/**
 * A frame inherits the policy of its page, so what a report needs is allowed here too: its style sheet and its script.
 * WebAssembly is compiled; no text becomes code.
 */
export const PAGE_POLICY: string =
  `default-src 'none'; script-src 'self' 'wasm-unsafe-eval' '${SORT_SCRIPT_HASH}'; worker-src 'self'; ` +
  "style-src 'self' 'unsafe-inline'; connect-src 'self'; img-src 'self' data: blob:; frame-src blob:; " +
  "base-uri 'none'; form-action 'none'";
