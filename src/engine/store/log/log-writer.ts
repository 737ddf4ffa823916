import { type FileSystem, hasCode, type OpenFile, removeIfThere } from '../files/file-system.ts';
import type { StagedWrite } from '../journal.ts';
import { StoreError } from '../store.ts';
import { BatchEncoder } from './batch.ts';
import { segmentName } from './file-names.ts';
import { createSegment } from './segment-file.ts';
import { MARK_BYTES, SEGMENT_HEADER_BYTES, type SegmentHeader } from './segment-header.ts';

/**
 * What small commits are written into is made durable ahead of them, as zeros: a commit behind the end of a file makes the disk write the
 * file's length too, which takes as long as the commit itself.
 */
const ROOM = Buffer.alloc(512 * 1024);
const SMALL_BYTES = 32 * 1024;

export interface EarlierSegment {
  number: number;
  length: number;
}

export interface LogWriterOptions {
  fileSystem: FileSystem;
  directory: string;
  /** The segment to go on with, and how much of it is committed. */
  file: OpenFile;
  header: SegmentHeader;
  length: number;
  /** The segments before it that no snapshot has replaced yet. */
  earlier: readonly EarlierSegment[];
  randomBytes: (size: number) => Buffer;
}

/**
 * Appends commits to the last segment. After a failure it knows one of two things about the disk, and puts it right before
 * anything is acknowledged again:
 * - `tail`: the disk is full. Bytes may be behind the committed length; they are cut off, which works on a full disk.
 * - `segment`: anything else. The kernel may have dropped what it could not write, and a later sync would not say so: nothing
 *   more is built on this file. A new segment begins, and says how much of this one counts.
 */
export class LogWriter {
  readonly #fileSystem: FileSystem;
  readonly #directory: string;
  readonly #randomBytes: (size: number) => Buffer;
  readonly #encoder = new BatchEncoder();
  #file: OpenFile;
  #header: SegmentHeader;
  #length: number;
  /** Up to here the file has its length on disk. */
  #roomUntil: number;
  #earlier: readonly EarlierSegment[];
  #broken: 'tail' | 'segment' | undefined;
  #marked = true;

  constructor(options: LogWriterOptions) {
    this.#fileSystem = options.fileSystem;
    this.#directory = options.directory;
    this.#randomBytes = options.randomBytes;
    this.#file = options.file;
    this.#header = options.header;
    this.#length = options.length;
    this.#roomUntil = options.length;
    this.#earlier = options.earlier;
  }

  get segment(): number {
    return this.#header.number;
  }

  /** Of all segments that no snapshot has replaced. */
  get totalLength(): number {
    return this.#earlier.reduce((sum, { length }) => sum + length, this.#length);
  }

  /** Makes `writes` durable. They follow on `revision`, which is what is durable now. @throws StoreError when none of them is. */
  async append(writes: readonly StagedWrite[], revision: number): Promise<void> {
    try {
      if (this.#broken) await this.#repair(revision);
      await this.#writeBatch(writes);
    } catch (error) {
      // Before the refusal is told: a crash after it must not bring the refused writes back.
      await this.#repair(revision).catch(() => {});
      throw writeError(error);
    }
    this.#marked = false;
  }

  /** Goes on in a new segment. When that fails the old one stays in use. @throws the file system's error */
  async rotate(revision: number): Promise<void> {
    if (this.#broken) await this.#repair(revision);
    const next = this.#header.number + 1;
    try {
      await this.#beginSegment(revision);
    } catch (error) {
      // A new segment that is on disk ends the old one, whether we know of it or not: it must be gone before the old one grows.
      this.#broken = 'segment';
      await removeIfThere(this.#fileSystem, `${this.#directory}/${segmentName(next)}`);
      await this.#fileSystem.syncDirectory(this.#directory);
      this.#broken = undefined;
      throw error;
    }
  }

  /** Removes the segments before `number`, which a snapshot has replaced. What cannot be removed now is removed by the next start. */
  async dropBefore(number: number): Promise<void> {
    const dropped = this.#earlier.filter((segment) => segment.number < number);
    this.#earlier = this.#earlier.filter((segment) => segment.number >= number);
    for (const segment of dropped) await removeIfThere(this.#fileSystem, `${this.#directory}/${segmentName(segment.number)}`);
  }

  /** Leaves a batch without records, which says that everything before it is on disk: from then on damage to the last commit shows. */
  async close(): Promise<void> {
    try {
      if (!this.#broken && !this.#marked) await this.#writeBatch([]);
      if (this.#roomUntil > this.#length) await this.#file.truncate(this.#length);
    } catch {
      // All commits are on disk without it.
    } finally {
      await this.#file.close();
    }
  }

  async #writeBatch(writes: readonly StagedWrite[]): Promise<void> {
    const parts = this.#encoder.encode(this.#header.mark, this.#length, writes);
    const end = parts.reduce((sum, part) => sum + part.length, this.#length);
    if (end > this.#roomUntil && end - this.#length <= SMALL_BYTES) await this.#makeRoom();
    try {
      await this.#file.writeDurably(parts, this.#length);
    } catch (error) {
      this.#broken = isDiskFull(error) ? 'tail' : 'segment';
      throw error;
    }
    this.#length = end;
    this.#roomUntil = Math.max(this.#roomUntil, end);
  }

  /** A disk that has no room for it may still have some for the commit. */
  async #makeRoom(): Promise<void> {
    try {
      await this.#file.writeDurably([ROOM], this.#length);
      this.#roomUntil = this.#length + ROOM.length;
    } catch (error) {
      if (isDiskFull(error)) return;
      this.#broken = 'segment';
      throw error;
    }
  }

  async #repair(revision: number): Promise<void> {
    if (this.#broken === 'tail') {
      this.#broken = 'segment';
      await this.#file.truncate(this.#length);
      await this.#file.datasync();
      this.#roomUntil = this.#length;
      this.#broken = undefined;
    } else if (this.#broken === 'segment') {
      await this.#beginSegment(revision);
      this.#broken = undefined;
    }
  }

  async #beginSegment(revision: number): Promise<void> {
    const header: SegmentHeader = {
      number: this.#header.number + 1,
      baseRevision: revision,
      previousLength: this.#length,
      mark: this.#randomBytes(MARK_BYTES),
    };
    const file = await createSegment(this.#fileSystem, this.#directory, header);
    const old = this.#file;
    this.#earlier = [...this.#earlier, { number: this.#header.number, length: this.#length }];
    this.#file = file;
    this.#header = header;
    this.#length = SEGMENT_HEADER_BYTES;
    this.#roomUntil = SEGMENT_HEADER_BYTES;
    await old.close().catch(() => {});
  }
}

function isDiskFull(error: unknown): boolean {
  return hasCode(error, 'ENOSPC', 'EDQUOT');
}

function writeError(error: unknown): StoreError {
  if (isDiskFull(error)) {
    return new StoreError('DiskFull', 'Cannot write: the disk is full; free some space, then writes work again', { cause: error });
  }
  const reason = error instanceof Error ? error.message : String(error);
  return new StoreError('WriteFailed', `Cannot write: ${reason}; check the disk, then retry`, { cause: error });
}
