import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';

/** A gateway that speaks S3 over a folder: somebody else's reading of the protocol, signatures included. */
const MODULE = 'github.com/versity/versitygw/cmd/versitygw';
const VERSION = 'v1.8.0';

export interface S3Gateway {
  endpoint: string;
  region: string;
  bucket: string;
  credentials: { accessKeyId: string; secretAccessKey: string };
  stop(): Promise<void>;
}

export async function startS3Gateway(): Promise<S3Gateway> {
  const program = await built();
  const root = mkdtempSync(join(tmpdir(), 'tenantry-gateway-'));
  const bucket = 'artifacts';
  mkdirSync(join(root, bucket));
  const port = await freePort();
  const credentials = { accessKeyId: 'test-key', secretAccessKey: 'test/secret+key' };
  const region = 'eu-test-1';
  const child = spawn(program, ['--port', `127.0.0.1:${port}`, '--region', region, '--quiet', 'posix', root], {
    stdio: 'ignore',
    env: { PATH: process.env['PATH'], ROOT_ACCESS_KEY: credentials.accessKeyId, ROOT_SECRET_KEY: credentials.secretAccessKey },
  });
  const endpoint = `http://127.0.0.1:${port}`;
  await answers(endpoint, child);
  return {
    endpoint,
    region,
    bucket,
    credentials,
    async stop() {
      const ended = new Promise((resolve) => void child.once('exit', resolve));
      child.kill();
      await ended;
      rmSync(root, { recursive: true, force: true });
    },
  };
}

async function built(): Promise<string> {
  const cache = process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache');
  const folder = join(cache, 'tenantry', `versitygw-${VERSION}`);
  const program = join(folder, 'versitygw');
  if (existsSync(program)) return program;
  mkdirSync(folder, { recursive: true });
  const child = spawn('go', ['install', `${MODULE}@${VERSION}`], { stdio: 'inherit', env: { ...process.env, GOBIN: folder } });
  const code = await new Promise((resolve) => void child.once('exit', resolve));
  if (code !== 0) throw new Error(`Cannot build "${MODULE}": go ended with ${String(code)}; this test needs Go`);
  return program;
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}

async function answers(url: string, child: ChildProcess): Promise<void> {
  for (let attempt = 0; attempt < 200; attempt++) {
    if (child.exitCode !== null) break;
    if (
      await fetch(url).then(
        () => true,
        () => false,
      )
    )
      return;
    await new Promise((resolve) => void setTimeout(resolve, 50));
  }
  throw new Error(`the gateway did not answer at ${url}`);
}
