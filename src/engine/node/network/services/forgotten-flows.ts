import type { Log } from '../../../../lib/log.ts';
import { runCommand } from '../kernel/commands.ts';
import type { ServicePort } from './model/service-endpoints.ts';

/**
 * A client that keeps sending UDP from one port stays with the endpoint it once got, gone or not, because the kernel goes on with what it
 * remembers. So these memories are deleted when an endpoint goes; without the `conntrack` tool they expire with the client's silence.
 */
export class ForgottenFlows {
  #router: string;
  #log: Log;
  #known = new Map<string, Map<string, { clusterIp: string; address: string }>>();

  constructor(router: string, log: Log) {
    this.#router = router;
    this.#log = log;
  }

  async set(service: string, ports: readonly ServicePort[]): Promise<void> {
    const now = new Map<string, { clusterIp: string; address: string }>();
    for (const { protocol, clusterIps, endpoints } of ports) {
      if (protocol !== 'udp') continue;
      for (const clusterIp of clusterIps) for (const { address } of endpoints) now.set(`${clusterIp} ${address}`, { clusterIp, address });
    }
    const before = this.#known.get(service) ?? new Map<string, { clusterIp: string; address: string }>();
    if (now.size > 0) this.#known.set(service, now);
    else this.#known.delete(service);
    for (const [key, { clusterIp, address }] of before) {
      if (now.has(key)) continue;
      const args = ['-D', '-p', 'udp', '--orig-dst', clusterIp, '--reply-src', address];
      // It also fails when there was nothing to delete.
      await runCommand('conntrack', args, { namespace: this.#router }).catch((error: unknown) => {
        this.#log.debug('no UDP flows of an endpoint that is gone were deleted', { error });
      });
    }
  }
}
