/** A command as one would type it again in a shell: for the end of a report, and for who repeats a page's run. */

/** The command as one would type it again. */
export function describeCommand(args: readonly string[], program = "graduate"): string {
  return [program, ...args.map(quoteArgument)].join(" ");
}

/** Quoted for a shell: bare if possible, otherwise in single quotes. */
export function quoteArgument(text: string): string {
  return /^[\p{L}\p{N}_@%+=:,./-]+$/u.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
