import { readdirSync, readFileSync } from 'node:fs';

/** Whoever is enclosed is the child of a child of who looks after it. */
export function lastDescendant(pid: number): number {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  return children === '' ? pid : lastDescendant(Number(children.split(' ').at(-1)));
}

/** What the kernel says of a process: `Uid`, `CapEff`, `Seccomp`, as words. */
export function statusOf(pid: number): Record<string, string> {
  const lines = readFileSync(`/proc/${pid}/status`, 'utf8').trim().split('\n');
  return Object.fromEntries(lines.map((line) => line.split(/:\s*/, 2).map((word) => word.trim().replaceAll(/\s+/g, ' '))));
}

/** All files that a process can name, in the order of their names; what is below the folders of `whole` is not told. */
export function filesInView(pid: number, whole: readonly string[] = [], path = ''): string[] {
  return readdirSync(`/proc/${pid}/root${path}/`, { withFileTypes: true })
    .flatMap((entry) => {
      const found = `${path}/${entry.name}`;
      if (found === '/proc') return [];
      return entry.isDirectory() && !whole.includes(found) ? filesInView(pid, whole, found) : [found];
    })
    .toSorted();
}
