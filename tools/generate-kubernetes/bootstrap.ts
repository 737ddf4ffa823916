import type { Json, KubeObject } from '../../src/kube/object.ts';
import type { Server } from './server.ts';

const COLLECTIONS = [
  '/api/v1/namespaces',
  '/api/v1/services',
  '/apis/flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations',
  '/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas',
  '/apis/networking.k8s.io/v1/servicecidrs',
  '/apis/scheduling.k8s.io/v1/priorityclasses',
];

/** Objects that a fresh kube-apiserver makes for itself, RBAC policy aside, without what is particular to this one. */
export async function recordBootstrap(server: Server): Promise<KubeObject[]> {
  await settled(server);
  return readAll(server, COLLECTIONS);
}

/** The server is ready before its last bootstrap controllers are done. */
async function settled(server: Server): Promise<void> {
  const expected = ['/api/v1/namespaces/kube-node-lease', '/api/v1/namespaces/default/services/kubernetes'];
  for (const path of expected) {
    for (let i = 0; i < 100 && (await server.call('GET', path)).status !== 200; i += 1) {
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}

async function readAll(server: Server, collections: string[]): Promise<KubeObject[]> {
  const objects: KubeObject[] = [];
  for (const collection of collections) {
    const list = await server.get(collection);
    const kind = list.kind.replace(/List$/, '');
    for (const item of list.items) objects.push(withoutIdentity({ apiVersion: list.apiVersion, kind, ...item }));
  }
  return objects;
}

function withoutIdentity(object: KubeObject): KubeObject {
  const { uid: _uid, resourceVersion: _version, creationTimestamp: _time, managedFields: _fields, ...metadata } = object.metadata;
  const { status: _status, ...rest } = object as Json;
  // The Service of the server itself leads to the port it happens to listen on.
  for (const port of rest.spec?.ports ?? []) delete port.targetPort;
  return { ...rest, metadata };
}
