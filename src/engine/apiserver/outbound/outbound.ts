import type { LookupFunction } from 'node:net';
import type { Duplex } from 'node:stream';

export interface Destination {
  host: string;
  port: number;
  /** The Pod that is said to have the address. */
  pod?: { namespace: string; name: string };
}

/** How an API server reaches what its users name: webhooks, aggregated servers, Pods and Services. */
export interface Outbound {
  /** Another way than by the address; undefined: there is none. */
  dial(destination: Destination): Promise<Duplex> | undefined;
  /** For a connection by the address. @throws Error when it is not for its users */
  connectOptions(host: string): { lookup?: LookupFunction };
}

/** For one whose users are those of the machine's network. */
export const ANYWHERE: Outbound = { dial: () => undefined, connectOptions: () => ({}) };
