import { lookup as lookUp } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { networkInterfaces } from 'node:os';
import { cidrContains, parseCidr, parseIp } from '../../../kube/ip.ts';

/** Ranges that are nobody's on the internet: what this machine reaches of them is the platform's, or other tenants'. */
const NOT_THE_WORLD = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '224.0.0.0/4',
  '240.0.0.0/4',
  '::/96',
  '64:ff9b::/96',
  '2002::/16',
  'fc00::/7',
  'fe80::/10',
  'ff00::/8',
].map((text) => parseCidr(text)!);

type OwnAddresses = () => readonly string[];

/**
 * Connections of an API server whose users are not the machine's: to the world, and to nothing that only this machine reaches.
 * Names are judged by what they mean when the connection is made.
 */
export function onlyTheWorld(ownAddresses: OwnAddresses = addressesOfMachine): (host: string) => { lookup: LookupFunction } {
  const check = (address: string) => {
    if (!isOfTheWorld(address, ownAddresses())) throw new Error(`address ${address} not allowed: it is not of the world`);
  };
  const lookup: LookupFunction = (name, options, callback) => {
    lookUp(name, { ...options, all: true }, (error, found) => {
      if (error) return callback(error, '', 0);
      try {
        for (const { address } of found) check(address);
      } catch (refusal) {
        return callback(refusal as Error, '', 0);
      }
      if (options.all) callback(null, found);
      else callback(null, found[0].address, found[0].family);
    });
  };
  return (host) => {
    if (isIP(host) !== 0) check(host);
    return { lookup };
  };
}

export function isOfTheWorld(address: string, own: readonly string[]): boolean {
  const parsed = parseIp(address);
  if (parsed === undefined || own.includes(address)) return false;
  return !NOT_THE_WORLD.some((range) => cidrContains(range, parsed));
}

function addressesOfMachine(): string[] {
  return Object.values(networkInterfaces()).flatMap((each) => (each ?? []).map(({ address }) => address));
}
