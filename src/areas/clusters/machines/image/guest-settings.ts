import type { WantedMachine } from '../machines.ts';
import { SETTINGS } from './guest-scripts.ts';

/** The files that tell a worker who it is. Nobody but itself gets to see them. */
export function guestSettings({ name, network, join, settings }: WantedMachine): Record<string, string> {
  const [address] = network.address.split('/');
  return {
    [SETTINGS.hostname]: `${name}\n`,
    [SETTINGS.hosts]: `127.0.0.1 localhost\n::1 localhost\n${address} ${name}\n`,
    [SETTINGS.resolver]: network.dns.map((server) => `nameserver ${server}\n`).join(''),
    [SETTINGS.mac]: `${network.mac.toLowerCase()}\n`,
    [SETTINGS.address]: `${network.address}\n`,
    [SETTINGS.gateway]: `${network.gateway}\n`,
    [SETTINGS.join]: `${JSON.stringify({ ...join, name, address, settings })}\n`,
  };
}
