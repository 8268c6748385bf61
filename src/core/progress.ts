/** How far a phase of some work is, for whoever shows it. Work is the same whether anybody listens or not. */
export type PhaseProgress<Phase extends string = string> = (
  phase: Phase,
  done: number,
  total: number,
) => void;
