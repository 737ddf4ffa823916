import { availableParallelism } from 'node:os';
import { runCommand } from '../../../../lib/run-command.ts';

/** Ends what is given to a tool on its standard input. No name or address contains it. */
const END = 'END-OF-TENANTRY-INPUT';

/** What one piece of a script said. */
export interface PieceResult {
  name: string;
  failed: boolean;
  output: string;
}

/** A piece of a script that runs inside a network namespace. */
export interface ScriptPiece {
  name: string;
  /** Path of the namespace. */
  namespace: string;
  text: string;
}

/**
 * Runs pieces in their namespaces, each judged by itself. This process stands still whenever it starts another, so a few shells start all the
 * others; more of them than processors would only wait for each other.
 */
export async function runPieces(pieces: readonly ScriptPiece[]): Promise<PieceResult[]> {
  const shells = Math.max(1, Math.min(availableParallelism(), Math.ceil(pieces.length / 4)));
  const shares = Array.from({ length: shells }, (_, share) => pieces.filter((_piece, position) => position % shells === share));
  const results = await Promise.all(shares.filter((share) => share.length > 0).map(runShare));
  return results.flat();
}

async function runShare(pieces: readonly ScriptPiece[]): Promise<PieceResult[]> {
  const script = pieces.map(
    ({ namespace, text }) => `nsenter --net=${namespace} sh -e 2>&1 <<'${END}-OF-PIECE'\n${text}${END}-OF-PIECE\necho "${END} $?"\n`,
  );
  const output = await runCommand('sh', ['-s'], { input: script.join('') });
  const parts = output.split(new RegExp(`${END} (\\d+)\\n`));
  return pieces.map(({ name }, position) => ({ name, output: parts[2 * position], failed: parts[2 * position + 1] !== '0' }));
}

/** Links to take away are put into one group, and the group is taken away: the kernel waits once for all of them instead of once for each. */
const LEAVING = 1_953_785_460;

export function groupRemoval(links: readonly string[]): string[] {
  return links.length === 0 ? [] : [...links.map((link) => `link set ${link} group ${LEAVING}`), `link delete group ${LEAVING}`];
}

export function removalScript(removals: readonly string[]): string {
  return removals.length === 0 ? '' : given('ip -force -batch - >/dev/null 2>&1', `${removals.join('\n')}\n`, ' || true');
}

/** A worker's link whose other end is in a namespace that was deleted, and lives on with a process in it, makes place for another. */
export function staleLinkScript(path: string): string {
  return `nsenter --net=${path} ip link delete eth0 >/dev/null 2>&1 || true\n`;
}

/** Goes on after a line that fails, and says which one it was. */
export function ipScript(commands: readonly string[]): string {
  return given('ip -force -batch -', `${commands.join('\n')}\n`);
}

/** What went wrong, by whom each line of an `ipScript` belongs to; the first failure of each. */
export function failuresByOwner(output: string, owners: readonly string[]): Map<string, string> {
  const failures = new Map<string, string>();
  let said: string[] = [];
  for (const line of output.split('\n')) {
    const number = /^Command failed -:(\d+)$/.exec(line)?.[1];
    if (number === undefined) {
      said.push(line);
      continue;
    }
    const owner = owners[Number(number) - 1];
    if (!failures.has(owner)) failures.set(owner, said.join(' ').trim());
    said = [];
  }
  return failures;
}

export function machineScript(rules: string, forward: boolean): string {
  return given('nft -f -', rules) + (forward ? setting('net/ipv4/ip_forward', '1') : '');
}

export function given(command: string, input: string, otherwise = ''): string {
  return `${command} <<'${END}'${otherwise}\n${input}${END}\n`;
}

/** Kernels lack what they were built without: a bridge's filter, IPv6. */
export function setting(name: string, value: string): string {
  return `[ ! -e /proc/sys/${name} ] || echo ${value} > /proc/sys/${name}\n`;
}
