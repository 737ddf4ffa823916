import { ensureObjects } from '../engine/apiserver/bootstrap/system-objects.ts';
import type { ServerFoundation } from '../engine/apiserver/server.ts';
import type { ObjectWriter } from '../engine/apiserver/registry/objects.ts';
import { localStorageClass } from '../engine/controllers/persistent-volume/local-volume.ts';
import { machineFacts } from '../engine/node/registration/machine-facts.ts';
import { newLease } from '../engine/node/registration/node-registrar.ts';
import { formerNodeBindings, nodeUser } from '../engine/node/registration/node-rights.ts';
import type { Client } from '../client/client.ts';
import type { KubeObject } from '../kube/object.ts';
import { formatMicroTime } from '../kube/time.ts';
import { realClock } from '../lib/clock.ts';
import type { Pki } from '../lib/pki/ensure-pki.ts';
import type { EngineOptions } from './engine.ts';
import { nodeName } from './node-name.ts';
import { NodeSupervisor, type NodeSettings } from './node-supervisor.ts';

const NODES = { group: '', resource: 'nodes' };
const BINDINGS = { group: 'rbac.authorization.k8s.io', resource: 'clusterrolebindings' };

/** The engine's node: from now on it is in the API, with the rights of a kubelet. It comes in like the others, as a user. */
export async function prepareNode(
  { data, address, version, log }: EngineOptions,
  settings: NodeSettings,
  { objects }: ServerFoundation,
  pki: Pki,
  clientAs: (user: { name: string; groups: string[] }) => Client,
): Promise<NodeSupervisor> {
  const name = await nodeName({ data, given: settings.name, hostname: machineFacts().hostname, log });
  const node = new NodeSupervisor({ name, data, address, version, log, settings, pki, client: (own) => clientAs(nodeUser(own)) });
  if (objects.get(NODES, '', name) === undefined) await register(objects, name, await node.newNode());
  for (const former of formerNodeBindings(name)) if (objects.get(BINDINGS, '', former)) await objects.delete(BINDINGS, '', former);
  return node;
}

async function register(objects: ObjectWriter, name: string, node: KubeObject): Promise<void> {
  const { metadata } = await objects.create(NODES, node, { ours: true });
  const lease = newLease(name, metadata.uid!, formatMicroTime(new Date(realClock.now())));
  // A claim gets the default class when it is made, and not later: the class is there before the first claim can be.
  const storageClass = { apiVersion: 'storage.k8s.io/v1', kind: 'StorageClass', ...localStorageClass() };
  await ensureObjects(objects, [
    {
      resource: { group: 'coordination.k8s.io', resource: 'leases' },
      object: { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', ...lease },
    },
    { resource: { group: 'storage.k8s.io', resource: 'storageclasses' }, object: storageClass },
  ]);
}
