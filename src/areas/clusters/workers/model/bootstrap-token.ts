import { createHash } from 'node:crypto';
import { WORKER_TOKEN_GROUP } from '../../../../api/tenantry.dev/v1alpha1/cluster-names.ts';
import type { KubeObject } from '../../../../kube/object.ts';
import { formatTime } from '../../../../kube/time.ts';

export const TOKEN_NAMESPACE = 'kube-system';
export const TOKEN_LIFE_MS = 15 * 60_000;
const ALPHABET = 'abcdefghijklmnopqrstuvwxyz0123456789';
const ID_LENGTH = 6;
export const SECRET_LENGTH = 16;

/** The same for a worker at all times, and another for each: a request tells by it whose it is. */
export function tokenId(cluster: string, worker: string): string {
  const digest = createHash('sha256').update(`token ${cluster}/${worker}`).digest();
  return [...digest.subarray(0, ID_LENGTH)].map((byte) => ALPHABET[byte % ALPHABET.length]).join('');
}

export function tokenSecretName(id: string): string {
  return `bootstrap-token-${id}`;
}

/** What a worker shows before it has a certificate; it may ask for one, and nothing else. */
export function tokenSecret(id: string, secret: string, worker: string, now: number): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: tokenSecretName(id), namespace: TOKEN_NAMESPACE },
    type: 'bootstrap.kubernetes.io/token',
    stringData: {
      description: `worker ${worker} joins with it`,
      'token-id': id,
      'token-secret': secret,
      expiration: formatTime(new Date(now + TOKEN_LIFE_MS)),
      'usage-bootstrap-authentication': 'true',
      'auth-extra-groups': WORKER_TOKEN_GROUP,
    },
  };
}

/** Undefined when it is over, or is none. */
export function tokenIn({ data }: KubeObject, now: number): string | undefined {
  const text = (key: string) => Buffer.from((data as Record<string, string> | undefined)?.[key] ?? '', 'base64').toString('utf8');
  if (!(Date.parse(text('expiration')) > now)) return undefined;
  return `${text('token-id')}.${text('token-secret')}`;
}
