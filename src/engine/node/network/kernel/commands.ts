import { runCommand as run } from '../../../../lib/run-command.ts';
import { inNamespace } from './namespaces.ts';

export interface CommandOptions {
  /** Path of the network namespace to run in; absent: this process's own. */
  namespace?: string;
  input?: string;
}

/** Runs a tool inside a namespace without a wrapper such as `ip netns exec`, which costs more than most of what is run. */
export async function runCommand(command: string, args: readonly string[], { namespace, input }: CommandOptions = {}): Promise<string> {
  return inNamespace(namespace, () => run(command, args, { input }));
}

/** Many `ip` commands in one process; stops at the first that fails. */
export function runIpBatch(commands: readonly string[], namespace: string | undefined): Promise<string> {
  return runCommand('ip', ['-batch', '-'], { namespace, input: `${commands.join('\n')}\n` });
}

export function runNft(text: string, namespace: string | undefined): Promise<string> {
  return runCommand('nft', ['-f', '-'], { namespace, input: text });
}
