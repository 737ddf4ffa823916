/** Kept free in a file, so that a store whose disk is full can be told that it is. */
export const RESERVE_BYTES = 8 * 1024 ** 2;
const LOW_BYTES = 64 * 1024 ** 2;
const LOW_SHARE = 0.02;
/** Opened with a little more than it was closed with, so that it does not go to and fro. */
const ENOUGH = 1.5;
/** Of what a store may have, and the largest write: etcd stops when that would be too much. */
const FULL_SHARE = 0.95;
const LARGEST_WRITE_BYTES = 2 * 1024 ** 2;
/** What there is to gain must be worth that a member answers nobody meanwhile. */
const WORTH_SHARE = 0.9;

export interface DiskView {
  freeBytes: number;
  totalBytes: number;
  hasReserve: boolean;
}

export type DiskRoom = 'low' | 'between' | 'enough';

/** As if the reserve were there. Between low and enough everything stays as it is. */
export function diskRoom({ freeBytes, totalBytes, hasReserve }: DiskView): DiskRoom {
  const room = freeBytes - (hasReserve ? 0 : RESERVE_BYTES);
  const low = Math.min(LOW_BYTES, totalBytes * LOW_SHARE);
  if (room < low) return 'low';
  return room > ENOUGH * low ? 'enough' : 'between';
}

export interface MemberSize {
  bytes: number;
  bytesInUse: number;
}

/** What to do about a store that says that it is full, on a disk that is not. */
export type StoreStep = 'open' | 'compact' | 'defragment' | 'wait';

export function storeStep(sizes: readonly MemberSize[], quotaBytes: number, isCompacted: boolean): StoreStep {
  const fullBytes = Math.min(quotaBytes * FULL_SHARE, quotaBytes - LARGEST_WRITE_BYTES);
  const full = sizes.filter(({ bytes }) => bytes >= fullBytes);
  if (full.length === 0) return 'open';
  if (!isCompacted) return 'compact';
  return full.every(isWorthIt) && full.every(({ bytesInUse }) => bytesInUse < fullBytes) ? 'defragment' : 'wait';
}

export function isWorthIt({ bytes, bytesInUse }: MemberSize): boolean {
  return bytesInUse < bytes * WORTH_SHARE;
}
