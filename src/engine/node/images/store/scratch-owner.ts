import { readFile } from 'node:fs/promises';

/** Process ids come back; with the time it started, a process is unique until the next boot. */
export async function ownerName(): Promise<string> {
  return `${process.pid}-${(await startTime(process.pid)) ?? 0}`;
}

/** Whether the process that made a scratch folder still runs. */
export async function ownerLives(name: string): Promise<boolean> {
  const match = /^(\d+)-(\d+)-/.exec(name);
  if (match === null) return false;
  return (await startTime(Number(match[1]))) === Number(match[2]);
}

/** In ticks since boot: the 22nd field, counted after the command's name, which may contain anything. */
async function startTime(pid: number): Promise<number | undefined> {
  const text = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => undefined);
  if (text === undefined) return undefined;
  return Number(text.slice(text.lastIndexOf(')') + 2).split(' ')[19]);
}
