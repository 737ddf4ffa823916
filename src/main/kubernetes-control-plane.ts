import { rmSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { askEtcd } from '../areas/clusters/control-plane/kubernetes/etcd-call.ts';
import {
  isUnseen,
  setSeen,
  snapshot,
  undoUnfinishedRestore,
  unpackSnapshot,
  useUnpacked,
} from '../areas/clusters/control-plane/kubernetes/etcd-snapshot.ts';
import { STORE_BYTES } from '../areas/clusters/control-plane/process/model/store-bytes.ts';
import type { ProgramPlan } from '../areas/clusters/control-plane/kubernetes/model/program-plan.ts';
import { etcdArguments, KEYS, STORE_SIZES, storeMembers } from '../areas/clusters/control-plane/kubernetes/model/store-members.ts';
import { PlanePrograms } from '../areas/clusters/control-plane/kubernetes/plane-programs.ts';
import { startProgram } from '../areas/clusters/control-plane/kubernetes/start-program.ts';
import { ensureShape, setServed } from '../areas/clusters/control-plane/kubernetes/store-shape.ts';
import { realClock } from '../lib/clock.ts';
import { createLog, errorText } from '../lib/log.ts';
import { Starter } from './starter-channel.ts';
import { News, serveControl } from './tenant-control-socket.ts';

/**
 * Looks after the programs of one tenant's Kubernetes control plane, in the folder that it is started in. Whoever starts it talks to it on
 * file 3 until the API server is ready; from then on it is alone, and can be found by its control socket. The programs end with it.
 */
const starter = new Starter();
process.umask(0o077);
const { values } = parseArgs({
  options: { restore: { type: 'boolean', default: false }, etcdutl: { type: 'string', default: 'etcdutl' } },
});
try {
  await (values.restore ? restore(values.etcdutl) : serve());
} catch (error) {
  console.error(errorText(error));
  await starter.tell({ type: 'failed', code: (error as { code?: string }).code, message: errorText(error) });
  process.exit(1);
}

async function serve(): Promise<void> {
  const { programs: plan, edition = '', storeBytes = STORE_BYTES } = await starter.word();
  if (plan === undefined) throw new Error('Cannot start a control plane: nobody said which programs it has');
  const news = new News();
  const programs = new PlanePrograms({ plan, storeBytes, tell: (event) => news.tell(event), clock: realClock });
  await programs.prepare();
  await undoUnfinishedRestore();
  removeSockets();
  await lookThroughRestored(plan);
  await ensureShape(plan.store, plan.withParent, realClock);
  removeSockets();
  const stop = () => {
    programs.stop().then(
      () => process.exit(0),
      () => process.exit(1),
    );
  };
  process.once('SIGTERM', stop);
  await programs.start();
  await setServed();
  const control = await serveControl({
    hello: { type: 'hello', pid: process.pid, edition },
    news,
    backup: () => snapshot(plan.store.members),
    replaceCertificates: () => programs.replaceCertificates(),
  });
  process.once('SIGTERM', () => control.close());
  await starter.tell({ type: 'ready' });
  starter.close();
  const { startRunsBeside } = await import('./runs-beside.ts');
  const runs = startRunsBeside(plan.server, KEYS, createLog({ level: 'warn', format: 'json' }));
  process.once('SIGTERM', () => void runs.stop().catch(() => {}));
}

/** Once after a restore, before anybody can read or watch it. */
async function lookThroughRestored({ store, withParent }: ProgramPlan): Promise<void> {
  if (!(await isUnseen())) return;
  const { removeRestoredRuns } = await import('../areas/clusters/control-plane/kubernetes/restored-runs.ts');
  const [alone] = storeMembers(1);
  const etcd = { name: 'etcd', path: store.etcd, args: etcdArguments(alone, [alone]), afterReady: false, readsKeysOnce: false } as const;
  await removeRestoredRuns({ startEtcd: () => startProgram(etcd, withParent), ask: askEtcd, clock: realClock });
  await setSeen();
}

/** Those that were killed leave theirs behind. */
function removeSockets(): void {
  const all = STORE_SIZES.flatMap((size) => storeMembers(size));
  for (const socket of all.flatMap(({ clientSocket, peerUrl }) => [clientSocket, peerUrl.replace(/^.*\//, '')]))
    rmSync(socket, { force: true });
}

/** From standard input. The old objects go only when the new ones are there and the keys to read them. */
async function restore(etcdutl: string): Promise<void> {
  const encryptionKeys = await unpackSnapshot(process.stdin, etcdutl, Date.now());
  const word = starter.word();
  await starter.tell({ type: 'restored', encryptionKeys, objects: 0 });
  await word;
  await useUnpacked();
  await starter.tell({ type: 'ready' });
  process.exit(0);
}
