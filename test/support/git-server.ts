import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { realClock } from '../../src/lib/clock.ts';
import { ensurePki } from '../../src/lib/pki/ensure-pki.ts';

/** A repository behind HTTPS, with a password if it has one. Needs git. */
export class GitServer {
  readonly ca: string;
  /** Requests that git made. */
  requests = 0;
  /** Wanted of every request; undefined: nothing. */
  password: string | undefined;
  /** Takes requests and never answers. */
  hangs = false;
  readonly #folder: string;
  readonly #server: Server;

  private constructor(folder: string, ca: string, certificate: { cert: string; key: string }) {
    this.#folder = folder;
    this.ca = ca;
    this.#server = createServer(certificate, (request, response) => this.#answer(request, response));
  }

  static async start(address = '127.0.0.1'): Promise<GitServer> {
    const folder = mkdtempSync(join(tmpdir(), 'tenantry-git-server-'));
    const pki = await ensurePki(join(folder, 'pki'), { addresses: [address], clock: realClock });
    const certificate = { cert: pki.serving.certificatePem, key: pki.serving.keyPem };
    const server = new GitServer(folder, pki.authority.certificatePem, certificate);
    mkdirSync(server.#work);
    server.#git('init', '-q', '-b', 'main', '.');
    server.#git('config', 'uploadpack.allowAnySHA1InWant', 'true');
    await new Promise<void>((resolve) => void server.#server.listen(0, address, resolve));
    return server;
  }

  get url(): string {
    const { address, port } = this.#server.address() as AddressInfo;
    return `https://${address}:${port}/work/.git`;
  }

  /** @returns the new commit */
  commit(files: Record<string, string | Buffer>): string {
    for (const [name, content] of Object.entries(files)) {
      mkdirSync(dirname(join(this.#work, name)), { recursive: true });
      writeFileSync(join(this.#work, name), content);
    }
    this.#git('add', '-A');
    this.#git('-c', 'user.name=t', '-c', 'user.email=t@example.com', 'commit', '-q', '-m', 'x');
    return this.#git('rev-parse', 'HEAD');
  }

  tag(name: string): void {
    this.#git('tag', name);
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => void this.#server.close(resolve));
    rmSync(this.#folder, { recursive: true, force: true });
  }

  get #work(): string {
    return join(this.#folder, 'work');
  }

  #git(...args: string[]): string {
    const env = { PATH: process.env['PATH'], HOME: this.#folder, GIT_CONFIG_NOSYSTEM: '1' };
    return execFileSync('git', args, { cwd: this.#work, env, encoding: 'utf8' }).trim();
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    this.requests++;
    if (this.hangs) return;
    const expected = this.password && `Basic ${Buffer.from(`me:${this.password}`).toString('base64')}`;
    if (expected !== undefined && request.headers.authorization !== expected) {
      response.writeHead(401, { 'www-authenticate': 'Basic realm="git"' }).end();
      return;
    }
    const { pathname, search } = new URL(request.url!, 'https://x');
    const child = spawn('git', ['http-backend'], {
      env: {
        PATH: process.env['PATH'],
        HOME: this.#folder,
        GIT_PROJECT_ROOT: this.#folder,
        GIT_HTTP_EXPORT_ALL: '1',
        PATH_INFO: pathname,
        QUERY_STRING: search.slice(1),
        REQUEST_METHOD: request.method,
        CONTENT_TYPE: request.headers['content-type'] ?? '',
        HTTP_CONTENT_ENCODING: request.headers['content-encoding'] ?? '',
        GIT_PROTOCOL: String(request.headers['git-protocol'] ?? ''),
      },
    });
    request.pipe(child.stdin);
    const chunks: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
    child.once('close', () => answerOf(Buffer.concat(chunks), response));
  }
}

/** What a CGI program writes: headers, an empty line, the body. */
function answerOf(output: Buffer, response: ServerResponse): void {
  const end = output.indexOf('\r\n\r\n');
  const headers = output
    .subarray(0, end)
    .toString()
    .split('\r\n')
    .map((line) => line.split(/: */, 2) as [string, string]);
  const status = headers.find(([name]) => name.toLowerCase() === 'status')?.[1];
  response.writeHead(Number.parseInt(status ?? '200', 10), Object.fromEntries(headers.filter(([name]) => name.toLowerCase() !== 'status')));
  response.end(output.subarray(end + 4));
}
