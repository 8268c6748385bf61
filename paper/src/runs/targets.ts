/** The paper's three tables, and which of a plan's cohorts represent them. */

export const PAGE_TARGETS = ["nwtco", "flchain", "eye"] as const;
export type PageTarget = (typeof PAGE_TARGETS)[number];

/** The plan of the default preset, or that of the paper's recipe. */
export type PagePlan = PageTarget | `paper-${PageTarget}`;

/** The plans behind a target's page: the default preset's, and that of the paper's recipe. */
export function plansOf(target: PageTarget): readonly PagePlan[] {
  return [target, `paper-${target}`];
}

export function targetOf(plan: PagePlan): PageTarget {
  return plan.replace("paper-", "") as PageTarget;
}

/** The printed cells belong to this cohort of a target's plans. */
export const PRINTED_COHORT: Readonly<Record<PageTarget, string>> = {
  nwtco: "nwtco",
  flchain: "flchain with chapter",
  eye: "level 2 dependent",
};

/** Which of a plan's cohorts are drawn: those of the paper. */
export const FIGURE_COHORTS: Readonly<Record<PageTarget, readonly string[]>> = {
  nwtco: ["nwtco"],
  flchain: ["flchain with chapter", "flchain without chapter"],
  eye: ["level 2 dependent"],
};

/** File name of a cohort's figures, without the part for what they show and the extension. */
export function figureName(plan: PagePlan, cohort: string): string {
  const words = cohort.split(" ").filter((word) => word !== targetOf(plan));
  return [plan, ...words].join("-");
}
