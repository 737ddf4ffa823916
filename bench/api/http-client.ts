import { connect, type TLSSocket } from 'node:tls';

export interface Target {
  host: string;
  port: number;
  ca: string;
  token: string;
}

export interface Answer {
  status: number;
  bytes: number;
  body: string;
}

/**
 * One HTTP/1.1 connection that does as little as possible: the load generator shares the machine with what it measures.
 * Bodies are counted, and kept only when asked for.
 */
export class Connection {
  readonly #socket: TLSSocket;
  readonly #target: Target;
  #waiting: { resolve(answer: Answer): void; reject(error: Error): void; keep: boolean } | undefined;
  #buffer: Buffer = Buffer.alloc(0);
  #state: 'head' | 'sized' | 'chunked' = 'head';
  #remaining = 0;
  #status = 0;
  #bytes = 0;
  #kept: Buffer[] = [];

  private constructor(socket: TLSSocket, target: Target) {
    this.#socket = socket;
    this.#target = target;
    socket.on('data', (chunk: Buffer) => this.#read(chunk));
    socket.on('error', (error) => this.#waiting?.reject(error));
    socket.on('close', () => this.#waiting?.reject(new Error('connection closed')));
  }

  static open(target: Target): Promise<Connection> {
    return new Promise((resolve, reject) => {
      const socket = connect(
        { host: target.host, port: target.port, ca: target.ca, servername: 'localhost', ALPNProtocols: ['http/1.1'] },
        () => {
          socket.setNoDelay(true);
          resolve(new Connection(socket, target));
        },
      );
      socket.once('error', reject);
    });
  }

  /** Bodies are ASCII. */
  request(method: string, path: string, body?: string, contentType = 'application/json', keep = false): Promise<Answer> {
    const length = body === undefined ? '' : `Content-Type: ${contentType}\r\nContent-Length: ${body.length}\r\n`;
    const head = `${method} ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${this.#target.token}\r\nAccept: application/json\r\nUser-Agent: bench/1\r\n${length}\r\n`;
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject, keep };
      this.#socket.write(body === undefined ? head : head + body);
    });
  }

  /** Starts a watch; every chunk that arrives is handed over. */
  stream(path: string, onData: (chunk: Buffer) => void): void {
    this.#socket.removeAllListeners('data');
    this.#socket.on('data', onData);
    this.#socket.write(
      `GET ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${this.#target.token}\r\nAccept: application/json\r\n\r\n`,
    );
  }

  close(): void {
    this.#socket.destroy();
  }

  #read(chunk: Buffer): void {
    this.#buffer = this.#buffer.length === 0 ? chunk : Buffer.concat([this.#buffer, chunk]);
    while (this.#step());
  }

  #step(): boolean {
    switch (this.#state) {
      case 'head':
        return this.#readHead();
      case 'sized':
        return this.#readSized();
      case 'chunked':
        return this.#readChunk();
    }
  }

  #readHead(): boolean {
    const end = this.#buffer.indexOf('\r\n\r\n');
    if (end < 0) return false;
    const head = this.#buffer.toString('latin1', 0, end);
    this.#buffer = this.#buffer.subarray(end + 4);
    this.#status = Number(head.slice(9, 12));
    this.#bytes = 0;
    this.#kept = [];
    const length = /\r\ncontent-length: *(\d+)/i.exec(head);
    if (length !== null) {
      this.#state = 'sized';
      this.#remaining = Number(length[1]);
    } else {
      this.#state = 'chunked';
    }
    return true;
  }

  #take(count: number): void {
    this.#bytes += count;
    if (this.#waiting?.keep === true) this.#kept.push(Buffer.from(this.#buffer.subarray(0, count)));
    this.#buffer = this.#buffer.subarray(count);
  }

  #readSized(): boolean {
    const count = Math.min(this.#remaining, this.#buffer.length);
    this.#take(count);
    this.#remaining -= count;
    if (this.#remaining > 0) return false;
    this.#finish();
    return this.#buffer.length > 0;
  }

  #readChunk(): boolean {
    const line = this.#buffer.indexOf('\r\n');
    if (line < 0) return false;
    const size = Number.parseInt(this.#buffer.toString('latin1', 0, line), 16);
    if (this.#buffer.length < line + 2 + size + 2) return false;
    this.#buffer = this.#buffer.subarray(line + 2);
    this.#take(size);
    this.#buffer = this.#buffer.subarray(2);
    if (size === 0) this.#finish();
    return this.#buffer.length > 0;
  }

  #finish(): void {
    this.#state = 'head';
    const waiting = this.#waiting;
    this.#waiting = undefined;
    waiting?.resolve({ status: this.#status, bytes: this.#bytes, body: Buffer.concat(this.#kept).toString('utf8') });
  }
}
