import type { FileSystem, OpenFile } from '../../../src/engine/store/files/file-system.ts';

const SECTOR = 512;

type DataOperation = { type: 'write'; position: number; data: Buffer } | { type: 'truncate'; length: number };
type NameOperation =
  | { type: 'add'; path: string; file: Inode }
  | { type: 'remove'; path: string }
  | { type: 'rename'; from: string; path: string; file: Inode };

interface Inode {
  /** What programs see. */
  content: Buffer;
  /** What is on the platter for sure. */
  durable: Buffer;
  /** What was done since, in order. */
  unsynced: DataOperation[];
}

export type Operation = 'open' | 'write' | 'truncate' | 'datasync' | 'rename' | 'link' | 'remove' | 'syncDirectory';

/** Decides about each operation before it happens: an error fails it, `cut` ends the power. */
export type Fault = (operation: Operation, path: string, number: number) => NodeJS.ErrnoException | 'cut' | undefined;

/** What a power cut does to the writes that were not synced. */
export interface PowerCut {
  /** How many of the unsynced operations on names took place. */
  names: number;
  /** How many of the unsynced operations on the content of each file took place. */
  operations: number;
  /** What became of the sectors of the one after them: kept, lost, or something else. */
  sector: (index: number) => 'written' | 'old' | 'zeros' | 'garbage';
}

/** A file system in memory that forgets like a disk: what was not synced may be gone, in part or whole, after the power is cut. */
export class SimulatedDisk implements FileSystem {
  readonly #fault: Fault;
  #names = new Map<string, Inode>();
  #durableNames = new Map<string, Inode>();
  #unsyncedNames: NameOperation[] = [];
  #powerless = false;
  operations = 0;

  constructor(fault: Fault = () => undefined) {
    this.#fault = fault;
  }

  get powerless(): boolean {
    return this.#powerless;
  }

  /** Operations that no sync has covered yet: on names, and on the content of the file with the most of them. */
  get unsynced(): { names: number; operations: number } {
    const operations = Math.max(0, ...[...this.#names.values()].map((file) => file.unsynced.length));
    return { names: this.#unsyncedNames.length, operations };
  }

  /** What the machine finds when the power is back. */
  afterPowerCut(cut: PowerCut, fault?: Fault): SimulatedDisk {
    const disk = new SimulatedDisk(fault);
    const names = new Map(this.#durableNames);
    for (const operation of this.#unsyncedNames.slice(0, cut.names)) applyName(names, operation);
    for (const [path, file] of names) {
      const content = survivingContent(file, cut);
      const inode = { content, durable: content, unsynced: [] };
      disk.#names.set(path, inode);
      disk.#durableNames.set(path, inode);
    }
    return disk;
  }

  /** What the next process finds when this one was killed: everything, though not all of it is safe from a power cut yet. */
  afterKill(fault?: Fault): SimulatedDisk {
    const disk = new SimulatedDisk(fault);
    const copies = new Map<Inode, Inode>();
    const copyOf = (file: Inode): Inode => {
      const copy = copies.get(file) ?? { ...file, unsynced: [...file.unsynced] };
      copies.set(file, copy);
      return copy;
    };
    for (const [path, file] of this.#names) disk.#names.set(path, copyOf(file));
    for (const [path, file] of this.#durableNames) disk.#durableNames.set(path, copyOf(file));
    disk.#unsyncedNames = this.#unsyncedNames.map((each) => (each.type === 'remove' ? each : { ...each, file: copyOf(each.file) }));
    return disk;
  }

  /** Changes a file behind the store's back. */
  damage(path: string, change: (content: Buffer) => Buffer): void {
    const file = this.#names.get(path)!;
    file.content = change(Buffer.from(file.content));
    file.durable = file.content;
  }

  paths(): string[] {
    return [...this.#names.keys()].sort();
  }

  async makeDirectory(): Promise<void> {}

  async list(directory: string): Promise<string[]> {
    return this.paths()
      .filter((path) => path.startsWith(`${directory}/`))
      .map((path) => path.slice(directory.length + 1));
  }

  async open(path: string, mode: Parameters<FileSystem['open']>[1]): Promise<OpenFile> {
    let file = this.#names.get(path);
    if (mode === 'create' || mode === 'createLog') {
      await this.#step('open', path);
      if (file) throw failure('EEXIST');
      file = { content: Buffer.alloc(0), durable: Buffer.alloc(0), unsynced: [] };
      this.#changeName({ type: 'add', path, file });
    }
    if (!file) throw failure('ENOENT');
    return new SimulatedFile(file, (operation) => this.#step(operation, path));
  }

  async rename(from: string, to: string): Promise<void> {
    await this.#step('rename', to);
    this.#changeName({ type: 'rename', from, path: to, file: this.#existing(from) });
  }

  async link(existing: string, added: string): Promise<void> {
    await this.#step('link', added);
    if (this.#names.has(added)) throw failure('EEXIST');
    this.#changeName({ type: 'add', path: added, file: this.#existing(existing) });
  }

  async remove(path: string): Promise<void> {
    await this.#step('remove', path);
    this.#existing(path);
    this.#changeName({ type: 'remove', path });
  }

  async syncDirectory(directory: string): Promise<void> {
    await this.#step('syncDirectory', directory);
    this.#durableNames = new Map(this.#names);
    this.#unsyncedNames = [];
  }

  #existing(path: string): Inode {
    const file = this.#names.get(path);
    if (!file) throw failure('ENOENT');
    return file;
  }

  #changeName(operation: NameOperation): void {
    applyName(this.#names, operation);
    this.#unsyncedNames.push(operation);
  }

  async #step(operation: Operation, path: string): Promise<void> {
    // Nothing answers without power.
    if (this.#powerless) return new Promise(() => {});
    const fault = this.#fault(operation, path, this.operations++);
    if (fault === 'cut') {
      this.#powerless = true;
      return new Promise(() => {});
    }
    if (fault) throw fault;
  }
}

class SimulatedFile implements OpenFile {
  readonly #file: Inode;
  readonly #step: (operation: Operation) => Promise<void>;

  constructor(file: Inode, step: (operation: Operation) => Promise<void>) {
    this.#file = file;
    this.#step = step;
  }

  async size(): Promise<number> {
    return this.#file.content.length;
  }

  async read(buffers: readonly Uint8Array[], position: number): Promise<number> {
    let total = 0;
    for (const buffer of buffers) {
      const data = this.#file.content.subarray(position + total, position + total + buffer.length);
      buffer.set(data);
      total += data.length;
    }
    return total;
  }

  async writeDurably(buffers: readonly Uint8Array[], position: number): Promise<void> {
    await this.write(buffers, position);
    await this.datasync();
  }

  async write(buffers: readonly Uint8Array[], position: number): Promise<void> {
    const operation: DataOperation = { type: 'write', position, data: Buffer.concat(buffers) };
    try {
      await this.#step('write');
    } catch (error) {
      // A full disk takes a part.
      this.#apply({ ...operation, data: operation.data.subarray(0, operation.data.length >> 1) });
      throw error;
    }
    this.#apply(operation);
  }

  async truncate(length: number): Promise<void> {
    await this.#step('truncate');
    this.#apply({ type: 'truncate', length });
  }

  async datasync(): Promise<void> {
    try {
      await this.#step('datasync');
    } catch (error) {
      // The kernel calls the pages it could not write clean: the next sync succeeds without them. Some may have got there.
      if ((error as SimulatedFailure).reachedDisk) this.#flush();
      this.#file.unsynced = [];
      throw error;
    }
    this.#flush();
    this.#file.unsynced = [];
  }

  async close(): Promise<void> {}

  #flush(): void {
    this.#file.durable = this.#file.unsynced.reduce(applyData, this.#file.durable);
  }

  #apply(operation: DataOperation): void {
    this.#file.content = applyData(this.#file.content, operation);
    this.#file.unsynced.push(operation);
  }
}

export interface SimulatedFailure extends NodeJS.ErrnoException {
  /** For a sync that failed: the data got to the disk all the same. */
  reachedDisk?: boolean;
}

export function failure(code: string, reachedDisk = false): SimulatedFailure {
  return Object.assign(new Error(`${code}: simulated`), { code, reachedDisk });
}

function applyName(names: Map<string, Inode>, operation: NameOperation): void {
  if (operation.type === 'rename') names.delete(operation.from);
  if (operation.type === 'remove') names.delete(operation.path);
  else names.set(operation.path, operation.file);
}

function applyData(content: Buffer, operation: DataOperation): Buffer {
  const length = operation.type === 'truncate' ? operation.length : Math.max(content.length, operation.position + operation.data.length);
  const changed = Buffer.alloc(length);
  content.copy(changed);
  if (operation.type === 'write') operation.data.copy(changed, operation.position);
  return changed;
}

function survivingContent(file: Inode, cut: PowerCut): Buffer {
  const before = file.unsynced.slice(0, cut.operations).reduce(applyData, file.durable);
  const torn = file.unsynced[cut.operations];
  if (!torn) return before;
  const after = applyData(before, torn);
  if (torn.type === 'truncate') return cut.sector(0) === 'written' ? after : before;
  return tearWrite(before, after, torn.position, cut);
}

/** Each sector the write touched is as it was, as it should be, or (if nothing was there before) anything. */
function tearWrite(before: Buffer, after: Buffer, position: number, cut: PowerCut): Buffer {
  const torn = Buffer.from(after);
  let length = before.length;
  for (let start = Math.floor(position / SECTOR) * SECTOR, index = 0; start < after.length; start += SECTOR, index++) {
    const end = Math.min(start + SECTOR, after.length);
    const fate = cut.sector(index);
    if (fate !== 'old') length = Math.max(length, end);
    if (fate === 'written') continue;
    torn.fill(0, start, end);
    // What a sector held before the write is in it whichever of the two it is.
    torn.set(before.subarray(start, end), start);
    if (fate === 'garbage') for (let at = Math.max(start, before.length); at < end; at++) torn[at] = (at * 37 + index) % 256;
  }
  return torn.subarray(0, length);
}
