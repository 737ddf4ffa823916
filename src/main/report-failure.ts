/** The last word of a command that failed: one clear sentence on stderr, the stack only on request. */
export function reportFailure(command: string, error: unknown): void {
  const message = error instanceof Error ? error.message : String(error);
  process.stderr.write(`${command}: ${message}\n`);
  if (process.env.TENANTRY_DEBUG && error instanceof Error) process.stderr.write(`${error.stack}\n`);
  process.exitCode = 1;
}
