import { lchown, mkdir, readdir, readFile, realpath } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { enclosedService, missingForServices } from '../areas/clusters/access/enclosure/enclosed-service.ts';
import { packagesOf } from '../areas/clusters/machines/image/product-files.ts';
import { freeUser, SERVICE_USERS } from '../areas/clusters/machines/model/free-user.ts';
import { SharedImages } from '../lib/oci/shared-images.ts';
import { readIfPresent, replaceFile } from '../lib/pki/private-file.ts';
import { ENVIRONMENT } from '../lib/run-command.ts';
import { sharedImagesFolder } from './shared-images-folder.ts';

/** Where it finds what it keeps, when it is enclosed. */
const CACHE = '/cache';
const SHARED = '/shared';
/** Authorities that an operator has Node trust besides its own. */
const AUTHORITIES = ['NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'SSL_CERT_DIR'];
/** What else it goes by. There may be passwords in others that are none of its business. */
const VARIABLES = ['HTTPS_PROXY', 'HTTP_PROXY', 'NO_PROXY'].flatMap((name) => [name, name.toLowerCase()]).concat('NODE_OPTIONS');
/** Whatever else the machine asks for names, these are what a program without its files can do. */
const LOOKUP = 'hosts: files dns\n';
/** All that its program has outside of itself: how to listen where Node cannot. */
const PACKAGES = /^(koffi|@koromix\/.*)$/;
const COPIED = ['resolv.conf', 'hosts'];

export interface ServicesCommand {
  command: string[];
  env: Record<string, string>;
}

/**
 * The command that runs names and images for workers, whom every tenant's workers speak to: as a user of its own that may listen on port 53, with the
 * product's programs, its cache, and where the machine asks for names. Who is not root has no rights to take away.
 */
export async function servicesCommand(data: string, program: string): Promise<ServicesCommand> {
  const cache = join(data, 'clusters/images');
  await mkdir(cache, { recursive: true, mode: 0o700 });
  const shared = sharedImagesFolder(data);
  await new SharedImages(shared).open();
  if (process.getuid?.() !== 0)
    return {
      command: [process.execPath, program, '--cache', cache, '--shared', shared],
      env: { ...ENVIRONMENT, ...ours([...VARIABLES, ...AUTHORITIES]) },
    };
  const missing = await missingForServices();
  if (missing !== undefined) throw new Error(`Cannot serve names and images to workers: ${missing}; install it`);
  const user = freeUser(data, [], SERVICE_USERS)!;
  // What is in there its program made: a link may lead to any file of the machine.
  for (const path of [cache, ...(await readdir(cache)).map((name) => join(cache, name))]) await lchown(path, user, user);
  await copyNameSettings(data);
  const programs = dirname(program);
  const product = dirname(programs);
  const authorities = AUTHORITIES.filter((name) => process.env[name]).map((name) => ({ name, place: `/authorities/${name}` }));
  const command = await enclosedService({
    user,
    rights: ['net_bind_service'],
    reads: [programs, join(product, 'package.json')],
    shows: {
      '/etc': settingsFolder(data),
      [SHARED]: shared,
      ...Object.fromEntries(authorities.map(({ name, place }) => [place, process.env[name]!])),
      ...(await packages(product)),
    },
    owns: { [CACHE]: cache },
    command: [await realpath(process.execPath), program, '--cache', CACHE, '--shared', SHARED],
  });
  return {
    command,
    env: { ...ENVIRONMENT, ...ours(VARIABLES), ...Object.fromEntries(authorities.map(({ name, place }) => [name, place])) },
  };
}

function ours(names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])));
}

async function packages(product: string): Promise<Record<string, string>> {
  const wanted = [...(await packagesOf(product))].filter(([name]) => PACKAGES.test(name));
  return Object.fromEntries(
    await Promise.all(wanted.map(async ([name, folder]) => [join(product, 'node_modules', name), await realpath(folder)])),
  ) as Record<string, string>;
}

/** Brings what it sees of how this machine asks for names up to date. In a folder: a file that is replaced would stay the old one for it. */
export async function copyNameSettings(data: string): Promise<void> {
  const folder = settingsFolder(data);
  await mkdir(folder, { recursive: true, mode: 0o755 });
  const texts = await Promise.all(COPIED.map((name) => readFile(join('/etc', name), 'utf8').catch(() => '')));
  for (const [name, text] of [...COPIED.map((name, index) => [name, texts[index]]), ['nsswitch.conf', LOOKUP]]) {
    const path = join(folder, name);
    if ((await readIfPresent(path)) !== text) await replaceFile(path, text, 0o644);
  }
}

function settingsFolder(data: string): string {
  return join(data, 'clusters/services/etc');
}
