import {
  closeSync,
  constants,
  copyFileSync,
  lchownSync,
  linkSync,
  lutimesSync,
  mkdirSync,
  openSync,
  readlinkSync,
  symlinkSync,
  writeSync,
} from 'node:fs';
import type { TarEntry, TarSink } from '../tar/tar-reader.ts';
import { applyOwnership, applyOwnershipTo, joined, parentOf, raw, removeTree, shown, statOf, type Ownership } from './layer-files.ts';
import type { LowerLayers } from './lower-layers.ts';
import type { SpecialFiles } from './special-files.ts';

export interface LayerLimits {
  /** Of all content together, and a block for each entry. */
  bytes: number;
  entries: number;
}

export interface LayerWriterOptions {
  /** An empty folder, as a byte string. */
  root: string;
  lower: LowerLayers;
  limits: LayerLimits;
  /** Needs root. */
  keepOwners: boolean;
  special: SpecialFiles;
}

/** A layer that is refused. The message completes "Cannot unpack a layer: ". */
export class LayerError extends Error {}

const MAX_PATH_BYTES = 4096;
const MAX_LINKS = 40;
const ENTRY_BYTES = 512;
const WHITEOUT = '.wh.';
const OPAQUE = '.wh..wh..opq';
const NEW_FOLDER: Ownership = { mode: 0o755, uid: 0, gid: 0, mtime: 0 };

/**
 * Writes the entries of one layer below its folder. Links in the names of folders are followed the way a container would follow them,
 * inside the merged view; nothing is ever written or read outside of it.
 */
export class LayerWriter implements TarSink {
  readonly #options: LayerWriterOptions;
  /** Where the folder of a name really is; forgotten when a folder or link is replaced. */
  readonly #resolved = new Map<string, string>();
  /** Set at the end: writing into a folder changes its time, and a read-only one could not be written to. */
  readonly #folders = new Map<string, Ownership>();
  /** Paths below which, or at which, nothing of the lower layers may be seen. */
  readonly #removed = new Set<string>();
  readonly #emptied = new Set<string>();
  #open: { file: number; path: string; entry: TarEntry } | undefined;
  #entries = 0;
  #bytes = 0;

  constructor(options: LayerWriterOptions) {
    this.#options = options;
    this.#folders.set('', NEW_FOLDER);
  }

  get entries(): number {
    return this.#entries;
  }

  get bytes(): number {
    return this.#bytes;
  }

  entry(entry: TarEntry): void {
    this.#count(ENTRY_BYTES + entry.size);
    const path = cleanName(entry.name);
    const base = path.slice(path.lastIndexOf('/') + 1);
    const folder = this.#folder(parentOf(path));
    if (path === '') {
      if (entry.type === 'directory') this.#folders.set('', entry);
    } else if (base === OPAQUE) {
      this.#emptied.add(folder);
    } else if (base.startsWith(`${WHITEOUT}${WHITEOUT}`)) {
      // Bookkeeping of aufs, which means nothing to anybody else.
    } else if (base.startsWith(WHITEOUT)) {
      this.#removed.add(joined(folder, removedName(base, entry.name)));
    } else {
      this.#make(entry, joined(folder, base));
    }
  }

  content(chunk: Buffer): void {
    if (this.#open === undefined) return;
    for (let at = 0; at < chunk.length;) at += writeSync(this.#open.file, chunk, at);
  }

  endOfEntry(): void {
    if (this.#open === undefined) return;
    const { file, path, entry } = this.#open;
    this.#open = undefined;
    try {
      applyOwnershipTo(file, entry, this.#options.keepOwners);
    } finally {
      closeSync(file);
    }
    this.#setAttributes(path, entry);
  }

  /** After the last entry. */
  finish(): void {
    for (const path of this.#removed) this.#hide(path);
    for (const path of this.#emptied) for (const name of this.#options.lower.names(path)) this.#hide(joined(path, name));
    for (const [path, wanted] of this.#folders) applyOwnership(this.#own(path), wanted, this.#options.keepOwners);
  }

  /** Lets go of the file that was being written when something failed. */
  abandon(): void {
    if (this.#open !== undefined) closeSync(this.#open.file);
    this.#open = undefined;
  }

  #make(entry: TarEntry, path: string): void {
    if (entry.type === 'character' || entry.type === 'block') {
      this.#device(entry, path);
      return;
    }
    const place = this.#own(path);
    const existing = statOf(place);
    if (entry.type === 'directory') {
      if (existing?.isDirectory() !== true) {
        if (existing !== undefined) this.#remove(path);
        mkdirSync(raw(place), 0o700);
      }
      this.#folders.set(path, entry);
      this.#setAttributes(path, entry);
      return;
    }
    const linked = entry.type === 'hardlink' ? this.#linkTarget(entry) : undefined;
    if (linked === path) return;
    if (existing !== undefined) this.#remove(path);
    if (linked !== undefined) linkSync(raw(this.#own(linked)), raw(place));
    else if (entry.type === 'symlink') this.#symlink(entry, place);
    else if (entry.type === 'fifo') this.#pipe(entry, place);
    else
      this.#open = {
        file: openSync(raw(place), constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW, 0o600),
        path,
        entry,
      };
  }

  #symlink(entry: TarEntry, place: string): void {
    if (entry.linkName === '' || entry.linkName.length > MAX_PATH_BYTES || entry.linkName.includes('\0')) {
      throw new LayerError(`"${shown(entry.name)}" links to a name that is empty or too long`);
    }
    symlinkSync(raw(entry.linkName), raw(place));
    if (this.#options.keepOwners) lchownSync(raw(place), entry.uid, entry.gid);
    lutimesSync(raw(place), entry.mtime, entry.mtime);
  }

  #pipe(entry: TarEntry, place: string): void {
    this.#options.special.makePipe(place, 0o600);
    applyOwnership(place, entry, this.#options.keepOwners);
  }

  /** Devices give whoever runs the image the machine's hardware. Below /dev the runtime puts its own, so those are left out. */
  #device(entry: TarEntry, path: string): void {
    if (entry.type === 'character' && entry.deviceMajor === 0 && entry.deviceMinor === 0) this.#removed.add(path);
    else if (!path.startsWith('dev/')) {
      throw new LayerError(
        `"${shown(entry.name)}" is a device (${entry.deviceMajor}, ${entry.deviceMinor}), which no image may bring along`,
      );
    }
  }

  /** The file a hard link shares, brought up from the layers below when it is not of this layer. */
  #linkTarget(entry: TarEntry): string {
    const clean = cleanName(entry.linkName);
    const path = joined(this.#folder(parentOf(clean)), clean.slice(clean.lastIndexOf('/') + 1));
    const own = statOf(this.#own(path));
    if (own !== undefined && !own.isDirectory()) return path;
    const below = own === undefined ? this.#options.lower.find(path) : undefined;
    if (below?.stats.isFile() !== true) {
      throw new LayerError(`"${shown(entry.name)}" is a hard link to "${shown(entry.linkName)}", which is no file of the image`);
    }
    const { mode, uid, gid, mtimeMs, size } = below.stats;
    this.#count(size);
    copyFileSync(raw(below.place), raw(this.#own(path)), constants.COPYFILE_EXCL);
    applyOwnership(this.#own(path), { mode: mode & 0o7777, uid, gid, mtime: mtimeMs / 1000 }, this.#options.keepOwners);
    return path;
  }

  /** Makes a folder of this layer, its parents included, and says where it really is after all links. */
  #folder(path: string): string {
    const known = this.#resolved.get(path);
    if (known !== undefined) return known;
    const pending = path.split('/').reverse();
    let at = '';
    let links = 0;
    while (pending.length > 0) {
      const part = pending.pop()!;
      if (part === '' || part === '.') continue;
      if (part === '..') {
        at = parentOf(at);
        continue;
      }
      const next = joined(at, part);
      const target = this.#step(next);
      if (target === undefined) {
        at = next;
        continue;
      }
      if (++links > MAX_LINKS) throw new LayerError(`"${shown(path)}" leads through more than ${MAX_LINKS} links`);
      if (target.startsWith('/')) at = '';
      pending.push(...target.split('/').reverse());
    }
    this.#resolved.set(path, at);
    return at;
  }

  /** Makes sure that there is a folder; or says where the link points that is in its place. */
  #step(path: string): string | undefined {
    const own = statOf(this.#own(path));
    if (own?.isDirectory() === true) return undefined;
    const found = own === undefined ? this.#options.lower.find(path) : { stats: own, place: this.#own(path) };
    if (found?.stats.isSymbolicLink() === true && !this.#removed.has(path)) return readlinkSync(raw(found.place), { encoding: 'latin1' });
    if (own !== undefined) throw new LayerError(`"${shown(path)}" is a file and a folder at once`);
    mkdirSync(raw(this.#own(path)), 0o700);
    const below = found?.stats.isDirectory() === true ? found.stats : undefined;
    const wanted = below && { mode: below.mode & 0o7777, uid: below.uid, gid: below.gid, mtime: below.mtimeMs / 1000 };
    this.#folders.set(path, wanted ?? NEW_FOLDER);
    return undefined;
  }

  /**
   * Takes away what the lower layers have at a path. A folder that this layer has there too is emptied name by name instead of being
   * marked opaque: that mark is an attribute which only root may set.
   */
  #hide(path: string): void {
    // A later entry may have put a link where a folder was: then the layers below are hidden already, and nothing may follow it.
    if (!this.#isOwnFolder(parentOf(path)) && !this.#isAbsent(parentOf(path))) return;
    const own = this.#isOwnFolder(parentOf(path)) ? statOf(this.#own(path)) : undefined;
    if (own === undefined) {
      if (this.#options.lower.find(path) === undefined || this.#folder(parentOf(path)) !== parentOf(path)) return;
      this.#options.special.makeWhiteout(this.#own(path));
    } else if (own.isDirectory()) {
      for (const name of this.#options.lower.names(path)) this.#hide(joined(path, name));
    }
  }

  /** Whether a path is a folder of this layer, and so are all above it. */
  #isOwnFolder(path: string): boolean {
    return path === '' || (this.#isOwnFolder(parentOf(path)) && statOf(this.#own(path))?.isDirectory() === true);
  }

  /** Whether this layer has nothing at a path: some folder above it is one of its own, and ends there. */
  #isAbsent(path: string): boolean {
    if (path === '') return false;
    const above = parentOf(path);
    return this.#isOwnFolder(above) ? statOf(this.#own(path)) === undefined : this.#isAbsent(above);
  }

  #remove(path: string): void {
    removeTree(this.#own(path));
    this.#resolved.clear();
    for (const folder of this.#folders.keys()) if (folder === path || folder.startsWith(`${path}/`)) this.#folders.delete(folder);
  }

  #setAttributes(path: string, entry: TarEntry): void {
    for (const [name, value] of entry.attributes) {
      // Others belong to the machine's own security module, or to overlayfs, which must not be talked to by an image.
      const kept = name.startsWith('user.')
        ? !name.startsWith('user.overlay.')
        : name === 'security.capability' && this.#options.keepOwners;
      if (kept && !name.includes('\0')) this.#options.special.setAttribute(this.#own(path), name, value);
    }
  }

  #own(path: string): string {
    return path === '' ? this.#options.root : `${this.#options.root}/${path}`;
  }

  #count(bytes: number): void {
    const { limits } = this.#options;
    this.#bytes += bytes;
    if (++this.#entries > limits.entries) throw new LayerError(`it has more than ${limits.entries} files`);
    if (this.#bytes > limits.bytes) throw new LayerError('it unpacks to more bytes than this node takes for one image');
  }
}

/** Without `/` and `.`; a name that climbs is refused, whatever it leads to. */
function cleanName(name: string): string {
  if (name.length > MAX_PATH_BYTES) throw new LayerError(`it has a name of over ${MAX_PATH_BYTES} bytes`);
  if (name.includes('\0')) throw new LayerError('it has a name with a zero byte');
  const parts = name.split('/').filter((part) => part !== '' && part !== '.');
  if (parts.includes('..')) throw new LayerError(`the name "${shown(name)}" leads out of its folder`);
  return parts.join('/');
}

function removedName(base: string, name: string): string {
  const removed = base.slice(WHITEOUT.length);
  if (removed === '' || removed === '.' || removed === '..') throw new LayerError(`"${shown(name)}" removes nothing that has a name`);
  return removed;
}
