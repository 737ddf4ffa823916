import { renameSync } from 'node:fs';
import { readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { createLog, errorText } from '../lib/log.ts';
import { Starter } from './starter-channel.ts';

/**
 * The process of one tenant's control plane: our engine with a store of its own, in the folder that it is started in. Whoever starts it
 * talks to it on file 3 until it serves; from then on it is alone, and can be found by its control socket.
 */
const KEY_FOLDER = '../pki';
const FORMER = 'store.before-restore';

const starter = new Starter();
process.umask(0o077);
const { values } = parseArgs({
  options: {
    restore: { type: 'boolean', default: false },
  },
});
try {
  await (values.restore ? restore() : serve());
} catch (error) {
  const code = (error as { code?: string }).code ?? ((error as Error).cause as { code?: string } | undefined)?.code;
  console.error(errorText(error));
  await starter.tell({ type: 'failed', code, message: errorText(error) });
  process.exit(1);
}

async function serve(): Promise<void> {
  const word = starter.word();
  const [{ startEngine }, { readPki }, { serveControl }, { StoreWatch }, { realClock }, { STORE_BYTES_IN_MEMORY }] = await Promise.all([
    import('./engine.ts'),
    import('../lib/pki/read-pki.ts'),
    import('./tenant-control-socket.ts'),
    import('./store-watch.ts'),
    import('../lib/clock.ts'),
    import('../areas/clusters/control-plane/process/model/store-bytes.ts'),
  ]);
  const { port = 0, address = '127.0.0.1', edition = '', productVersion: version = '', storeBytes = STORE_BYTES_IN_MEMORY } = await word;
  undoUnfinishedRestore();
  const news = new StoreWatch(storeBytes, realClock);
  const engine = await startEngine({
    data: '.',
    address,
    port,
    fallBackToFreePort: false,
    version,
    keys: { folder: KEY_FOLDER, pki: await readPki(KEY_FOLDER) },
    maxStoreBytes: storeBytes,
    observeStore: (store) => news.observe(store),
    runs: true,
    log: createLog({ level: 'warn', format: 'json' }),
  });
  const control = await serveControl({
    hello: { type: 'hello', pid: process.pid, edition },
    news,
    backup: () => engine.backup(),
    replaceCertificates: async () => engine.replaceCertificates(await readPki(KEY_FOLDER)),
  });
  process.once('SIGTERM', () => {
    control.close();
    engine.stop().then(
      () => process.exit(0),
      () => process.exit(1),
    );
  });
  await starter.tell({ type: 'ready' });
  starter.close();
}

/** From standard input. The old objects go only when the new ones are there and the keys to read them. */
async function restore(): Promise<void> {
  const [{ restoreArchive }, { removeRunCopies }, { KeyFiles }, { sealingWith }] = await Promise.all([
    import('./backup-archive.ts'),
    import('./remove-run-copies.ts'),
    import('../lib/pki/key-files.ts'),
    import('./sealing.ts'),
  ]);
  await rm('restored', { recursive: true, force: true });
  const { keys: all } = await restoreArchive('restored', process.stdin);
  const keys = await new KeyFiles(join('restored', 'pki')).encryptionKeys('encryption');
  const objects = all - (await removeRunCopies(join('restored', 'store'), { sealing: sealingWith(keys) }));
  const encryptionKeys = await readFile(join('restored', 'pki', 'encryption.key'), 'utf8');
  await rm(join('restored', 'pki'), { recursive: true, force: true });
  const word = starter.word();
  await starter.tell({ type: 'restored', encryptionKeys, objects });
  await word;
  await rm(FORMER, { recursive: true, force: true });
  await rename('store', FORMER).catch(() => {});
  await rename(join('restored', 'store'), 'store');
  await rm(FORMER, { recursive: true, force: true });
  await rm('restored', { recursive: true, force: true });
  await starter.tell({ type: 'ready' });
  process.exit(0);
}

/** A crash between the two renames leaves no store: then the former one is it. */
function undoUnfinishedRestore(): void {
  try {
    renameSync(FORMER, 'store');
  } catch {
    // There is none, or a store is there.
  }
}
