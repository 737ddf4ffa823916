import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { request } from 'node:https';
import type { IncomingMessage } from 'node:http';
import { pipeline } from 'node:stream/promises';
import type { ResolvedContext } from '../client/config/kubeconfig.ts';
import { instanceContext } from './instance.ts';

/** Streams a consistent backup of a running instance into a file. The file appears only when it is complete. */
export async function backup(options: { kubeconfig: string; file?: string }): Promise<void> {
  const context = await instanceContext(options.kubeconfig);
  const file = options.file ?? `tenantry-${new Date().toISOString().replaceAll(/[:.]/g, '-')}.backup`;
  const partial = `${file}.partial`;
  const answer = await fetchBackup(context);
  let bytes = 0;
  answer.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (process.stderr.isTTY) process.stderr.write(`\r${megabytes(bytes)} received`);
  });
  try {
    await pipeline(answer, createWriteStream(partial, { mode: 0o600 }));
    await rename(partial, file);
  } catch (error) {
    await rm(partial, { force: true }).catch(() => {});
    throw new Error(`Cannot write the backup "${file}": ${(error as Error).message}; choose another place`, { cause: error });
  }
  if (process.stderr.isTTY) process.stderr.write('\r\u001b[K');
  console.log(`Wrote ${file} (${megabytes(bytes)}). It holds Secrets and keys: keep it safe.`);
  console.log(`Restore it into an empty directory with: tenantry restore ${file} --data <dir>`);
}

function megabytes(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}

function fetchBackup({ cluster, user }: ResolvedContext): Promise<IncomingMessage> {
  const decode = (data: string | undefined) => (data === undefined ? undefined : Buffer.from(data, 'base64'));
  return new Promise((resolve, reject) => {
    const call = request(
      new URL('/tenantry/backup', cluster.server),
      {
        ca: decode(cluster['certificate-authority-data']),
        cert: decode(user['client-certificate-data']),
        key: decode(user['client-key-data']),
      },
      (answer) => {
        if (answer.statusCode === 200) resolve(answer);
        else reject(new Error(`Cannot back up "${cluster.server}": it answered ${answer.statusCode}; is it a tenantry instance?`));
      },
    );
    call.on('error', (error) =>
      reject(new Error(`Cannot back up "${cluster.server}": ${error.message}; start the instance first`, { cause: error })),
    );
    call.end();
  });
}
