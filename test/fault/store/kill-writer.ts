// The process that gets killed: writes as fast as it can and reports, on its standard output, every revision it was given an
// answer for. Lines: `open <revision>`, `ack <writer> <counter> <revision>`.
import { writeSync } from 'node:fs';
import { openStore } from '../../../src/engine/store/durable-store.ts';

const [directory, writers] = [process.argv[2], Number(process.argv[3])];
const store = await openStore(directory, { snapshotAfterBytes: 256 * 1024 });
// Synchronously: what waits in a stream's buffer dies with the process, and would look like a write without its answer.
const report = (line: string) => writeSync(1, `${line}\n`);
report(`open ${store.revision}`);

async function writeForEver(writer: number): Promise<never> {
  const key = `/writers/${writer}`;
  const last = store.get(key);
  for (let counter = last ? Number(Buffer.from(last.bytes).toString().split(' ')[0]) + 1 : 1; ; counter++) {
    const value = `${counter} `.padEnd(200 + ((counter * 37) % 4000), 'v');
    const { revision } = await store.put(key, store.latest(key)?.revision ?? 0, () => ({ bytes: Buffer.from(value) }));
    report(`ack ${writer} ${counter} ${revision}`);
  }
}

await Promise.all(Array.from({ length: writers }, (_, writer) => writeForEver(writer)));
