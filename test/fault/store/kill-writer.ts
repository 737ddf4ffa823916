// The process that gets killed: writes as fast as it can and reports, on its standard output, every revision it was given an
// answer for. Lines: `open <revision>`, `ack <writer> <counter> <revision>`.
import { openStore } from '../../../src/engine/store/durable-store.ts';

const [directory, writers] = [process.argv[2], Number(process.argv[3])];
const store = await openStore(directory, { snapshotAfterBytes: 256 * 1024 });
process.stdout.write(`open ${store.revision}\n`);

async function writeForEver(writer: number): Promise<never> {
  const key = `/writers/${writer}`;
  const last = store.get(key);
  for (let counter = last ? Number(Buffer.from(last.bytes).toString().split(' ')[0]) + 1 : 1; ; counter++) {
    const value = `${counter} `.padEnd(200 + ((counter * 37) % 4000), 'v');
    const { revision } = await store.put(key, store.latest(key)?.revision ?? 0, () => ({ bytes: Buffer.from(value) }));
    process.stdout.write(`ack ${writer} ${counter} ${revision}\n`);
  }
}

await Promise.all(Array.from({ length: writers }, (_, writer) => writeForEver(writer)));
