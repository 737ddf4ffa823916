import { isIP } from 'node:net';

/**
 * The address of a collector, seen from a Pod. One on the loopback of the machine is not on that of a Pod with a network of its own: there
 * it is at the address of the machine.
 */
export function reachableCollector(url: string, podIp: string | undefined, hostIp: string | undefined): string {
  const address = new URL(url);
  const sharesNetwork = podIp === undefined || isLoopback(podIp) || podIp === hostIp;
  if (sharesNetwork || !isLoopback(address.hostname) || !hostIp || isLoopback(hostIp)) return url;
  address.hostname = isIP(hostIp) === 6 ? `[${hostIp}]` : hostIp;
  return address.href;
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '[::1]' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}
