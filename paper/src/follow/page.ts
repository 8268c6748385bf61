import type { FollowLine, FollowPlan } from "./plan.ts";
export function followPage(_plan: FollowPlan, _lines: readonly FollowLine[]): string {
  return "";
}
