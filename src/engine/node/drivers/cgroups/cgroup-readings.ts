/** The number after a word at the beginning of a line, as in memory.stat, memory.events and cpu.stat. */
export function valueOf(text: string, key: string): number | undefined {
  for (const line of text.split('\n')) {
    if (!line.startsWith(key) || line[key.length] !== ' ') continue;
    const value = Number(line.slice(key.length + 1));
    return Number.isFinite(value) ? value : undefined;
  }
  return undefined;
}

/** What cannot be reclaimed at once: usage without the file pages that were not touched lately. */
export function workingSet(usage: number, stat: string, inactiveFileKey: string): number {
  return Math.max(0, usage - (valueOf(stat, inactiveFileKey) ?? 0));
}

export function parseProcesses(text: string): number[] {
  return text
    .split('\n')
    .map(Number)
    .filter((pid) => pid > 0);
}
