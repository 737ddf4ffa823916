import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { fullName, repositoryName, type ImageReference } from '../../../lib/oci/reference.ts';
import { ImageError, type Image } from './images.ts';

/** An image that is part of the product: no files of its own, a program of ours or of the machine. */
export interface BuiltInImage {
  /** After `tenantry.dev/`. */
  name: string;
  entrypoint: string[];
  cmd: string[];
  /** `NAME=value`. */
  env: string[];
}

export interface BuiltInImages {
  /** Of the product; the only tag there is, besides `latest`. */
  version: string;
  images: readonly BuiltInImage[];
}

export const BUILT_IN_REGISTRY = 'tenantry.dev';
const PATH = 'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/**
 * Programs that start others of strangers need a first process that takes what those leave behind: Node waits only for its own children, and
 * the others would stay as zombies until there is no number left for a new process. A shell does; signals it passes on.
 */
const REAPER =
  'trap "kill -TERM \\$p 2>/dev/null" TERM INT; "$@" & p=$!; while :; do wait $p; s=$?; kill -0 $p 2>/dev/null || exit $s; done';

/**
 * Of programs that handle many small objects: with the young generation that Node begins with, and keeps where memory is limited, they are collected
 * several times a second, and most of what is young is copied once for nothing.
 */
const ROOM_FOR_THE_YOUNG = ['--min-semi-space-size=8', '--max-semi-space-size=8'];
/** The same, of one whose container has its limit of memory from the author of a Runtime: what it takes is missing for the Runs in there. */
const LITTLE_ROOM_FOR_THE_YOUNG = ['--min-semi-space-size=2', '--max-semi-space-size=2'];
/** Of programs with a small heap that share few cores with what they work for: threads that collect it cost more than they save. */
const NO_COLLECTING_THREADS = '--single-threaded-gc';

/**
 * @param nodeBinary the Node that runs this program
 * @param programFolder where the built programs are (`dist`)
 */
export function standardBuiltIns(version: string, nodeBinary: string, programFolder: string): BuiltInImages {
  return {
    version,
    images: [
      { name: 'hello', entrypoint: [nodeBinary, join(programFolder, 'hello.js')], cmd: [], env: [PATH, 'PORT=8080'] },
      { name: 'tools', entrypoint: [], cmd: ['/bin/sh'], env: [PATH] },
      { name: 'ingress', entrypoint: [nodeBinary, join(programFolder, 'ingress.js')], cmd: [], env: [PATH] },
      {
        name: 'runtimed',
        entrypoint: [nodeBinary, ...ROOM_FOR_THE_YOUNG, NO_COLLECTING_THREADS, join(programFolder, 'runtimed.js')],
        cmd: [],
        env: [PATH],
      },
      { name: 'runtime-maintainer', entrypoint: [nodeBinary, join(programFolder, 'runtime-maintainer.js')], cmd: [], env: [PATH] },
      ...['bash', 'python', 'node'].map((language) => ({
        name: `runtime-${language}`,
        entrypoint: [
          '/bin/sh',
          '-c',
          REAPER,
          'init',
          nodeBinary,
          ...LITTLE_ROOM_FOR_THE_YOUNG,
          NO_COLLECTING_THREADS,
          join(programFolder, 'runtime-server.js'),
          language,
        ],
        cmd: [],
        env: [PATH],
      })),
    ],
  };
}

/** @throws ImageError ErrImagePull for one that there is not */
export function builtInImage(reference: ImageReference, { version, images }: BuiltInImages): Image {
  const found = images.find(({ name }) => name === reference.repository);
  if (found === undefined) {
    const known = images.map(({ name }) => `${BUILT_IN_REGISTRY}/${name}`).join(', ');
    throw new ImageError('ErrImagePull', `Cannot pull "${reference.text}": there is no such built-in image; there are ${known}`);
  }
  const digest = `sha256:${createHash('sha256')
    .update(JSON.stringify([found.name, version]))
    .digest('hex')}`;
  const wanted = reference.digest ?? reference.tag;
  if (wanted !== digest && wanted !== 'latest' && wanted !== version) {
    throw new ImageError(
      'ErrImagePull',
      `Cannot pull "${reference.text}": built-in images have the version of the product, ${version}; leave the tag out`,
    );
  }
  const { name, entrypoint, cmd, env } = found;
  return {
    name: fullName(reference),
    id: `${repositoryName(reference)}@${digest}`,
    config: { entrypoint, cmd, env, workingDir: '', user: '' },
    root: { builtIn: name },
  };
}
