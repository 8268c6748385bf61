/**
 * Files of the checkout that this workspace lies in, by their path there, and the version of the product that runs are
 * made with.
 */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** From paper/src as from paper/dist the checkout is three folders up. */
export function checkoutFile(path: string): string {
  return fileURLToPath(new URL(`../../../${path}`, import.meta.url));
}

export function readCheckout(path: string): string {
  return readFileSync(checkoutFile(path), "utf8");
}

/** Of the product, as its package.json has it. */
export const VERSION = (JSON.parse(readCheckout("package.json")) as { readonly version: string }).version;
