/** A file with holes. */
export interface DiskFile {
  /** What it may grow to. */
  bytes: number;
  /** What it takes already. */
  writtenBytes: number;
}

/** Stays free for everybody else who writes there: stores of control planes, images, the platform itself. */
export const RESERVED_BYTES = 1024 ** 3;

/** Why there is no room for another disk, if what is promised to those that there are is kept; undefined: there is. */
export function diskProblem(wantedBytes: number, freeBytes: number, disks: readonly DiskFile[]): string | undefined {
  const promised = disks.reduce((sum, { bytes, writtenBytes }) => sum + Math.max(0, bytes - writtenBytes), 0);
  if (wantedBytes <= freeBytes - promised - RESERVED_BYTES) return undefined;
  return `it takes ${gibibytes(wantedBytes)}, and of ${gibibytes(freeBytes)} that are free the workers that there are have been promised ${gibibytes(promised)} and ${gibibytes(RESERVED_BYTES)} stays free; free some space, or ask for a smaller disk`;
}

function gibibytes(bytes: number): string {
  return `${Math.round((bytes / 1024 ** 3) * 10) / 10}Gi`;
}
