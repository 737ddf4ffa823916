import { readFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { ETCD_HOSTS, ETCD_SOCKET, KEYS } from './model/programs.ts';

/** etcd's own API, in the form that needs no gRPC, of the control plane in this folder. */
export async function askEtcd(
  path: string,
  body: object = {},
  { socket = ETCD_SOCKET, withinMs }: { socket?: string; withinMs?: number } = {},
): Promise<IncomingMessage> {
  const name = 'etcd-healthcheck-client';
  const [ca, cert, key] = await Promise.all(['etcd-ca.crt', `${name}.crt`, `${name}.key`].map((file) => readFile(`${KEYS}/${file}`)));
  return new Promise((resolve, reject) => {
    const options = { socketPath: socket, servername: ETCD_HOSTS[0], ca, cert, key, agent: false as const, timeout: withinMs };
    const sent = request({ ...options, method: 'POST', path }, (response) => {
      if (response.statusCode === 200) return resolve(response);
      response.resume();
      reject(new Error(`etcd answered ${response.statusCode}`));
    });
    sent.once('timeout', () => sent.destroy(new Error(`etcd did not answer in ${withinMs} ms`)));
    sent.once('error', reject);
    sent.end(JSON.stringify(body));
  });
}
