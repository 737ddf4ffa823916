import { CustomResourceDefinition, Namespace, Node, Pod } from '../client/kinds.ts';
import type { Client } from '../client/client.ts';
import type { Kind } from '../kube/kind.ts';
import { instanceClient } from './instance.ts';

interface InstanceStatus {
  server: string;
  version: string;
  ready: boolean;
  checks: string[];
  objects: Record<string, number>;
}

/** Says how an instance is: its health checks, and how much is in it. */
export async function status(options: { kubeconfig: string; output: string }): Promise<void> {
  const { client, server } = await instanceClient(options.kubeconfig);
  try {
    const found = await inspect(client, server);
    process.stdout.write(options.output === 'json' ? `${JSON.stringify(found, null, 2)}\n` : describe(found));
    if (!found.ready) process.exitCode = 1;
  } finally {
    await client.close();
  }
}

async function inspect(client: Client, server: string): Promise<InstanceStatus> {
  const version = await client.request<{ gitVersion: string }>({ method: 'GET', path: '/version' });
  let checks: string;
  let ready = true;
  try {
    checks = await client.request<string>({ method: 'GET', path: '/readyz', query: { verbose: '' } });
  } catch (error) {
    ready = false;
    checks = (error as Error).message;
  }
  const objects: Record<string, number> = {};
  for (const kind of [Namespace, Node, Pod, CustomResourceDefinition]) objects[kind.plural] = await count(client, kind);
  return { server, version: version.gitVersion, ready, checks: checks.split('\n').filter((line) => /^\[[+-]\]/.test(line)), objects };
}

async function count(client: Client, kind: Kind): Promise<number> {
  const list = await client.metadata(kind).list({ limit: 1 });
  return list.items.length + (list.metadata.remainingItemCount ?? 0);
}

function describe(found: InstanceStatus): string {
  const rows: [string, string][] = [
    ['Server', found.server],
    ['Version', found.version],
    ['Ready', found.ready ? 'yes' : 'no'],
    ...Object.entries(found.objects).map(([name, amount]): [string, string] => [title(name), String(amount)]),
  ];
  const width = Math.max(...rows.map(([name]) => name.length)) + 2;
  const failed = found.checks.filter((line) => line.startsWith('[-]'));
  return [...rows.map(([name, value]) => `${`${name}:`.padEnd(width)}${value}`), ...failed].join('\n').concat('\n');
}

function title(plural: string): string {
  return plural === 'customresourcedefinitions' ? 'CRDs' : plural.slice(0, 1).toUpperCase() + plural.slice(1);
}
