/** What a shell sets before it becomes the container's program. */
export interface ProcessLimits {
  /** Only where the kernel counts the container's own processes, not all of the user's. */
  processes?: number;
}

/** As most container runtimes have it; the shim's own limit is as high as the machine allows. */
const OPEN_FILES = 65_536;

/**
 * Memory is not among them: the kernel could only limit addresses, of which Node and others reserve far more than they ever use.
 * Shells differ in the letter for processes.
 */
export function limitScript({ processes }: ProcessLimits): string {
  const commands = ['ulimit -c 0', `ulimit -n ${OPEN_FILES} 2>/dev/null || :`];
  if (processes !== undefined) commands.push(`ulimit -u ${processes} 2>/dev/null || ulimit -p ${processes}`);
  return commands.join('; ');
}
