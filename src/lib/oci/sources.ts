import { credentialHash, credentialsFor, type RegistryCredential } from './credentials.ts';
import { repositoryName, type ImageReference } from './reference.ts';
import { settingsOf, type RegistryConfig } from './registry-config.ts';

/** One place to pull from, as one user. */
export interface PullSource {
  /** `https://registry.example:5000`. */
  origin: string;
  repository: string;
  insecure: boolean;
  ca?: string;
  credential?: RegistryCredential;
  /** Of a credential that came with the request; undefined when everybody on this node could have pulled it the same way. */
  credentialHash?: string;
}

const HUB = 'docker.io';
const HUB_HOST = 'registry-1.docker.io';

/**
 * Where to pull from, in order: the mirrors of the registry, then the registry itself with each credential that fits. Credentials of a
 * request are for the registry they name: no mirror ever sees them.
 */
export function pullSources(reference: ImageReference, requested: readonly RegistryCredential[], config: RegistryConfig): PullSource[] {
  const own = settingsOf(config, reference.registry);
  const mirrors = own.mirrors.map((mirror) => mirrorSource(mirror, reference.repository, config));
  const { insecure, ca } = own;
  const host = reference.registry === HUB ? HUB_HOST : reference.registry;
  const base = { origin: originOf(host, insecure), repository: reference.repository, insecure, ca };
  const fromRequest = credentialsFor(repositoryName(reference), requested).map((credential) => ({
    ...base,
    credential,
    credentialHash: credentialHash(credential),
  }));
  const fromNode = own.credential === undefined ? [] : [{ ...base, credential: own.credential }];
  const known = [...fromRequest, ...fromNode];
  return [...mirrors, ...everywhere(reference, config), ...(known.length > 0 ? known : [base])];
}

function everywhere({ registry, repository }: ImageReference, { everywhere: host }: RegistryConfig): PullSource[] {
  return host === undefined ? [] : [{ origin: originOf(host, true), repository: `${registry}/${repository}`, insecure: true }];
}

function mirrorSource(mirror: string, repository: string, config: RegistryConfig): PullSource {
  const slash = mirror.indexOf('/');
  const host = slash === -1 ? mirror : mirror.slice(0, slash);
  const prefix = slash === -1 ? '' : `${mirror.slice(slash + 1)}/`;
  const { insecure, ca, credential } = settingsOf(config, host);
  return { origin: originOf(host, insecure), repository: prefix + repository, insecure, ca, credential };
}

function originOf(host: string, insecure: boolean): string {
  return `${insecure ? 'http' : 'https'}://${host}`;
}
