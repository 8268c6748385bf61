/** How far a phase of some work is, for whoever shows it. Work is the same whether anybody listens or not. */
export type PhaseProgress<Phase extends string = string> = (
  phase: Phase,
  done: number,
  total: number,
) => void;

/** Work in parts: after each of them whoever follows it may see to something else, or end it by `return()`. */
export type Turns<Made> = Generator<void, Made>;
export type AsyncTurns<Made> = AsyncGenerator<void, Made>;

/** All parts at one go. */
export function finishTurns<Made>(turns: Turns<Made>): Made {
  for (;;) {
    const { done, value } = turns.next();
    if (done) return value;
  }
}
