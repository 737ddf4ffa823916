import { readdir, readFile, readlink } from 'node:fs/promises';

/**
 * Which layers are mounted in any container of this machine, as hex names, whoever started it. Needs root to see them all; a layer that
 * is mounted must never be removed, whatever the agent knows of it.
 */
export async function mountedLayers(): Promise<Set<string>> {
  const layers = new Set<string>();
  const seen = new Set<string>();
  for (const pid of await readdir('/proc').catch(() => [])) {
    if (!/^\d+$/.test(pid)) continue;
    const namespace = await readlink(`/proc/${pid}/ns/mnt`).catch(() => undefined);
    if (namespace === undefined || seen.has(namespace)) continue;
    seen.add(namespace);
    const mounts = await readFile(`/proc/${pid}/mountinfo`, 'utf8').catch(() => '');
    for (const line of mounts.split('\n')) {
      if (!line.includes(' - overlay ')) continue;
      for (const [hex] of line.matchAll(/(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])/g)) layers.add(hex);
    }
  }
  return layers;
}
