import { open, rename, type FileHandle } from 'node:fs/promises';
import type { UserInfo } from '../auth/user.ts';
import type { RequestInfo } from './request-info.ts';

export interface AuditRecord {
  auditID: string;
  info: RequestInfo;
  requestURI: string;
  user: UserInfo;
  impersonatedUser?: UserInfo;
  sourceIPs: string[];
  userAgent?: string;
  received: Date;
  completed: Date;
  code: number;
  message?: string;
  annotations: Record<string, string>;
}

export interface AuditLog {
  record(entry: AuditRecord): void;
  close(): Promise<void>;
}

const WRITES = new Set(['create', 'update', 'patch', 'delete', 'deletecollection']);
/** WebSockets begin with a GET, and let in all the same. */
const SESSIONS = new Set(['exec', 'attach', 'portforward']);
const MAX_BYTES = 100 * 1024 * 1024;
/** Under a flood the log must not grow the heap. */
const MAX_WAITING_BYTES = 8 * 1024 * 1024;

interface Line {
  text: string;
  /** How many lines before it this one says are missing. */
  tells: number;
}

/** How long a line waits for others to be written with it. */
const GATHER_MS = 50;

/**
 * Who changed what, as lines of audit.k8s.io/v1 at level Metadata: all writes, everything that was refused, and who got into a Pod. Never a body.
 * Requests do not wait for it, and go on when it cannot be written: a full disk must not take the API down.
 */
export class FileAuditLog implements AuditLog {
  readonly #path: string;
  readonly #onError: (error: unknown) => void;
  readonly #onRecord: (entry: AuditRecord) => void;
  #file: FileHandle | undefined;
  #bytes = 0;
  #waiting: Line[] = [];
  #waitingBytes = 0;
  #writing: Promise<void> | undefined;
  /** What did not fit into memory or onto the disk is counted, and told in the next line that does. */
  #dropped = 0;
  /** The last write failed: the file may end within a line. */
  #torn = false;

  /** @param onError told once per outage @param onRecord told of every request, written or not */
  constructor(path: string, onError: (error: unknown) => void = () => {}, onRecord: (entry: AuditRecord) => void = () => {}) {
    this.#path = path;
    this.#onRecord = onRecord;
    this.#onError = onError;
  }

  record(entry: AuditRecord): void {
    this.#onRecord(entry);
    const { verb, subresource } = entry.info;
    if (!WRITES.has(verb) && !SESSIONS.has(subresource) && entry.code < 400) return;
    if (this.#waitingBytes > MAX_WAITING_BYTES) {
      this.#dropped++;
      return;
    }
    const text = `${JSON.stringify(auditEvent(entry, this.#dropped))}\n`;
    this.#waiting.push({ text, tells: this.#dropped });
    this.#dropped = 0;
    this.#waitingBytes += text.length;
    this.#writing ??= this.#drain();
  }

  async close(): Promise<void> {
    await this.#writing;
    await this.#file?.close();
    this.#file = undefined;
  }

  async #drain(): Promise<void> {
    while (this.#waiting.length > 0) {
      // Requests of the next moment share a write.
      await new Promise((resolve) => setTimeout(resolve, GATHER_MS));
      const lines = this.#waiting;
      this.#waiting = [];
      this.#waitingBytes = 0;
      await this.#append(lines);
    }
    this.#writing = undefined;
  }

  async #append(lines: Line[]): Promise<void> {
    try {
      const file = await this.#open();
      const text = lines.map((line) => line.text).join('');
      await file.appendFile(this.#torn && this.#bytes > 0 ? `\n${text}` : text);
      this.#torn = false;
      this.#bytes += text.length;
      if (this.#bytes > MAX_BYTES) await this.#rotate(file);
    } catch (error) {
      if (!this.#torn) this.#onError(error);
      this.#torn = true;
      for (const { tells } of lines) this.#dropped += 1 + tells;
      await this.#forgetFile();
    }
  }

  async #open(): Promise<FileHandle> {
    if (this.#file === undefined) {
      this.#file = await open(this.#path, 'a', 0o600);
      this.#bytes = (await this.#file.stat()).size;
    }
    return this.#file;
  }

  async #rotate(file: FileHandle): Promise<void> {
    this.#file = undefined;
    await file.close();
    await rename(this.#path, `${this.#path}.1`);
  }

  /** It is opened anew for the next line, which also finds out how much of the last one arrived. */
  async #forgetFile(): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    await file?.close().catch(() => {});
  }
}

function auditEvent(entry: AuditRecord, dropped: number): object {
  const { info } = entry;
  const annotations = dropped > 0 ? { ...entry.annotations, 'tenantry.dev/dropped-before': String(dropped) } : entry.annotations;
  return {
    kind: 'Event',
    apiVersion: 'audit.k8s.io/v1',
    level: 'Metadata',
    auditID: entry.auditID,
    stage: 'ResponseComplete',
    requestURI: entry.requestURI,
    verb: info.verb,
    user: { username: entry.user.name, uid: entry.user.uid, groups: entry.user.groups, extra: entry.user.extra },
    impersonatedUser: entry.impersonatedUser && { username: entry.impersonatedUser.name, groups: entry.impersonatedUser.groups },
    sourceIPs: entry.sourceIPs,
    userAgent: entry.userAgent,
    objectRef: info.isResource
      ? {
          resource: info.resource,
          namespace: info.namespace || undefined,
          name: info.name || undefined,
          apiGroup: info.group || undefined,
          apiVersion: info.version,
          subresource: info.subresource || undefined,
        }
      : undefined,
    responseStatus: { metadata: {}, code: entry.code, message: entry.message },
    requestReceivedTimestamp: microTime(entry.received),
    stageTimestamp: microTime(entry.completed),
    annotations: Object.keys(annotations).length > 0 ? annotations : undefined,
  };
}

function microTime(date: Date): string {
  return `${date.toISOString().slice(0, 23)}000Z`;
}
