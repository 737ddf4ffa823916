import { ensureObjects, withResources } from '../engine/apiserver/bootstrap/system-objects.ts';
import type { ServerFoundation } from '../engine/apiserver/server.ts';
import { machineFacts } from '../engine/node/registration/machine-facts.ts';
import { nodeRights, nodeUser } from '../engine/node/registration/node-rights.ts';
import type { Client } from '../client/client.ts';
import { nodeName } from './node-name.ts';
import { NodeSupervisor, type SupervisorOptions } from './node-supervisor.ts';
import type { EngineOptions } from './engine.ts';

/** The name of the engine's node, with the rights of a kubelet. */
export async function prepareNode({ data, node, log }: EngineOptions, { objects, core }: ServerFoundation): Promise<string> {
  const name = await nodeName({ data, given: node?.name, hostname: machineFacts().hostname, log });
  await ensureObjects(objects, withResources(core.catalog, nodeRights(name)));
  return name;
}

export type NodeStart = Pick<SupervisorOptions, 'name' | 'settings' | 'url' | 'pki'> & {
  clientAs(user: { name: string; groups: string[] }): Client;
};

/** The node comes in like the others, as a user. */
export async function startNode(
  { data, address, version, log }: EngineOptions,
  { clientAs, ...start }: NodeStart,
): Promise<NodeSupervisor> {
  const node = new NodeSupervisor({ ...start, data, address, version, log, client: (name) => clientAs(nodeUser(name)) });
  await node.start();
  return node;
}
