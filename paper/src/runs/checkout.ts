/**
 * Files of the checkout that contains this workspace, by their path there, and the version of the product that runs are
 * made with.
 */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** The checkout is three folders up, from paper/src as from paper/dist. */
export function checkoutFile(path: string): string {
  return fileURLToPath(new URL(`../../../${path}`, import.meta.url));
}

export function readCheckout(path: string): string {
  return readFileSync(checkoutFile(path), "utf8");
}

/** The product's version, from its package.json. */
export const VERSION = (JSON.parse(readCheckout("package.json")) as { readonly version: string }).version;
