import { createServer, type Server } from 'node:http';
import { homedir } from 'node:os';
import { createClient, type Client } from '../client/client.ts';
import { connectContext, connectInCluster } from '../client/config/connect.ts';
import type { MetricsRegistry } from '../lib/metrics.ts';
import { chooseContext } from '../sdk/cluster.ts';
import { dataDirectory } from './data-directory.ts';
import { productVersion } from './product-version.ts';

/** What `--kubeconfig` is for the cluster that this process is a Pod of. */
export const IN_CLUSTER = 'in-cluster';

export interface ConnectFlags {
  kubeconfig?: string;
  context?: string;
  namespace?: string;
}

/**
 * A client that is known as a service account: a Pod is its own anyway; whoever started the process elsewhere acts as that account, so
 * that the cluster's rules see the same user in both cases.
 */
export type ClientAs = (account: { namespace: string; name: string }) => Promise<Client>;

export type State = 'starting' | 'standing by' | 'leading' | 'stopping';

/** Connects as the flags say; `home` is the namespace that is meant when none is named and the process is no Pod. */
export async function connectAs(program: string, home: string, { kubeconfig, context, namespace }: ConnectFlags) {
  const { env } = process;
  const userAgent = `${program}/${productVersion()}`;
  const surroundings = { env, home: homedir(), userAgent, dataDirectory };
  const chosen = kubeconfig === IN_CLUSTER ? undefined : await chooseContext({ kubeconfig, context }, surroundings);
  if (chosen === undefined) {
    const own = await connectInCluster(env, { userAgent });
    const client = createClient(own.transport);
    return { client, clientAs: () => Promise.resolve(client), namespace: namespace ?? own.namespace, server: IN_CLUSTER };
  }
  const client = createClient(await connectContext(chosen, { userAgent, env }));
  const clientAs: ClientAs = async ({ namespace: of, name }) => {
    const groups = ['system:serviceaccounts', `system:serviceaccounts:${of}`, 'system:authenticated'];
    const user = { ...chosen.user, as: `system:serviceaccount:${of}:${name}`, 'as-groups': groups };
    return createClient(await connectContext({ ...chosen, user }, { userAgent, env }));
  };
  return { client, clientAs, namespace: namespace ?? home, server: chosen.cluster.server! };
}

/** What `--area` names of those that are known; absent: all. */
export function areasOf(text: string | undefined, known: string[]): string[] {
  const named = text === undefined ? known : [...new Set(text.split(',').map((name) => name.trim()))];
  const unknown = named.find((name) => !known.includes(name));
  if (unknown === undefined) return named;
  throw new Error(`Cannot run area "${unknown}": there is none of that name; the areas are ${known.join(', ')}`);
}

/** Says at once when the cluster cannot be reached or does not know us. */
export async function reach(client: Client, server: string): Promise<string> {
  try {
    const { gitVersion } = await client.request<{ gitVersion: string }>({ method: 'GET', path: '/version' });
    return gitVersion;
  } catch (error) {
    const state = error instanceof Error ? error.message : String(error);
    throw new Error(`Cannot run controllers on "${server}": ${state}; check that it runs, and the kubeconfig`, { cause: error });
  }
}

/** `host:port`, or `:port` for all addresses; `example` is the port that a refusal shows. */
export function listenAddress(text: string, example: number): { host: string | undefined; port: number } {
  const at = text.lastIndexOf(':');
  const port = Number(text.slice(at + 1));
  if (at < 0 || !Number.isInteger(port) || port < 0 || port > 65_535)
    throw new Error(`Cannot listen on "${text}": it is not host:port; say it like 127.0.0.1:${example}, or :${example} for all addresses`);
  return { host: text.slice(0, at).replace(/^\[|\]$/g, '') || undefined, port };
}

/** `/metrics`, `/healthz` and `/readyz`. Who stands by is ready: to take over is what it is there for. */
export function serveHealth(address: string, metrics: MetricsRegistry, states: ReadonlyMap<string, State>): Promise<Server> {
  const { host, port } = listenAddress(address, 8082);
  const answers: Record<string, () => { status: number; text: string }> = {
    '/metrics': () => ({ status: 200, text: metrics.expose() }),
    '/healthz': () => ({ status: 200, text: 'ok\n' }),
    '/readyz': () => ({
      status: [...states.values()].some((state) => state === 'starting' || state === 'stopping') ? 503 : 200,
      text: [...states].map(([area, state]) => `${area}: ${state}\n`).join(''),
    }),
  };
  const listener = createServer((request, response) => {
    const { status, text } = answers[(request.url ?? '').split('?')[0]]?.() ?? { status: 404, text: 'not found\n' };
    response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' }).end(text);
  });
  return new Promise((resolve, reject) => {
    listener.once('error', (error: NodeJS.ErrnoException) => {
      const state = error.code === 'EADDRINUSE' ? 'another program does' : error.message;
      reject(new Error(`Cannot listen on "${address}": ${state}; choose another --bind-address`, { cause: error }));
    });
    listener.listen(port, host, () => resolve(listener));
  });
}

export function addressOf(listener: Server): string {
  const { address, port, family } = listener.address() as { address: string; port: number; family: string };
  return `metrics at http://${family === 'IPv6' ? `[${address}]` : address}:${port}/metrics`;
}
