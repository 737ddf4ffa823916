import { generateKeyPairSync } from 'node:crypto';
import type { KubeObject } from '../../../kube/object.ts';
import { createIdentity, type Identity } from './identity.ts';
import { CORE } from './authentication/token-authenticator.ts';
import { MemoryObjects } from './testing-objects.ts';

export const START = Date.parse('2026-05-01T12:00:00Z');

/** A server's identity parts over objects in memory, with time in the hands of the test. */
export class TestIdentity {
  readonly objects = new MemoryObjects();
  readonly keys = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  readonly identity: Identity;
  readonly refused: string[] = [];
  now = START;
  #uids = 0;

  constructor() {
    this.identity = createIdentity({
      reader: this.objects,
      signingKey: this.keys.privateKey,
      frontProxyNames: ['front-proxy-client'],
      now: () => this.now,
      newUid: () => `jti-${++this.#uids}`,
      onRefused: (reason) => this.refused.push(reason),
    });
  }

  account(namespace: string, name: string, uid = `uid-${name}`): KubeObject {
    return this.objects.put(CORE.serviceAccounts, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { namespace, name, uid } });
  }

  pod(namespace: string, name: string, serviceAccountName: string, nodeName?: string): KubeObject {
    const metadata = { namespace, name, uid: `uid-${name}` };
    return this.objects.put(CORE.pods, { apiVersion: 'v1', kind: 'Pod', metadata, spec: { serviceAccountName, nodeName } });
  }

  node(name: string): KubeObject {
    return this.objects.put(CORE.nodes, { apiVersion: 'v1', kind: 'Node', metadata: { name, uid: `uid-${name}` } });
  }

  secret(
    namespace: string,
    name: string,
    type: string,
    data: Record<string, string>,
    more: Partial<KubeObject['metadata']> = {},
  ): KubeObject {
    const encoded = Object.fromEntries(Object.entries(data).map(([key, value]) => [key, Buffer.from(value).toString('base64')]));
    const metadata = { namespace, name, uid: `uid-${name}`, ...more };
    return this.objects.put(CORE.secrets, { apiVersion: 'v1', kind: 'Secret', metadata, type, data: encoded });
  }

  authenticate(token: string) {
    return this.identity.authenticator.authenticate({ authorization: `Bearer ${token}`, headers: {} });
  }
}
