import { X509Certificate } from 'node:crypto';
import type { RegistryCredential } from './credentials.ts';

/** How this node reaches registries; those not named are reached by HTTPS with the system's certificate authorities, without a credential. */
export interface RegistryConfig {
  registries: Record<string, RegistrySettings>;
  /** Asked before every registry, by plain HTTP, with the registry's name before the path: `10.0.0.1:5000`. */
  everywhere?: string;
}

export interface RegistrySettings {
  /** Asked first, in this order; `host[:port][/path]`. How each is reached stands in its own entry. */
  mirrors: string[];
  /** Plain HTTP. */
  insecure: boolean;
  /** Certificates in PEM, trusted for this registry besides the system's. */
  ca?: string;
  credential?: RegistryCredential;
  /** Workers of tenants get what the credential is good for too. */
  tenants?: boolean;
}

export const NO_REGISTRIES: RegistryConfig = { registries: {} };

const HOST = /^(?:[a-zA-Z0-9](?:[a-zA-Z0-9.-]*[a-zA-Z0-9])?|\[[0-9a-fA-F:]+\])(?::\d{1,5})?$/;
const MIRROR = /^[^/\s]+(?:\/[a-z0-9]+(?:[._-]+[a-z0-9]+)*)*$/;
const PEM_CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;
const FIELDS = ['mirrors', 'insecure', 'ca', 'credentials', 'tenants'];

/**
 * Reads the registries file, already parsed from YAML. Strict: an option that is misspelt would otherwise be an image that is not found.
 * @param readFile for `ca` and `passwordFile`, which name files
 * @throws Error that names the field
 */
export function parseRegistryConfig(value: unknown, readFile: (path: string) => string): RegistryConfig {
  if (value === undefined || value === null) return NO_REGISTRIES;
  const top = record(value, 'the file', ['registries']);
  const registries: Record<string, RegistrySettings> = {};
  for (const [host, entry] of Object.entries(record(top.registries ?? {}, 'registries'))) {
    if (!HOST.test(host))
      throw problem(`registries["${host}"]`, 'is no host with an optional port; write it as in `registry.example:5000`');
    registries[host] = settings(host, entry, readFile);
  }
  return { registries };
}

export function settingsOf(config: RegistryConfig, registry: string): RegistrySettings {
  return Object.hasOwn(config.registries, registry) ? config.registries[registry] : { mirrors: [], insecure: false };
}

function settings(host: string, value: unknown, readFile: (path: string) => string): RegistrySettings {
  const at = `registries["${host}"]`;
  const { mirrors = [], insecure = false, ca, credentials, tenants = false } = record(value ?? {}, at, FIELDS);
  if (typeof tenants !== 'boolean') throw problem(`${at}.tenants`, 'is neither true nor false');
  if (typeof insecure !== 'boolean') throw problem(`${at}.insecure`, 'is neither true nor false');
  if (!Array.isArray(mirrors)) throw problem(`${at}.mirrors`, 'is no list; write one host per line, each after `- `');
  for (const [index, mirror] of mirrors.entries()) {
    if (typeof mirror === 'string' && MIRROR.test(mirror) && HOST.test(mirror.split('/', 1)[0])) continue;
    throw problem(
      `${at}.mirrors[${index}]`,
      'is no host with an optional port and path; leave the scheme out, as in `mirror.example:5000/hub`',
    );
  }
  const result: RegistrySettings = { mirrors, insecure, ...(tenants ? { tenants } : {}) };
  if (ca !== undefined) result.ca = certificates(`${at}.ca`, ca, readFile);
  if (credentials !== undefined) result.credential = credential(host, `${at}.credentials`, credentials, readFile);
  return result;
}

function certificates(at: string, value: unknown, readFile: (path: string) => string): string {
  const found = contents(at, value, readFile).match(PEM_CERTIFICATE) ?? [];
  if (found.length === 0) throw problem(at, `names "${String(value)}", which holds no certificate in PEM form`);
  for (const pem of found) {
    try {
      void new X509Certificate(pem);
    } catch (cause) {
      throw new Error(`Cannot read the registries file: ${at} names "${String(value)}", which holds a certificate that is damaged`, {
        cause,
      });
    }
  }
  return found.join('\n');
}

function credential(host: string, at: string, value: unknown, readFile: (path: string) => string): RegistryCredential {
  const { username, password, passwordFile } = record(value, at, ['username', 'password', 'passwordFile']);
  if (typeof username !== 'string') throw problem(`${at}.username`, 'is missing or no string');
  if ((password === undefined) === (passwordFile === undefined)) throw problem(at, 'needs one of `password` and `passwordFile`');
  if (password !== undefined && typeof password !== 'string') throw problem(`${at}.password`, 'is no string; put it in quotes');
  const secret = password ?? contents(`${at}.passwordFile`, passwordFile, readFile).replace(/\r?\n$/, '');
  return { registry: host, username, password: secret };
}

function contents(at: string, value: unknown, readFile: (path: string) => string): string {
  if (typeof value !== 'string') throw problem(at, 'is no path of a file');
  try {
    return readFile(value);
  } catch (cause) {
    throw new Error(`Cannot read the registries file: ${at} names "${value}", which cannot be read (${(cause as Error).message})`, {
      cause,
    });
  }
}

function record(value: unknown, at: string, fields?: string[]): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw problem(at, 'is no map');
  const unknown = fields === undefined ? undefined : Object.keys(value).find((name) => !fields.includes(name));
  if (unknown !== undefined) throw problem(at, `has the unknown field "${unknown}"; known are ${fields!.join(', ')}`);
  return value as Record<string, unknown>;
}

function problem(at: string, what: string): Error {
  return new Error(`Cannot read the registries file: ${at} ${what}`);
}
