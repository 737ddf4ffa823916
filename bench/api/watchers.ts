// The thread of the watchers. Says when all of them watch, and when all of them got everything.
import { parentPort, workerData } from 'node:worker_threads';
import { Connection, type Target } from './http-client.ts';

export interface WatchersWork {
  target: Target;
  path: string;
  watchers: number;
  /** Events that all of them together have to get. */
  expected: number;
}

const { target, path, watchers, expected } = workerData as WatchersWork;
const marker = Buffer.from('{"type":"MODIFIED"');
let delivered = 0;

function tell(what: 'watching' | 'delivered'): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
  parentPort!.postMessage(what);
}

function count(connection: Connection): void {
  let carry: Buffer = Buffer.alloc(0);
  connection.stream(path, (chunk) => {
    // Only the seam between two chunks is joined: copying everything would cost more than receiving it.
    if (Buffer.concat([carry, chunk.subarray(0, marker.length - 1)]).includes(marker)) delivered++;
    for (let at = chunk.indexOf(marker); at >= 0; at = chunk.indexOf(marker, at + marker.length)) delivered++;
    carry = Buffer.from(chunk.subarray(Math.max(0, chunk.length - marker.length + 1)));
    if (delivered >= expected) tell('delivered');
  });
}

const connections = await Promise.all(Array.from({ length: watchers }, () => Connection.open(target)));
for (const connection of connections) count(connection);
setTimeout(() => tell('watching'), 500);
