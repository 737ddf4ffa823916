import { execFile, spawn, type ChildProcess } from 'node:child_process';
import type { FileHandle } from 'node:fs/promises';
import { promisify } from 'node:util';
import { closedFolder, type Account } from './server-account.ts';
import { programPath, type PostgresPrograms } from './postgres-programs.ts';

const run = promisify(execFile);

/** What to run, where it finds its folder, and as whom; nobody in particular: as this process. */
export interface Launch {
  programs: PostgresPrograms;
  /** Holds `data`. */
  folder: string;
  account: Account | undefined;
}

/**
 * Where folders on the way are closed to the account (a home directory is), the server sees both folders at a place of its own: a mount
 * namespace has no other effect. `$1`: the place, `$2` programs, `$3` folder, `$4` uid:gid, then the command, below the place.
 */
const STAGE = [
  'set -e',
  'place=$1 programs=$2 folder=$3 account=$4; shift 4',
  'mount -t tmpfs -o mode=0755,size=64k tmpfs "$place"',
  'mkdir "$place/programs" "$place/folder"',
  'mount --bind "$programs" "$place/programs"',
  'mount --bind "$folder" "$place/folder"',
  'exec chroot --userspec="$account" --groups= / "$@"',
].join('\n');
const PLACES = ['/mnt', '/srv', '/media', '/opt'];

interface Command {
  file: string;
  args: string[];
  options: { uid?: number; gid?: number };
}

/** @throws Error when the account cannot get at the programs or the folder, with what to do */
async function commandFor({ programs, folder, account }: Launch, name: 'initdb' | 'postgres', args: string[]): Promise<Command> {
  const direct = { file: programPath(programs, name), args: args.map((arg) => arg.replace('{folder}', folder)), options: account ?? {} };
  if (!account) return direct;
  const closed = (await closedFolder(programs.folder, account)) ?? (await closedFolder(folder, account));
  if (closed === undefined) return direct;
  const place = PLACES.find((each) => !`${programs.folder}/`.startsWith(`${each}/`) && !`${folder}/`.startsWith(`${each}/`));
  if (place === undefined || !(await mayMount())) {
    const what = `Cannot run PostgreSQL as user ${account.uid}: the folder ${closed} is closed to it`;
    throw new Error(`${what}; open it for passing (chmod o+x), use another --data, or start tenantry as an ordinary user`);
  }
  const staged = args.map((arg) => arg.replace('{folder}', `${place}/folder`));
  const program = programPath({ folder: `${place}/programs` }, name);
  const stage = ['-c', STAGE, 'sh', place, programs.folder, folder, `${account.uid}:${account.gid}`, program, ...staged];
  return { file: 'unshare', args: ['--mount', '--propagation', 'private', 'sh', ...stage], options: {} };
}

async function mayMount(): Promise<boolean> {
  return run('unshare', ['--mount', 'true']).then(
    () => true,
    () => false,
  );
}

const ENVIRONMENT = { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C', TZ: 'UTC' };

/** Runs a program to its end. `{folder}` in the arguments is the folder as the program sees it. @throws Error with what it said */
export async function runPostgres(launch: Launch, name: 'initdb' | 'postgres', args: string[], input = ''): Promise<void> {
  const { file, args: all, options } = await commandFor(launch, name, args);
  const child = spawn(file, all, { ...options, env: ENVIRONMENT, cwd: '/', stdio: ['pipe', 'pipe', 'pipe'] });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (bytes: Buffer) => (said = `${said}${bytes.toString()}`.slice(-2000)));
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  const code = await exitOf(child);
  if (code !== 0) throw new Error(`Cannot run ${name}: ${said.trim() || `it ended with ${code}`}`);
}

/** Starts the server; it outlives this process, so that a crash of it ends nobody's connection. */
export async function spawnServer(launch: Launch, flags: string[], output: FileHandle): Promise<ChildProcess> {
  const { file, args, options } = await commandFor(launch, 'postgres', ['-D', '{folder}/data', ...flags]);
  return spawn(file, args, { ...options, env: ENVIRONMENT, cwd: '/', detached: true, stdio: ['ignore', output.fd, output.fd] });
}

function exitOf(child: ChildProcess): Promise<number | string | null> {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve(code ?? signal));
  });
}
