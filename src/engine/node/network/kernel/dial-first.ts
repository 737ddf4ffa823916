import type { Socket } from 'node:net';
import { connectTcp } from './sockets.ts';

/** The first of these addresses where somebody listens. When nobody does, what the first one said. */
export async function dialFirst(place: string | undefined, addresses: readonly string[], port: number): Promise<Socket> {
  let refusal: unknown;
  for (const address of addresses) {
    try {
      return await connectTcp(place, { address, port });
    } catch (error) {
      refusal ??= error;
    }
  }
  throw refusal;
}
