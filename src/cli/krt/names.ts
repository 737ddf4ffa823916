import { RunKind } from '../../api/kruntimes.io/v1alpha1/run.ts';
import { RuntimeKind } from '../../api/kruntimes.io/v1alpha1/runtime.ts';
import { TenantKind } from '../../api/tenantry.dev/v1alpha1/tenant.ts';
import { Namespace } from '../../client/kinds.ts';
import type { KubeObject } from '../../kube/object.ts';
import type { ClusterOptions } from '../../sdk/runs-api.ts';
import type { Session } from '../terminal/session.ts';

/** Nobody chooses among more by pressing a key. */
const MOST = 500;

/** The options, by how they are typed, that say which cluster and namespace is meant. */
const OPTIONS: Readonly<Record<string, keyof ClusterOptions>> = {
  '-n': 'namespace',
  '--namespace': 'namespace',
  '--kubeconfig': 'kubeconfig',
  '--context': 'context',
  '--data': 'data',
  '-s': 'server',
  '--server': 'server',
  '--token': 'token',
  '--as': 'as',
};

/** Of a command that is being typed, and need not make sense yet. */
export function nameFlags(words: readonly string[]): ClusterOptions {
  const flags: Record<string, string> = {};
  words.forEach((word, at) => {
    const [option, value] = word.startsWith('--') && word.includes('=') ? splitAt(word, word.indexOf('=')) : [word, words[at + 1]];
    const name = OPTIONS[option];
    if (name !== undefined && value !== undefined) flags[name] = value;
  });
  return flags;
}

export async function printNames(session: Session, kind: string): Promise<number> {
  const { client } = session.cluster;
  const lists: Record<string, () => Promise<{ items: KubeObject[] }>> = {
    runs: () => client.metadata(RunKind, session.namespace).list({ limit: MOST }),
    runtimes: () => client.metadata(RuntimeKind, session.namespace).list({ limit: MOST }),
    namespaces: () => client.metadata(Namespace).list({ limit: MOST }),
    tenants: () => client.metadata(TenantKind).list({ limit: MOST }),
  };
  const { items } = await lists[kind]();
  for (const { metadata } of items) session.out(`${metadata.name}\n`);
  return 0;
}

function splitAt(text: string, at: number): [string, string] {
  return [text.slice(0, at), text.slice(at + 1)];
}
