import type { CauseLine, CausesPlan } from "./plan.ts";
export function causesPage(_plan: CausesPlan, _lines: readonly CauseLine[]): string {
  return "";
}
