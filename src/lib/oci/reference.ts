/** An image reference in full: nothing is left to defaults. */
export interface ImageReference {
  /** As the Pod wrote it. */
  text: string;
  /** Host, with port if any: `docker.io`, `registry.example:5000`. */
  registry: string;
  /** Path on the registry: `library/busybox`. */
  repository: string;
  /** Absent only when there is a digest. */
  tag?: string;
  digest?: string;
}

const DEFAULT_REGISTRY = 'docker.io';
const MAX_REPOSITORY_LENGTH = 255;
/** Longer than any valid reference; patterns are not run on more. */
const MAX_REFERENCE_LENGTH = 4096;

const DOMAIN_PART = '(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])';
const DOMAIN = `(?:${DOMAIN_PART}(?:\\.${DOMAIN_PART})*|\\[[a-fA-F0-9:]+\\])(?::[0-9]+)?`;
const PATH_PART = '[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*';
const PATH = `${PATH_PART}(?:/${PATH_PART})*`;
const TAG = '[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}';
const DIGEST = '[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}';
const REFERENCE = new RegExp(`^(${DOMAIN})/(${PATH})(?::(${TAG}))?(?:@(${DIGEST}))?$`);
const IDENTIFIER = /^[a-f0-9]{64}$/;
const DIGEST_LENGTHS = new Map([
  ['sha256', 64],
  ['sha384', 96],
  ['sha512', 128],
]);

/** `docker.io/library/busybox`. */
export function repositoryName(reference: ImageReference): string {
  return `${reference.registry}/${reference.repository}`;
}

/** `docker.io/library/busybox:latest`; by digest when the reference says one, as a digest outweighs a tag. */
export function fullName(reference: ImageReference): string {
  const name = repositoryName(reference);
  return reference.digest === undefined ? `${name}:${reference.tag}` : `${name}@${reference.digest}`;
}

/** Reads a reference by Docker's rules; what is wrong with it, in Docker's words, when it is none. */
export function readReference(text: string): ImageReference | string {
  if (text.length > MAX_REFERENCE_LENGTH) return 'invalid reference format';
  if (IDENTIFIER.test(text)) return `invalid repository name (${text}), cannot specify 64-byte hexadecimal strings`;
  const [registry, rest] = splitRegistry(text);
  const remote = rest.split(':', 1)[0];
  if (remote.toLowerCase() !== remote) return `invalid reference format: repository name (${remote}) must be lowercase`;
  const whole = `${registry}/${rest}`;
  const match = REFERENCE.exec(whole);
  if (match === null) return REFERENCE.test(whole.toLowerCase()) ? 'repository name must be lowercase' : 'invalid reference format';
  const [, domain, repository, tag, digest] = match;
  if (repository.length > MAX_REPOSITORY_LENGTH) return `repository name must not be more than ${MAX_REPOSITORY_LENGTH} characters`;
  const problem = digest === undefined ? undefined : digestProblem(digest);
  if (problem !== undefined) return problem;
  const shownTag = tag ?? (digest === undefined ? 'latest' : undefined);
  return { text, registry: domain, repository: repository, tag: shownTag, digest };
}

function splitRegistry(text: string): [registry: string, rest: string] {
  const slash = text.indexOf('/');
  if (slash === -1) return [DEFAULT_REGISTRY, `library/${text}`];
  const first = text.slice(0, slash);
  const rest = text.slice(slash + 1);
  const isDomain = first === 'localhost' || /[.:]/.test(first) || first.toLowerCase() !== first;
  const registry = first === 'index.docker.io' || !isDomain ? DEFAULT_REGISTRY : first;
  const remote = isDomain ? rest : text;
  return [registry, registry === DEFAULT_REGISTRY && !remote.includes('/') ? `library/${remote}` : remote];
}

function digestProblem(digest: string): string | undefined {
  const colon = digest.indexOf(':');
  const length = DIGEST_LENGTHS.get(digest.slice(0, colon));
  const hex = digest.slice(colon + 1);
  if (length === undefined) return 'unsupported digest algorithm';
  if (hex.length !== length) return 'invalid checksum digest length';
  return /^[a-f0-9]+$/.test(hex) ? undefined : 'invalid checksum digest format';
}
