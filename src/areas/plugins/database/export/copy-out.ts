import type { Client, Submittable, Connection } from 'pg';

interface Wire {
  query(sql: string): void;
  stream: { pause(): void; resume(): void };
}

/** `COPY ... TO STDOUT`, piece by piece; nothing more is read from the server while a piece is being written. */
export function copyOut(client: Client, sql: string, write: (text: string) => Promise<void> | void): Promise<void> {
  return new Promise((resolve, reject) => {
    client.query(new CopyOut(sql, write, (error) => (error === undefined ? resolve() : reject(error as Error))) as Submittable);
  });
}

/** The part of a query object that the driver calls. */
class CopyOut {
  readonly #sql: string;
  readonly #write: (text: string) => Promise<void> | void;
  readonly #end: (error?: unknown) => void;
  #failure: unknown;
  #written: Promise<void> = Promise.resolve();

  constructor(sql: string, write: (text: string) => Promise<void> | void, end: (error?: unknown) => void) {
    this.#sql = sql;
    this.#write = write;
    this.#end = end;
  }

  submit(connection: Connection): void {
    (connection as unknown as Wire).query(this.#sql);
  }

  handleCopyData({ chunk }: { chunk: Buffer }, connection: Connection): void {
    const { stream } = connection as unknown as Wire;
    // A line each, and whole characters.
    const text = chunk.toString();
    stream.pause();
    this.#written = this.#written
      .then(() => (this.#failure === undefined ? this.#write(text) : undefined))
      .catch((error: unknown) => void (this.#failure ??= error))
      .then(() => stream.resume());
  }

  handleError(error: unknown): void {
    this.#failure ??= error;
    void this.#written.then(() => this.#end(this.#failure));
  }

  handleReadyForQuery(): void {
    void this.#written.then(() => this.#end(this.#failure));
  }

  handleRowDescription(): void {}
  handleDataRow(): void {}
  handlePortalSuspended(): void {}
  handleEmptyQuery(): void {}
  handleCommandComplete(): void {}
}
