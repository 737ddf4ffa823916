import { createWriteStream, renameSync, statSync, type WriteStream } from 'node:fs';
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
const MAX_BYTES = 100 * 1024 * 1024;

/** Who changed what, as lines of audit.k8s.io/v1 at level Metadata: all writes, and everything that was refused. Never a body. */
export class FileAuditLog implements AuditLog {
  readonly #path: string;
  #stream: WriteStream;
  #bytes: number;
  /** Under a flood the log must not grow the heap: what does not fit is counted and told. */
  #dropped = 0;

  constructor(path: string) {
    this.#path = path;
    this.#bytes = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
    this.#stream = createWriteStream(path, { flags: 'a', mode: 0o600 });
  }

  record(entry: AuditRecord): void {
    if (!WRITES.has(entry.info.verb) && entry.code < 400) return;
    if (this.#stream.writableLength > 8 * 1024 * 1024) {
      this.#dropped++;
      return;
    }
    const line = `${JSON.stringify(auditEvent(entry, this.#takeDropped()))}\n`;
    this.#bytes += line.length;
    this.#stream.write(line);
    if (this.#bytes > MAX_BYTES) this.#rotate();
  }

  close(): Promise<void> {
    return new Promise((resolve) => this.#stream.end(resolve));
  }

  #takeDropped(): number {
    const dropped = this.#dropped;
    this.#dropped = 0;
    return dropped;
  }

  #rotate(): void {
    this.#stream.end();
    renameSync(this.#path, `${this.#path}.1`);
    this.#stream = createWriteStream(this.#path, { flags: 'a', mode: 0o600 });
    this.#bytes = 0;
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
