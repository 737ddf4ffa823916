import { Readable } from 'node:stream';
import { expect, it } from 'vitest';
import { PLACED_FROM_LABEL } from '../../../../api/tenantry.dev/v1alpha1/cluster-names.ts';
import { realClock } from '../../../../lib/clock.ts';
import { removeRestoredRuns } from './restored-runs.ts';

const decode = (text: string) => Buffer.from(text, 'base64').toString();
const encode = (text: string) => Buffer.from(text).toString('base64');

/** What of etcd is used: ranges in the order of keys, and removals. It refuses the first call, as one that starts. */
function anEtcd(objects: Record<string, object>) {
  const store = new Map(Object.entries(objects).map(([key, object]) => [`/registry/kruntimes.io/runs/${key}`, JSON.stringify(object)]));
  let refusals = 1;
  const ask = (path: string, body: object): Promise<Readable> => {
    if (refusals-- > 0) return Promise.reject(new Error('ECONNREFUSED'));
    const { key, range_end: end, limit } = body as { key: string; range_end?: string; limit?: string };
    const [from, to] = [decode(key), end === undefined ? `${decode(key)}\0` : decode(end)];
    if (path === '/v3/kv/deleterange') store.delete(from);
    const found = [...store].filter(([each]) => each >= from && each < to).sort(([a], [b]) => (a < b ? -1 : 1));
    const page = limit === undefined ? found : found.slice(0, Number(limit));
    const kvs = page.map(([each, value]) => ({ key: encode(each), value: encode(value) }));
    return Promise.resolve(Readable.from([JSON.stringify({ kvs, ...(page.length < found.length && { more: true }) })]));
  };
  return { ask, keys: () => [...store.keys()].map((key) => key.split('/').at(-1)) };
}

function aProgram() {
  let end!: (words: string) => void;
  const ended = new Promise<string>((resolve) => (end = resolve));
  return { program: { ended, signal: () => end('told to') }, end };
}

const copy = (phase?: string) => ({ metadata: { labels: { [PLACED_FROM_LABEL]: 'acme' } }, ...(phase && { status: { phase } }) });

it('of a restored etcd copies of Runs that had not ended are removed, however many, and etcd is ended', async () => {
  const many = Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`acme/run-${n}`, copy('Running')]));
  const etcd = anEtcd({ 'acme/ended': copy('Failed'), 'acme/own': { metadata: {} }, ...many, 'beta/waits': copy() });
  const { program } = aProgram();
  expect(await removeRestoredRuns({ startEtcd: () => program, ask: etcd.ask, clock: realClock })).toBe(51);
  expect(etcd.keys()).toEqual(['ended', 'own']);
  expect(await program.ended).toBe('told to');
});

it('a restored etcd that does not start is told, and nothing is served', async () => {
  const { program, end } = aProgram();
  const removing = removeRestoredRuns({ startEtcd: () => program, ask: () => Promise.reject(new Error('ENOENT')), clock: realClock });
  end('no space left on device');
  await expect(removing).rejects.toThrow('Cannot look through the restored store: etcd ended: no space left on device');
});
