import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { packTar, type TarEntry } from 'modern-tar';
import type { Image, ImageConfig } from '../../src/engine/node/images/images.ts';

/** Images made on the spot from the machine's static busybox (see nodeTools), so that no test needs a registry. */

const BUSYBOX_PATHS = ['/usr/bin/busybox', '/bin/busybox'];

/** `nobody` has no group entry with members; `app` is a member of `web`. */
const PASSWD = 'root:x:0:0:root:/root:/bin/sh\napp:x:1000:1000:app:/home/app:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n';
const GROUP = 'root:x:0:\napp:x:1000:\nweb:x:2000:app\nnogroup:x:65534:\n';
/** The same files give the same digest. */
const MADE_AT = new Date(0);
const FOLDERS = ['bin', 'etc', 'root', 'home', 'home/app', 'tmp', 'var', 'usr', 'usr/bin'];

export interface LayerFile {
  /** Without the leading slash. */
  path: string;
  content?: string | Buffer;
  /** The target of a symbolic link, instead of content. */
  link?: string;
  mode?: number;
}

/** An unpacked layer with busybox and all of its applets. Never write to it: it is shared. */
export function busyboxLayer(): string {
  return keptFolder(['busybox', busyboxPath(), statSync(busyboxPath()).size, PASSWD, GROUP], (folder) => {
    for (const name of FOLDERS) mkdirSync(join(folder, name), { recursive: true });
    chmodSync(join(folder, 'tmp'), 0o1777);
    copyFileSync(busyboxPath(), join(folder, 'bin/busybox'));
    for (const applet of applets()) symlinkSync('busybox', join(folder, 'bin', applet));
    writeFileSync(join(folder, 'etc/passwd'), PASSWD);
    writeFileSync(join(folder, 'etc/group'), GROUP);
  });
}

/** An unpacked layer of the given files, shared too. */
export function unpackedLayer(files: LayerFile[]): string {
  return keptFolder(files, (folder) => {
    for (const { path, content, link, mode } of files) {
      const target = join(folder, path);
      mkdirSync(dirname(target), { recursive: true });
      if (link !== undefined) symlinkSync(link, target);
      else writeFileSync(target, content ?? '', { mode: mode ?? 0o644 });
    }
  });
}

/** What the image store would hand to a driver: busybox, with further layers on top. */
export function busyboxImage(config: Partial<ImageConfig> = {}, layers: string[] = []): Image {
  const name = 'test.example/busybox:1';
  return {
    name,
    id: `${name}@sha256:${createHash('sha256')
      .update(JSON.stringify([config, layers]))
      .digest('hex')}`,
    config: { entrypoint: [], cmd: ['sh'], env: [], workingDir: '', user: '', ...config },
    root: { layers: [busyboxLayer(), ...layers] },
  };
}

export interface TarballOptions {
  /** An OCI image layout, or what `docker save` writes. */
  format: 'oci' | 'docker';
  /** Name and tag, as annotated in the archive: `test.example/app:1`. */
  reference: string;
  config?: Partial<ImageConfig>;
  /** Layers over busybox, the lowest first. */
  layers?: LayerFile[][];
  /** Leaves busybox out: the layers are all there is. */
  withoutBusybox?: boolean;
  architecture?: string;
}

/** Writes a tarball that `tenantry image load` takes, and says the digest of its manifest. */
export async function imageTarball(path: string, options: TarballOptions): Promise<{ digest: string }> {
  const layers = await Promise.all((options.layers ?? []).map((files) => layerTar(files)));
  if (!options.withoutBusybox) layers.unshift(await layerTar(busyboxFiles()));
  const blobs = imageBlobs(layers, options);
  const entries = options.format === 'oci' ? ociLayout(blobs, options) : dockerArchive(blobs, options);
  writeFileSync(path, await packTar(entries));
  return { digest: digestOf(blobs.manifest) };
}

/** The bytes of one image, as a registry serves them: by digest. */
export interface ImageBlobs {
  manifest: Buffer;
  config: Buffer;
  /** Compressed, in order. */
  layers: Buffer[];
  uncompressed: Buffer[];
}

export function imageBlobs(layers: Buffer[], options: Pick<TarballOptions, 'config' | 'architecture'>): ImageBlobs {
  const compressed = layers.map((layer) => gzipSync(layer));
  const config = Buffer.from(JSON.stringify(imageConfiguration(layers, options)));
  const manifest = Buffer.from(
    JSON.stringify({
      schemaVersion: 2,
      mediaType: 'application/vnd.oci.image.manifest.v1+json',
      config: descriptor('application/vnd.oci.image.config.v1+json', config),
      layers: compressed.map((layer) => descriptor('application/vnd.oci.image.layer.v1.tar+gzip', layer)),
    }),
  );
  return { manifest, config, layers: compressed, uncompressed: layers };
}

/** A layer as a tar, folders before what is in them. */
export async function layerTar(files: LayerFile[]): Promise<Buffer> {
  const folders = new Set<string>();
  const entries: TarEntry[] = [];
  for (const file of files) {
    for (let folder = dirname(file.path); folder !== '.' && folder !== '/'; folder = dirname(folder)) folders.add(folder);
    entries.push(fileEntry(file));
  }
  const folderEntries = [...folders].sort().map((name): TarEntry => ({
    header: { name: `${name}/`, type: 'directory', size: 0, mtime: MADE_AT, mode: name === 'tmp' ? 0o1777 : 0o755 },
  }));
  return Buffer.from(await packTar([...folderEntries, ...entries]));
}

export function busyboxFiles(): LayerFile[] {
  const applet = (name: string): LayerFile => ({ path: `bin/${name}`, link: 'busybox' });
  return [
    { path: 'bin/busybox', content: readFileSync(busyboxPath()), mode: 0o755 },
    ...applets().map(applet),
    { path: 'etc/passwd', content: PASSWD },
    { path: 'etc/group', content: GROUP },
    { path: 'tmp/.keep', content: '' },
  ];
}

export function digestOf(bytes: Buffer): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
}

function fileEntry({ path, content, link, mode }: LayerFile): TarEntry {
  if (link !== undefined) return { header: { name: path, type: 'symlink', linkname: link, size: 0, mode: 0o777, mtime: MADE_AT } };
  const body = Buffer.from(content ?? '');
  return { header: { name: path, type: 'file', size: body.length, mode: mode ?? 0o644, mtime: MADE_AT }, body };
}

function descriptor(mediaType: string, bytes: Buffer): object {
  return { mediaType, digest: digestOf(bytes), size: bytes.length };
}

function imageConfiguration(layers: Buffer[], { config = {}, architecture }: Pick<TarballOptions, 'config' | 'architecture'>): object {
  return {
    architecture: architecture ?? (process.arch === 'x64' ? 'amd64' : process.arch),
    os: 'linux',
    config: {
      Entrypoint: config.entrypoint,
      Cmd: config.cmd ?? ['sh'],
      Env: config.env ?? ['PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'],
      WorkingDir: config.workingDir,
      User: config.user,
      StopSignal: config.stopSignal,
    },
    rootfs: { type: 'layers', diff_ids: layers.map(digestOf) },
  };
}

function ociLayout(blobs: ImageBlobs, { reference }: TarballOptions): TarEntry[] {
  const index = {
    schemaVersion: 2,
    manifests: [
      {
        ...descriptor('application/vnd.oci.image.manifest.v1+json', blobs.manifest),
        annotations: { 'io.containerd.image.name': reference, 'org.opencontainers.image.ref.name': reference.split(':').at(-1) },
      },
    ],
  };
  const blob = (bytes: Buffer): TarEntry => fileEntry({ path: `blobs/${digestOf(bytes).replace(':', '/')}`, content: bytes });
  return [
    fileEntry({ path: 'oci-layout', content: '{"imageLayoutVersion":"1.0.0"}' }),
    fileEntry({ path: 'index.json', content: JSON.stringify(index) }),
    ...[blobs.manifest, blobs.config, ...blobs.layers].map(blob),
  ];
}

function dockerArchive(blobs: ImageBlobs, { reference }: TarballOptions): TarEntry[] {
  const configName = `${digestOf(blobs.config).slice('sha256:'.length)}.json`;
  const layerName = (bytes: Buffer): string => `${digestOf(bytes).slice('sha256:'.length)}/layer.tar`;
  const manifest = [{ Config: configName, RepoTags: [reference], Layers: blobs.uncompressed.map(layerName) }];
  return [
    ...blobs.uncompressed.map((bytes) => fileEntry({ path: layerName(bytes), content: bytes })),
    fileEntry({ path: configName, content: blobs.config }),
    fileEntry({ path: 'manifest.json', content: JSON.stringify(manifest) }),
  ];
}

function busyboxPath(): string {
  for (const path of BUSYBOX_PATHS) {
    try {
      // A busybox that needs libraries is of no use in an image of its own.
      if (!readFileSync(path).includes('/ld-linux')) return path;
    } catch {
      continue;
    }
  }
  throw new Error('Cannot find "busybox": no static one on this machine; call nodeTools("busybox") first.');
}

function applets(): string[] {
  const names = execFileSync(busyboxPath(), ['--list'], { encoding: 'utf8' }).trim().split('\n');
  return names.filter((name) => name !== 'busybox');
}

/** Layers are kept from run to run under the hash of what is in them: workers of tests are ended before they could clean up. */
function keptFolder(content: unknown, fill: (folder: string) => void): string {
  const cache = join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'tenantry', 'test-layers');
  const folder = join(cache, createHash('sha256').update(JSON.stringify(content)).digest('hex').slice(0, 24));
  if (existsSync(folder)) return folder;
  mkdirSync(cache, { recursive: true });
  const draft = mkdtempSync(join(cache, 'draft-'));
  chmodSync(draft, 0o755);
  fill(draft);
  try {
    renameSync(draft, folder);
  } catch {
    // Another test was faster.
    rmSync(draft, { recursive: true });
  }
  return folder;
}
