/** Kubernetes' order of versions: GA before beta before alpha, newer before older, names that follow no scheme last. */
export function compareVersions(a: string, b: string): number {
  const left = parse(a);
  const right = parse(b);
  if (left === undefined || right === undefined) {
    if (left === undefined && right === undefined) return a < b ? -1 : a > b ? 1 : 0;
    return left === undefined ? 1 : -1;
  }
  for (let i = 0; i < 3; i++) if (left[i] !== right[i]) return right[i] - left[i];
  return 0;
}

const STAGE: Record<string, number> = { alpha: 0, beta: 1 };

function parse(version: string): [number, number, number] | undefined {
  const match = /^v([1-9][0-9]*)(?:(alpha|beta)([1-9][0-9]*))?$/.exec(version);
  if (match === null) return undefined;
  return [match[2] === undefined ? 2 : STAGE[match[2]], Number(match[1]), Number(match[3] ?? 0)];
}
