import { chmod, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runCommand } from '../../../../lib/run-command.ts';
import { FILES, type Backend, type Boot } from '../host/backend.ts';
import { guestSettings } from '../image/guest-settings.ts';
import { findProgram } from '../image/system-files.ts';
import { sandboxBundle, VOLUME } from './sandbox-bundle.ts';

const STATE = 'state';
const PID_FILE = 'pid';
const SETTINGS_FOLDER = 'settings.d';

/** gVisor: a kernel's system calls, answered by a program. Not a kernel of its own, and told as what it is. */
export function gvisorBackend(options: { program?: string; namespaceOf(id: string): string }): Backend {
  const program = () => findProgram(options.program ?? 'runsc');
  return {
    provider: 'gvisor',
    isolation: 'Sandbox',
    attachment: 'Namespace',
    probeMs: 30_000,
    pidFile: PID_FILE,
    programs: async () => [(await program())!],
    async missing() {
      if ((await program()) === undefined) return 'runsc is not installed (gVisor; https://gvisor.dev has it)';
      return undefined;
    },
    async prepare(boot) {
      if (boot.wanted !== undefined) await prepareOwn(boot, options.namespaceOf(boot.id));
      await rm(join(boot.folder, STATE), { recursive: true, force: true });
      const name = options.namespaceOf(boot.id);
      const bundle = sandboxBundle(boot, {
        network: boot.wanted === undefined ? undefined : `/run/netns/${name}`,
        cgroup: name,
        settings: join(boot.folder, SETTINGS_FOLDER),
        volume: join(boot.folder, VOLUME),
      });
      await writeFile(join(boot.folder, 'config.json'), JSON.stringify(bundle), { mode: 0o600 });
    },
    async command({ id, folder, wanted }) {
      const network = wanted === undefined ? 'none' : 'sandbox';
      // Files are opened by another process than the one that answers for the kernel, which then needs no rights at all.
      const flags = [
        '--root',
        join(folder, STATE),
        '--platform=systrap',
        `--network=${network}`,
        '--net-raw',
        '--host-uds=none',
        '--directfs=false',
      ];
      return {
        program: (await program())!,
        args: [...flags, 'run', '--detach', '--bundle', folder, '--pid-file', join(folder, PID_FILE), id],
      };
    },
    async clean({ id, folder }) {
      const runsc = await program();
      if (runsc !== undefined) await runCommand(runsc, ['--root', join(folder, STATE), 'delete', '--force', id]);
      await unmountBelow(folder);
    },
  };
}

/** Its settings as files, its disk where the sandbox finds it, and the addresses that the last sandbox took away with it. */
async function prepareOwn({ folder, wanted }: Boot, namespace: string): Promise<void> {
  const settings = join(folder, SETTINGS_FOLDER);
  await rm(settings, { recursive: true, force: true });
  await mkdir(settings, { mode: 0o700 });
  for (const [name, text] of Object.entries(guestSettings(wanted!))) await writeFile(join(settings, name), text, { mode: 0o400 });
  // What is not secret is read by whoever the sandbox' programs run as.
  for (const name of ['hosts', 'resolv.conf']) await chmod(join(settings, name), 0o444);
  const volume = join(folder, VOLUME);
  await mkdir(volume, { recursive: true, mode: 0o700 });
  await runCommand('mount', ['-t', 'ext4', '-o', 'loop,nodev,nosuid,noatime', join(folder, FILES.disk), volume]);
  const { address, gateway } = wanted!.network;
  await runCommand('ip', ['-n', namespace, '-batch', '-'], {
    input: [`address replace ${address} dev eth0`, 'link set eth0 up', `route replace default via ${gateway} dev eth0`, ''].join('\n'),
  });
}

/** What is mounted in the machine's folder: its disk, and what runsc keeps of namespaces. The last that was mounted goes first. */
async function unmountBelow(folder: string): Promise<void> {
  const mounts = (await readFile('/proc/self/mountinfo', 'utf8')).split('\n').map((line) => line.split(' ')[4] ?? '');
  for (const path of mounts.filter((mount) => mount.startsWith(`${folder}/`)).toReversed()) await runCommand('umount', [path]);
}
