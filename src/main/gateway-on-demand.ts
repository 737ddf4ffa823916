import type { Client } from '../client/client.ts';
import type { OnDemand } from '../engine/controllers/start-on-demand.ts';
import type { Pki } from '../lib/pki/ensure-pki.ts';
import type { GatewaySettings } from './gateway-supervisor.ts';
import type { NodeSupervisor } from './node-supervisor.ts';

export interface GatewayOnDemandOptions {
  data: string;
  /** Of the API server. */
  url: string;
  address: string;
  pki: Pki;
  client: Client;
  node: NodeSupervisor | undefined;
}

/** The plugin gateway starts with the first installation. */
export function gatewayOnDemand(settings: GatewaySettings, { node, ...options }: GatewayOnDemandOptions): OnDemand {
  return {
    resources: ['plugins.tenantry.dev/plugininstallations'],
    async load() {
      const { GatewaySupervisor } = await import('./gateway-supervisor.ts');
      const podAddress = async () => (node ? (await import('./address-for-pods.ts')).addressForPods(node, options.data) : '127.0.0.1');
      return ({ log }) => new GatewaySupervisor({ ...options, settings, podAddress, log }).start();
    },
  };
}
