import { findProgram, sharedLibraries } from '../../machines/image/system-files.ts';
import { parentsOf } from '../../machines/host/enclosed.ts';

/** A program of the platform's that strangers speak to. */
export interface EnclosedService {
  /** Whom it is: nobody else is. */
  user: number;
  /** All that it may besides, in words of `setpriv`: `net_admin`. */
  rights: readonly string[];
  /** Files and folders of the host that it reads, where they are. What it is loaded from is there anyway. */
  reads?: readonly string[];
  /** What it reads elsewhere than where it is: where it finds it, and where it is. */
  shows?: Readonly<Record<string, string>>;
  /** Folders that are its own: where it finds them, and where they are. */
  owns?: Readonly<Record<string, string>>;
  devices?: readonly string[];
  command: readonly [program: string, ...args: string[]];
}

interface Tools {
  bwrap: string;
  setpriv: string;
}

const TO_BECOME_A_USER = ['CAP_SETUID', 'CAP_SETGID', 'CAP_SETPCAP', 'CAP_DAC_READ_SEARCH'];

/** What has to be installed for it, as an operator would; undefined: nothing. */
export async function missingForServices(): Promise<string | undefined> {
  if ((await findProgram('bwrap')) === undefined) return 'bwrap is not installed (on Debian: bubblewrap)';
  if ((await findProgram('setpriv')) === undefined) return 'setpriv is not installed (on Debian: util-linux)';
  return undefined;
}

/** The command that runs it where there is nothing else: no processes, and no files but those that it was given. It ends with whoever starts it. */
export async function enclosedService(service: EnclosedService): Promise<[program: string, ...args: string[]]> {
  const [bwrap, setpriv] = await Promise.all(['bwrap', 'setpriv'].map(findProgram));
  const programs = [service.command[0], setpriv!];
  return serviceCommand(service, { bwrap: bwrap!, setpriv: setpriv! }, [...programs, ...(await sharedLibraries(...programs))]);
}

export function serviceCommand(
  { user, rights, reads = [], shows = {}, owns = {}, devices = [], command }: EnclosedService,
  { bwrap, setpriv }: Tools,
  loaded: readonly string[],
): [program: string, ...args: string[]] {
  const seen = [...new Set([...loaded, ...reads])];
  const opened = ['/dev/null', '/dev/urandom', ...devices];
  const kept = [...TO_BECOME_A_USER, ...rights.map((name) => `CAP_${name.toUpperCase()}`)];
  const only = ['-all', ...rights.map((name) => `+${name}`)].join(',');
  const view = [
    ['--unshare-pid', '--unshare-ipc', '--unshare-uts', '--unshare-cgroup-try', '--die-with-parent'],
    ['--cap-drop', 'ALL', ...kept.flatMap((name) => ['--cap-add', name])],
    parentsOf([...seen, ...Object.keys(shows), ...Object.keys(owns), ...opened]).flatMap((path) => ['--dir', path]),
    seen.flatMap((path) => ['--ro-bind', path, path]),
    Object.entries(shows).flatMap(([place, source]) => ['--ro-bind', source, place]),
    opened.flatMap((path) => ['--dev-bind', path, path]),
    Object.entries(owns).flatMap(([place, source]) => ['--bind', source, place]),
    ['--proc', '/proc', '--remount-ro', '/', '--chdir', '/'],
  ].flat();
  const become = [setpriv, `--reuid=${user}`, `--regid=${user}`, '--clear-groups', '--no-new-privs'];
  const limit = [`--inh-caps=${only}`, `--ambient-caps=${only}`, `--bounding-set=${only}`];
  return [bwrap, ...view, '--', ...become, ...limit, '--', ...command];
}
