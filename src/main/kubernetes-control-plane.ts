import { existsSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { ApiServers } from '../areas/clusters/control-plane/kubernetes/api-servers.ts';
import { askEtcd } from '../areas/clusters/control-plane/kubernetes/etcd-call.ts';
import {
  isUnseen,
  setSeen,
  snapshot,
  undoUnfinishedRestore,
  unpackSnapshot,
  useUnpacked,
} from '../areas/clusters/control-plane/kubernetes/etcd-snapshot.ts';
import { quotaArgument, STORE_BYTES } from '../areas/clusters/control-plane/kubernetes/model/program-arguments.ts';
import { titleOf, type ProgramPlan, type ProgramSpec } from '../areas/clusters/control-plane/kubernetes/model/program-plan.ts';
import { etcdArguments, KEYS, STORE_SIZES, storeMembers } from '../areas/clusters/control-plane/kubernetes/model/store-members.ts';
import { ProgramKeeper, type KeeperTrouble } from '../areas/clusters/control-plane/kubernetes/program-keeper.ts';
import { keepLogsShort, startProgram } from '../areas/clusters/control-plane/kubernetes/start-program.ts';
import { ensureShape } from '../areas/clusters/control-plane/kubernetes/store-shape.ts';
import { sleep } from '../lib/abort.ts';
import { realClock } from '../lib/clock.ts';
import { createLog, errorText } from '../lib/log.ts';
import { Starter } from './starter-channel.ts';
import { News, serveControl } from './tenant-control-socket.ts';

/**
 * Looks after the programs of one tenant's Kubernetes control plane, in the folder that it is started in. Whoever starts it talks to it on
 * file 3 until the API server is ready; from then on it is alone, and can be found by its control socket. The programs end with it.
 */
const CERTIFICATE_LOOK_MS = 50;
/** Whoever asked has given up by then, and asks again. */
const CERTIFICATE_LOOKS = 400;

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
  await undoUnfinishedRestore();
  removeSockets();
  await lookThroughRestored(plan);
  await ensureShape(plan.store, plan.withParent, realClock);
  removeSockets();
  const news = new News();
  const apiServers = new ApiServers(plan, {
    end: (replica) => keeper.kill('kube-apiserver', replica),
    tell: (ready) => news.tell({ type: 'replicas', ready }),
    clock: realClock,
  });
  const keeper = new ProgramKeeper(plan.programs, {
    start: (spec) => startProgram(withRoom(spec, storeBytes), plan.withParent),
    hasSocket: existsSync,
    isReady: () => apiServers.isReady(),
    tell: (trouble) => tell(news, trouble),
    clock: realClock,
  });
  const stop = () => {
    keeper.stop().then(
      () => process.exit(0),
      () => process.exit(1),
    );
  };
  process.once('SIGTERM', stop);
  let shown = await tunnelCertificate();
  try {
    await apiServers.open();
    await keeper.start();
    apiServers.follow();
  } catch (error) {
    await keeper.stop();
    throw error;
  }
  keepLogsShort(plan.programs.map(titleOf), realClock);
  const control = await serveControl({
    hello: { type: 'hello', pid: process.pid, edition },
    news,
    backup: () => snapshot(plan.store.members),
    async replaceCertificates() {
      const now = await tunnelCertificate();
      if (now !== shown) await keeper.keysChanged();
      shown = now;
      for (let looks = 1; !(await apiServers.showTheirCertificate()); looks++) {
        if (looks === CERTIFICATE_LOOKS) throw new Error('the API server does not show its new certificate');
        await sleep(realClock, CERTIFICATE_LOOK_MS);
      }
    },
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

/** How large a store may become is told to it here, so that another size does not make another plan. */
function withRoom(spec: ProgramSpec, storeBytes: number): ProgramSpec {
  return spec.name === 'etcd' ? { ...spec, args: [...spec.args, quotaArgument(storeBytes)] } : spec;
}

/** Those that were killed leave theirs behind. */
function removeSockets(): void {
  const all = STORE_SIZES.flatMap((size) => storeMembers(size));
  for (const socket of all.flatMap(({ clientSocket, peerUrl }) => [clientSocket, peerUrl.replace(/^.*\//, '')]))
    rmSync(socket, { force: true });
}

/** Of the one program that does not look for another by itself. */
function tunnelCertificate(): Promise<string> {
  return readFile(`${KEYS}/konnectivity-server.crt`, 'utf8');
}

function tell(news: News, trouble: KeeperTrouble | undefined): void {
  if (trouble !== undefined && 'diskFull' in trouble) news.tell({ type: 'disk', full: true });
  else news.tell({ type: 'programs', message: trouble?.message });
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
