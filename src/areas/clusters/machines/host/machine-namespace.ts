import { existsSync } from 'node:fs';
import { runCommand } from '../../../../lib/run-command.ts';

/**
 * The kernel of the host has no say in a machine's namespace: addresses there are the machine's, which takes packets from the link itself. Two who
 * answer for one address would cut each other's connections. Every line may be repeated.
 */
const SEAL = ['inet', 'arp']
  .flatMap((family) => [
    `add table ${family} sealed`,
    ...['input', 'output'].map((hook) => `add chain ${family} sealed ${hook} { type filter hook ${hook} priority 0; policy drop; }`),
    '',
  ])
  .join('\n');

/** @returns its path */
export async function ensureNamespace(name: string): Promise<string> {
  const path = `/run/netns/${name}`;
  if (!existsSync(path)) await runCommand('ip', ['netns', 'add', name]);
  await runCommand('ip', ['netns', 'exec', name, 'nft', '-f', '-'], { input: SEAL });
  return path;
}

export async function removeNamespace(name: string): Promise<void> {
  if (existsSync(`/run/netns/${name}`)) await runCommand('ip', ['netns', 'delete', name]);
}
