/** Whether `version` is what `wanted` says: 1.35 stands for all its patches. */
export function isVersion(version: string, wanted: string): boolean {
  return version === wanted || version.startsWith(`${wanted}.`);
}

/** Newest first. */
export function byNewest(a: string, b: string): number {
  const [left, right] = [a, b].map((version) => version.split('.').map(Number));
  for (let part = 0; part < 3; part++) {
    const difference = (right[part] ?? 0) - (left[part] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
