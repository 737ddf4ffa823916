import { createWriteStream, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { NodeImages } from '../engine/node/images/create-images.ts';
import { createLog } from '../lib/log.ts';
import { fullName, readReference } from '../lib/oci/reference.ts';
import { SharedImages } from '../lib/oci/shared-images.ts';
import { humanSize, imageTable, withTenants } from './image-table.ts';
import { imagesInUse } from './images-in-use.ts';
import { imagesFolder, nodeImages } from './node-images.ts';
import { sharedImagesFolder } from './shared-images-folder.ts';

/** Commands that work on the images of an instance, whether it runs or not. */
interface ImageCommand {
  data: string;
}

export async function listImages({ data, output }: ImageCommand & { output: string }): Promise<void> {
  // Looking makes nothing: an instance that was never there stays so.
  const stored = existsSync(imagesFolder(data)) ? await (await open(data)).list() : [];
  const images = withTenants(stored, await new SharedImages(sharedImagesFolder(data)).names());
  if (output === 'json') process.stdout.write(`${JSON.stringify(images, null, 2)}\n`);
  else if (images.length === 0)
    process.stdout.write('No images yet. A Pod pulls what it needs; `tenantry image pull` and `tenantry image load` do it beforehand.\n');
  else process.stdout.write(imageTable(images));
}

export async function pullNow({ data, reference, username, passwordStdin }: ImageCommand & PullCommand): Promise<void> {
  const images = await open(data);
  const credentials = username === undefined ? [] : [{ registry: registryOf(reference), username, password: passwordFrom(passwordStdin) }];
  if (process.stderr.isTTY) process.stderr.write(`Pulling ${reference} ...\n`);
  const started = performance.now();
  const { id } = await interruptible((signal) => images.ensure({ reference, policy: 'Always', credentials, signal }));
  const digest = id.slice(id.indexOf('@') + 1);
  const stored = (await images.list()).find((image) => image.digest === digest);
  const size = stored === undefined ? 'built in' : humanSize(stored.sizeBytes);
  process.stdout.write(`${id}\n${size}, ${((performance.now() - started) / 1000).toFixed(1)} s\n`);
}

interface PullCommand {
  reference: string;
  username?: string;
  passwordStdin?: boolean;
}

interface LoadCommand {
  file: string;
  name?: string;
  /** Workers of tenants' clusters get it too. */
  tenants?: boolean;
}

export async function loadImage({ data, file, name, tenants }: ImageCommand & LoadCommand): Promise<void> {
  const images = await open(data);
  const shared = tenants === true ? new SharedImages(sharedImagesFolder(data)) : undefined;
  const load = (path: string) => interruptible((signal) => images.load(path, { name, shared, signal }));
  process.stdout.write(imageTable(file === '-' ? await withStandardInput(load) : await load(resolve(file))));
}

export async function removeImages({ data, references }: ImageCommand & { references: string[] }): Promise<void> {
  const images = await open(data);
  const inUse = await imagesInUse(data);
  const shared = new SharedImages(sharedImagesFolder(data));
  for (const reference of references) {
    const read = readReference(reference);
    if (typeof read !== 'string' && (await shared.remove(fullName(read), Date.now()))) {
      process.stdout.write(`${reference} is no longer for tenants\n`);
    }
    const freed = await images.remove(reference, inUse);
    process.stdout.write(
      freed === 0 ? `${reference} is no longer a name of its image\n` : `${reference} removed, ${humanSize(freed)} freed\n`,
    );
  }
}

function open(data: string): Promise<NodeImages> {
  return nodeImages(data, createLog({ level: 'warn', format: 'pretty' }));
}

/** What comes by a pipe is read more than once, so it becomes a file first. */
async function withStandardInput<T>(work: (path: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'tenantry-load-'));
  try {
    const path = join(folder, 'standard-input');
    await pipeline(process.stdin, createWriteStream(path, { mode: 0o600 }));
    return await work(path);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Ctrl-C leaves nothing half done behind. */
async function interruptible<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  const interrupt = () => controller.abort();
  process.once('SIGINT', interrupt).once('SIGTERM', interrupt);
  try {
    return await work(controller.signal);
  } finally {
    process.off('SIGINT', interrupt).off('SIGTERM', interrupt);
  }
}

function registryOf(reference: string): string {
  const first = reference.split('/')[0];
  return reference.includes('/') && (/[.:]/.test(first) || first === 'localhost') ? first : 'docker.io';
}

function passwordFrom(stdin: boolean | undefined): string {
  if (stdin !== true) throw new Error('Cannot log in: a user name needs a password; give it with --password-stdin, where nobody sees it');
  return readFileSync(0, 'utf8').replace(/\r?\n$/, '');
}
