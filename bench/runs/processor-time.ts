import { readdirSync, readFileSync } from 'node:fs';

/** Ticks of /proc/<pid>/stat per millisecond; Linux has 100 per second. */
const MS_PER_TICK = 10;

interface ProcessTimes {
  pid: number;
  parent: number;
  name: string;
  ownMs: number;
  /** Of children that have ended and were waited for. */
  childrenMs: number;
}

export type ProcessorTimes = Map<string, number>;

/** Processor time of a process and all below it until now, by what they are: the figure that a busy machine does not change. */
export function processorTimes(root: number): ProcessorTimes {
  const processes = allProcesses();
  const times: ProcessorTimes = new Map();
  const add = (name: string, ms: number) => times.set(name, (times.get(name) ?? 0) + ms);
  const visit = (one: ProcessTimes) => {
    add(one.name, one.ownMs);
    add(`${one.name}'s ended children`, one.childrenMs);
    for (const child of processes) if (child.parent === one.pid) visit(child);
  };
  const top = processes.find(({ pid }) => pid === root);
  if (top !== undefined) visit(top);
  return times;
}

/** What was used in between, each in milliseconds divided by `count`; the large ones first. */
export function perRun(before: ProcessorTimes, after: ProcessorTimes, count: number): string {
  const used = [...after].map(([name, ms]) => [name, (ms - (before.get(name) ?? 0)) / count] as const);
  const total = used.reduce((sum, [, ms]) => sum + ms, 0);
  const large = used.filter(([, ms]) => ms >= 0.05).toSorted((a, b) => b[1] - a[1]);
  return `${total.toFixed(2)} (${large.map(([name, ms]) => `${name} ${ms.toFixed(2)}`).join(', ')})`;
}

function allProcesses(): ProcessTimes[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
        const command = readFileSync(`/proc/${name}/cmdline`, 'utf8').split('\0');
        const fields = stat
          .slice(stat.lastIndexOf(')') + 2)
          .split(' ')
          .map(Number);
        const times = { ownMs: (fields[11] + fields[12]) * MS_PER_TICK, childrenMs: (fields[13] + fields[14]) * MS_PER_TICK };
        return [{ pid: Number(name), parent: fields[1], name: programOf(command), ...times }];
      } catch {
        return [];
      }
    });
}

function programOf(command: string[]): string {
  const script = command.find((word) => /\/(tenantry|node\.js|shim\.js|runtimed\.js|runtime-server\.js)$/.test(word));
  return (script ?? command[0]).split('/').at(-1)!;
}
