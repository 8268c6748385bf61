/** The page on bands and bounds: how often they hold the truth of simulated people, and where they do not. */
export function bandsPage(): string {
  return "";
}
