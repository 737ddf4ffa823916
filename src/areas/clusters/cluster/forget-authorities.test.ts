import { expect, it } from 'vitest';
import type { Client } from '../../../client/client.ts';
import { failure } from '../../../kube/status.ts';
import { toPem } from '../../../lib/pki/pem.ts';
import { forgetAuthorities } from './forget-authorities.ts';

const pem = (text: string) => toPem('CERTIFICATE', Buffer.from(text));
const RUNNING = { authorityPem: pem('new'), frontProxyAuthorityPem: pem('new proxy') };

async function patchesOf(data: Record<string, string> | Error): Promise<unknown[]> {
  const patches: unknown[] = [];
  const maps = {
    get: () => (data instanceof Error ? Promise.reject(data) : Promise.resolve({ data })),
    patch: (_name: string, { patch }: { patch: unknown }) => (patches.push(patch), Promise.resolve({})),
  };
  await forgetAuthorities({ resource: () => maps } as unknown as Client, RUNNING);
  return patches;
}

it('takes authorities away that are not trusted any more', async () => {
  const data = { 'client-ca-file': pem('new') + pem('old'), 'requestheader-client-ca-file': pem('new proxy') };
  expect(await patchesOf(data)).toEqual([{ data: { 'client-ca-file': pem('new') } }]);
});

it.each<[string, Record<string, string> | Error]>([
  ['all are trusted', { 'client-ca-file': pem('new'), 'requestheader-client-ca-file': pem('new proxy') }],
  ['there are none', {}],
  ['nobody has told them yet', failure('NotFound', 'none')],
])('writes nothing when %s', async (_name, data) => expect(await patchesOf(data)).toEqual([]));
