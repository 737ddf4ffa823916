import { createHash } from 'node:crypto';

export interface RegistryCredential {
  /** Host, with port if any, and perhaps a path prefix, as in the keys of a Docker config. */
  registry: string;
  username: string;
  password: string;
}

const HUB = 'docker.io';
const HUB_KEY = 'index.docker.io';

/**
 * The credentials for an image, the most specific first, as the kubelet chooses them: the key is a host, perhaps with `*` inside its
 * labels, and perhaps a path that the image's name must begin with. Keys of Docker Hub stand for it when nothing else fits.
 * @param name the repository with its registry, as in `registry.example/team/app`
 */
export function credentialsFor(name: string, credentials: readonly RegistryCredential[]): RegistryCredential[] {
  const keyed = credentials.map((credential) => ({ key: credentialKey(credential.registry), credential }));
  const matching = keyed.filter(({ key }) => key !== undefined && matches(key, name));
  // Stable: of several with the same key, the order of the Pod's secrets counts.
  matching.sort((a, b) => (a.key! < b.key! ? 1 : a.key! > b.key! ? -1 : 0));
  const found = matching.length > 0 || !name.startsWith(`${HUB}/`) ? matching : keyed.filter(({ key }) => key === HUB_KEY);
  return found.map(({ credential }) => credential);
}

/** What is kept of a credential to recognise it later: nothing that could be used in its place. */
export function credentialHash(credential: RegistryCredential): string {
  const parts = [credentialKey(credential.registry) ?? '', credential.username, credential.password];
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}

/** The key of a Docker config without scheme and API version: `https://index.docker.io/v1/` is `index.docker.io`. */
function credentialKey(registry: string): string | undefined {
  const plain = registry.replace(/^https?:\/\//, '');
  const slash = plain.indexOf('/');
  if (slash === -1) return plain === '' ? undefined : plain;
  const host = plain.slice(0, slash);
  let path = plain.slice(slash);
  if (path.startsWith('/v2/') || path.startsWith('/v1/')) path = path.slice('/v2'.length);
  return host === '' ? undefined : path === '/' ? host : host + path;
}

function matches(key: string, name: string): boolean {
  const wanted = split(key);
  const given = split(name);
  if (wanted.port !== given.port || wanted.labels.length !== given.labels.length) return false;
  if (!given.path.startsWith(wanted.path)) return false;
  return wanted.labels.every((label, index) => globMatches(label, given.labels[index]));
}

function split(location: string): { labels: string[]; port: string; path: string } {
  const slash = location.indexOf('/');
  const authority = slash === -1 ? location : location.slice(0, slash);
  const port = /:(\d+)$/.exec(authority)?.[1] ?? '';
  const host = port === '' ? authority : authority.slice(0, -port.length - 1);
  return { labels: host.split('.'), port, path: slash === -1 ? '' : location.slice(slash) };
}

/** `*` and `?` within one label. Linear: a star gives back only to the last one. */
function globMatches(glob: string, text: string): boolean {
  let at = 0;
  let position = 0;
  let star = -1;
  let resume = 0;
  while (position < text.length) {
    if (glob[at] === '*') {
      star = at++;
      resume = position;
    } else if (at < glob.length && (glob[at] === '?' || glob[at] === text[position])) {
      at++;
      position++;
    } else if (star === -1) {
      return false;
    } else {
      at = star + 1;
      position = ++resume;
    }
  }
  while (glob[at] === '*') at++;
  return at === glob.length;
}
