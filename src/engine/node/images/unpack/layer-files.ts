import {
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  futimesSync,
  lstatSync,
  openSync,
  readdirSync,
  rmdirSync,
  unlinkSync,
} from 'node:fs';
import type { Stats } from 'node:fs';

/**
 * Synchronous file access by byte strings, for the thread that unpacks: names in a layer are bytes, not text. A byte string has one
 * character per byte.
 */
export function bytePath(path: string): string {
  return Buffer.from(path, 'utf8').toString('latin1');
}

export function raw(path: string): Buffer {
  return Buffer.from(path, 'latin1');
}

/** For messages: what a person would call it. */
export function shown(path: string): string {
  return raw(path).toString('utf8');
}

export function joined(folder: string, name: string): string {
  return folder === '' ? name : name === '' ? folder : `${folder}/${name}`;
}

export function parentOf(path: string): string {
  return path.slice(0, Math.max(path.lastIndexOf('/'), 0));
}

/** Of the thing itself, not of what a link points to; undefined when there is nothing. */
export function statOf(path: string): Stats | undefined {
  return lstatSync(raw(path), { throwIfNoEntry: false });
}

export function namesIn(path: string): string[] {
  return readdirSync(raw(path), { encoding: 'latin1' });
}

/** Overlayfs's sign for "removed". */
export function isWhiteout(stats: Stats): boolean {
  return stats.isCharacterDevice() && stats.rdev === 0;
}

export function removeTree(path: string): void {
  const stats = statOf(path);
  if (stats === undefined) return;
  if (!stats.isDirectory()) {
    unlinkSync(raw(path));
    return;
  }
  for (const name of namesIn(path)) removeTree(`${path}/${name}`);
  rmdirSync(raw(path));
}

export interface Ownership {
  mode: number;
  uid: number;
  gid: number;
  mtime: number;
}

/** Without root, files belong to whoever unpacks: then nothing may be setuid, and folders stay usable for their owner. */
export function applyOwnership(path: string, wanted: Ownership, keepOwners: boolean): void {
  const file = openSync(raw(path), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    applyOwnershipTo(file, wanted, keepOwners, 0o700);
  } finally {
    closeSync(file);
  }
}

/** Owner first: changing it takes setuid away. */
export function applyOwnershipTo(file: number, wanted: Ownership, keepOwners: boolean, atLeast = 0): void {
  if (keepOwners) fchownSync(file, wanted.uid, wanted.gid);
  fchmodSync(file, keepOwners ? wanted.mode : (wanted.mode & 0o777) | atLeast);
  futimesSync(file, wanted.mtime, wanted.mtime);
}
