/** A name that a shell can export. Kubernetes allows others too. */
const SHELL_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/**
 * The environment as commands for a shell. It reaches the program this way because it must not be that of the tools in between: a
 * Pod with LD_PRELOAD would run its own code in them, before the sandbox is closed. Nor is it in their arguments, for all to read.
 */
export function environmentScript(env: Record<string, string>): string {
  const lines = ['unset PWD OLDPWD SHLVL PATH'];
  const others: string[] = [];
  for (const [name, value] of Object.entries(env)) {
    if (SHELL_NAME.test(name)) lines.push(`export ${name}=${quoted(value)}`);
    else others.push(quoted(`${name}=${value}`));
  }
  // What the shell cannot name, a program can pass on.
  if (others.length > 0) lines.push(`set -- /usr/bin/env ${others.join(' ')} "$@"`);
  return `${lines.join('\n')}\n`;
}

export function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
