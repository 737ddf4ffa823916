import type { Clock } from '../../../lib/clock.ts';
import type { NodeConnections } from '../node-proxy/node-connections.ts';
import type { ObjectReader } from '../registry/objects.ts';
import { onlyTheWorld } from './only-the-world.ts';
import type { Outbound } from './outbound.ts';

const PODS = { group: '', resource: 'pods' };

/** Of a tenant's API server: to its Pods through the tunnels of their nodes, to the world by addresses, and nowhere else. */
export function tenantOutbound(reader: ObjectReader, connections: NodeConnections, clock: Clock): Outbound {
  return {
    dial({ host, port, pod: reference }) {
      const pod = reference && reader.get(PODS, reference.namespace, reference.name);
      if (!pod?.spec?.nodeName || pod.status?.podIP !== host) return undefined;
      return import('../node-proxy/node-tunnel.ts').then(({ dialThroughNode }) => dialThroughNode(connections, reader, pod, port, clock));
    },
    connectOptions: onlyTheWorld(),
  };
}
