import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { createClient, type Client } from '../../src/client/client.ts';
import { certificateCredentials } from '../../src/client/config/credentials.ts';
import { createHttpTransport } from '../../src/client/http/http-transport.ts';
import { Pod } from '../../src/client/kinds.ts';
import { podLogs, type LogRequest } from '../../src/client/streams/pod-logs.ts';
import type { Json, KubeObject } from '../../src/kube/object.ts';
import { isStatusError } from '../../src/kube/status.ts';

/** A user of a running instance, by the product's own client. */
export interface NodeUser {
  client: Client;
  /** In `default`; undefined when it is gone. */
  pod(name: string): Promise<KubeObject | undefined>;
  pods(labelSelector?: string): Promise<KubeObject[]>;
  createPod(name: string, container: Json, spec?: Json): Promise<KubeObject>;
  logs(name: string, options?: LogRequest): Promise<string>;
  close(): Promise<void>;
}

/** Flags for a node that needs nothing of the machine. */
export const PLAIN_NODE = ['--node', 'process', '--node-network', 'shared', '--node-name', 'test-node'];

export function nodeUser(url: string, data: string): NodeUser {
  const pem = (file: string) => readFileSync(join(data, 'pki', file), 'utf8');
  const pair = { cert: pem('admin.crt'), key: pem('admin.key') };
  const transport = createHttpTransport({
    endpoint: { url: new URL(url) },
    ca: () => Promise.resolve(pem('ca.crt')),
    credentials: certificateCredentials(() => Promise.resolve(pair)),
  });
  const client = createClient(transport);
  const pods = client.resource<KubeObject>(Pod, 'default');
  return {
    client,
    pod: (name) =>
      pods.get(name).catch((error: unknown) => {
        if (isStatusError(error, 'NotFound')) return undefined;
        throw error;
      }),
    pods: async (labelSelector) => (await pods.list({ labelSelector })).items,
    createPod: (name, container, spec = {}) =>
      pods.create({
        metadata: { name },
        spec: { terminationGracePeriodSeconds: 5, containers: [{ name: 'c', image: 'tenantry.dev/tools', ...container }], ...spec },
      }),
    logs: async (name, options = {}) => text(await podLogs(transport, { namespace: 'default', name }, options)),
    close: () => client.close(),
  };
}

/** Reads until it holds; fails with what was read last. */
export async function until<T>(read: () => Promise<T> | T, holds: (value: T) => boolean, seconds = 30): Promise<T> {
  const deadline = Date.now() + seconds * 1000;
  for (;;) {
    const value = await read();
    if (holds(value)) return value;
    if (Date.now() > deadline) throw new Error(`it did not come to pass in ${seconds} s: ${JSON.stringify(value)?.slice(0, 4000)}`);
    await new Promise((resolve) => void setTimeout(resolve, 25));
  }
}

export function isReady(pod: KubeObject | undefined): boolean {
  return pod?.status?.conditions?.some((condition: Json) => condition.type === 'Ready' && condition.status === 'True') ?? false;
}
