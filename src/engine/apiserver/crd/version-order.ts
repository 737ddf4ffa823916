/** Kubernetes' order of API versions: v2 over v1 over v2beta1 over v1alpha3 over anything else, which goes backwards by name. */
const VERSION = /^v([1-9][0-9]*)(?:(alpha|beta)([1-9][0-9]*))?$/;
const STABILITY: Record<string, number> = { alpha: 0, beta: 1 };

interface ParsedVersion {
  major: number;
  stability: number;
  minor: number;
}

function parseVersion(text: string): ParsedVersion | undefined {
  const match = VERSION.exec(text);
  if (match === null) return undefined;
  return { major: Number(match[1]), stability: match[2] === undefined ? 2 : STABILITY[match[2]], minor: Number(match[3] ?? 0) };
}

/** Positive when `left` is the more recent or more stable one. */
export function compareVersions(left: string, right: string): number {
  if (left === right) return 0;
  const [a, b] = [parseVersion(left), parseVersion(right)];
  if (a === undefined || b === undefined) {
    if (a !== undefined) return 1;
    if (b !== undefined) return -1;
    return left < right ? 1 : -1;
  }
  return a.stability - b.stability || a.major - b.major || a.minor - b.minor;
}
