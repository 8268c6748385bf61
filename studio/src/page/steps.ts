/** The six steps, in their order. */
export const STEPS = [
  { name: "table", title: "Table" },
  { name: "groups", title: "Groups" },
  { name: "train", title: "Train" },
  { name: "verdict", title: "Verdict" },
  { name: "people", title: "People" },
  { name: "audit", title: "Audit another model" },
] as const;

export type StepName = (typeof STEPS)[number]["name"];

export function isStep(name: string): name is StepName {
  return STEPS.some((step) => step.name === name);
}
