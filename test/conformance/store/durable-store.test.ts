import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe } from 'vitest';
import { openStore, type OpenStoreOptions } from '../../../src/engine/store/durable-store.ts';
import { storeSuite } from './store.suite.ts';

const circumstances: [string, OpenStoreOptions][] = [
  ['durable store', {}],
  ['durable store that makes a snapshot all the time', { snapshotAfterBytes: 1 }],
];

describe.each(circumstances)('%s', (_name, options) => {
  storeSuite(() => {
    let directory: string;
    return {
      async open() {
        directory = await mkdtemp(join(tmpdir(), 'tenantry-store-'));
        return openStore(directory, options);
      },
      // A snapshot holds no events, so only a store that makes none keeps them over a restart.
      reopen: options.snapshotAfterBytes ? undefined : () => openStore(directory, options),
      dispose: () => rm(directory, { recursive: true, force: true }),
    };
  });
});
