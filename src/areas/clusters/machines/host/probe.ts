import { chown, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { replaceFile } from '../../../../lib/pki/private-file.ts';
import { editionOf, findProgram } from '../image/system-files.ts';
import { BOOTED } from '../image/guest-scripts.ts';
import type { WorkerImage } from '../image/worker-image.ts';
import type { Backend, Boot } from './backend.ts';
import { endMachine } from './end-machine.ts';
import type { HostMachinesOptions } from './host-machines.ts';
import { launchDetached, launchMachine } from './launch-machine.ts';
import { MachineConsole } from './machine-console.ts';
import type { MachineFolders } from './machine-folders.ts';

/** What a try said, for this boot of the host and these editions of kernel and programs: another edition of the product boots no other way. */
interface Tried {
  edition: string;
  /** In milliseconds. */
  at: number;
  unable?: string;
}

/** A guest that did not come up may have been unlucky: the host was busy. */
const FAILURE_KEPT_MS = 3_600_000;

/** A user for tries, which no machine gets. */
const PROBE_USER = 1_900_099_999;

type ProbeOptions = Pick<HostMachinesOptions, 'folders' | 'images' | 'backend' | 'clock'>;

/** Why no machine of this kind can be had here, in words for the operator. A guest is booted to find out; what it showed is kept. */
export async function whyUnable({ folders, images, backend, clock }: ProbeOptions): Promise<string | undefined> {
  if (process.getuid?.() !== 0) return 'Tenantry does not run as root, which networks of workers need';
  for (const program of ['nsenter', 'setpriv', 'prlimit', 'mkfifo']) {
    if ((await findProgram(program)) === undefined) return `${program} is not installed (on Debian: util-linux, coreutils)`;
  }
  const missing = (await images.missing()) ?? (await backend.missing(await images.get()));
  if (missing !== undefined) return missing;
  const image = await images.get();
  const edition = await editionNow(backend, image);
  const tried = await readTried(folders);
  const known = tried[backend.provider];
  if (known?.edition === edition && (known.unable === undefined || clock.now() - known.at < FAILURE_KEPT_MS)) return known.unable;
  const unable = await tryOut(folders, backend, image);
  await mkdir(folders.root, { recursive: true });
  const now: Tried = { edition, at: clock.now(), ...(unable === undefined ? {} : { unable }) };
  await replaceFile(folders.probes, `${JSON.stringify({ ...(await readTried(folders)), [backend.provider]: now })}\n`, 0o600);
  return unable;
}

async function readTried(folders: MachineFolders): Promise<Record<string, Tried | undefined>> {
  try {
    return JSON.parse(await readFile(folders.probes, 'utf8')) as Record<string, Tried>;
  } catch {
    return {};
  }
}

async function editionNow(backend: Backend, image: WorkerImage): Promise<string> {
  const boot = (await readFile('/proc/sys/kernel/random/boot_id', 'utf8')).trim();
  return `${boot}/${image.kernel?.release}/${await editionOf(await backend.programs())}`;
}

/** Boots a guest that has nothing but the image. */
async function tryOut(folders: MachineFolders, backend: Backend, image: WorkerImage): Promise<string | undefined> {
  await mkdir(join(folders.root, 'machines'), { recursive: true, mode: 0o711 });
  const folder = await mkdtemp(join(folders.root, 'machines', 'probe-'));
  const boot: Boot = { id: folder.slice(folder.lastIndexOf('/') + 1).toLowerCase(), user: PROBE_USER, folder, image };
  try {
    await folders.renewOutput(folder);
    await backend.prepare?.(boot);
    await chown(folder, PROBE_USER, PROBE_USER);
    return await watch(backend, boot);
  } finally {
    await backend.clean?.(boot);
    await rm(folder, { recursive: true, force: true });
  }
}

async function watch(backend: Backend, boot: Boot): Promise<string | undefined> {
  let finish!: (why: string | undefined) => void;
  const finished = new Promise<string | undefined>((resolve) => (finish = resolve));
  const console = MachineConsole.open(boot.folder, backend.consoleSocket, () => {
    finish(hasBooted(console) ? undefined : `a guest ended before it had booted: ${lastLine(console.text)}`);
  });
  console.onText(() => hasBooted(console) && finish(undefined));
  let patience: NodeJS.Timeout | undefined;
  try {
    const { identity, go } = await start(backend, boot);
    patience = setTimeout(
      () => finish(`a guest did not boot within ${backend.probeMs / 1000} seconds: ${lastLine(console.text)}`),
      backend.probeMs,
    );
    go();
    const why = await finished;
    await endMachine(identity);
    return why;
  } finally {
    clearTimeout(patience);
    console.close();
  }
}

async function start(backend: Backend, boot: Boot): ReturnType<typeof launchMachine> {
  if (backend.pidFile === undefined) return launchMachine(backend, boot);
  return { identity: await launchDetached(backend, boot, backend.pidFile), go: () => {} };
}

function hasBooted({ text }: MachineConsole): boolean {
  return text.includes(BOOTED);
}

/** The line that says why: the panic, else the last one. */
function lastLine(console: string): string {
  const lines = console
    // oxlint-disable-next-line no-control-regex -- what firmware sends to clear the screen
    .replaceAll(/\u001B(?:\[[0-9;?]*[A-Za-z]|c)/g, '')
    .split(/[\r\n]+/)
    .filter((line) => line.trim() !== '');
  const telling = lines.find((line) => /panic/i.test(line)) ?? lines.find((line) => /error|denied|cannot/i.test(line)) ?? lines.at(-1);
  return telling?.trim().slice(0, 300) ?? 'it said nothing';
}
