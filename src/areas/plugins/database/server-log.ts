import { Client } from 'pg';

/** Up to where the log was read. */
export interface LogPosition {
  file: string;
  offset: number;
}

export interface LogPart {
  lines: string[];
  position: LogPosition;
  /** There is more to be read at once. */
  hasMore: boolean;
}

/** Small enough to be looked through without holding anybody up. */
const CHUNK_BYTES = 128 * 1024;

/**
 * Reads PostgreSQL's own log, as its superuser, through the server: what it refused is nowhere else. Only logs in JSON
 * (`logging_collector = on`, `log_destination = jsonlog`); with others there is nothing to read.
 */
export class ServerLog {
  readonly #dsn: string;
  #client: Client | undefined;

  constructor(dsn: string) {
    this.#dsn = dsn;
  }

  /** What follows the position; from the beginning of the current file without one. Undefined: the server keeps no such log, or does not show it. */
  async read(position: LogPosition | undefined): Promise<LogPart | undefined> {
    try {
      return await this.#read(position);
    } catch (error) {
      await this.close();
      // Not a superuser.
      if ((error as { code?: string }).code === '42501') return undefined;
      throw error;
    }
  }

  async close(): Promise<void> {
    const client = this.#client;
    this.#client = undefined;
    await client?.end().catch(() => {});
  }

  async #read(position: LogPosition | undefined): Promise<LogPart | undefined> {
    const files = await this.#files();
    const current = files.at(-1);
    if (current === undefined) return undefined;
    const at = files.findIndex(({ file }) => file === position?.file);
    // One that is gone was too old to be kept.
    const file = at === -1 ? (position === undefined ? current : files[0]) : files[at];
    const offset = at === -1 ? 0 : position!.offset;
    const bytes = file.size > offset ? await this.#bytes(file.file, offset) : Buffer.alloc(0);
    const end = bytes.lastIndexOf(0x0a) + 1;
    // A line longer than a part is none that we look for.
    const taken = end === 0 && bytes.length === CHUNK_BYTES ? bytes.length : end;
    const isRead = offset + taken >= file.size;
    const next = files[files.indexOf(file) + 1];
    const rest = { file: file.file, offset: offset + taken };
    return {
      lines: bytes.subarray(0, end).toString().split('\n').slice(0, -1),
      position: isRead && next ? { file: next.file, offset: 0 } : rest,
      hasMore: next !== undefined || (taken > 0 && !isRead),
    };
  }

  /** The oldest first, up to the one that is written now. */
  async #files(): Promise<{ file: string; size: number }[]> {
    const { rows } = await this.#ask<{ file: string; size: string; now: string | null }>(
      `SELECT current_setting('log_directory') || '/' || name AS file, size, pg_current_logfile('jsonlog') AS now
       FROM pg_ls_logdir() WHERE name LIKE '%.json' AND pg_current_logfile('jsonlog') IS NOT NULL ORDER BY modification, name`,
    );
    const files = rows.map(({ file, size }) => ({ file, size: Number(size) }));
    const end = files.findIndex(({ file }) => file === rows[0].now);
    return end === -1 ? files : [...files.filter((_, index) => index !== end), files[end]];
  }

  async #bytes(file: string, offset: number): Promise<Buffer> {
    const { rows } = await this.#ask<{ bytes: Buffer | null }>('SELECT pg_read_binary_file($1, $2, $3, true) AS bytes', [
      file,
      offset,
      CHUNK_BYTES,
    ]);
    return rows[0].bytes ?? Buffer.alloc(0);
  }

  async #ask<Row extends object>(sql: string, values?: unknown[]): Promise<{ rows: Row[] }> {
    if (!this.#client) {
      const client = new Client({ connectionString: this.#dsn, connectionTimeoutMillis: 5_000, application_name: 'tenantry-audit' });
      client.on('error', () => {});
      await client.connect();
      this.#client = client;
    }
    return this.#client.query<Row & Record<string, unknown>>(sql, values);
  }
}
