import { basename } from 'node:path';
import {
  PLATFORM_NAMESPACE,
  PLATFORM_SETTINGS,
  SECRET_PATH_ANNOTATION,
  STORED_SECRET_LABEL,
} from '../../api/plugins.tenantry.dev/v1alpha1/names.ts';
import { isSecretProperty, storedSecretName } from '../../api/plugins.tenantry.dev/v1alpha1/secret-path.ts';
import { Namespace, Secret } from '../../client/kinds.ts';
import type { KubeObject } from '../../kube/object.ts';
import { isStatusError } from '../../kube/status.ts';
import { attempting } from '../terminal/explain.ts';
import type { Session } from '../terminal/session.ts';
import { pathOf, placeOf, storedAt } from './stored-secrets.ts';

/** Where values come from; never from the command line, which others see and shells remember. */
export interface SecretInput {
  /** A file; standard input for `-`. */
  bytes(file: string): Promise<Uint8Array>;
  /** Whether somebody could be asked. */
  isTerminal: boolean;
  /** What somebody types, without showing it. */
  typed(prompt: string): Promise<string>;
}

export interface PutFlags {
  tenant: string;
  property?: string;
  fromFile?: string[];
  replace?: boolean;
}

const DEFAULT_PROPERTY = 'value';
/** As large as a Secret may be. */
const MAX_BYTES = 1024 * 1024;

/** Puts values at a path of the embedded store. @returns the exit code */
export async function put(session: Session, input: SecretInput, text: string, flags: PutFlags): Promise<number> {
  const place = placeOf(text, flags.tenant, 'put');
  const values = await valuesFrom(input, flags);
  const path = pathOf(place);
  const data = Object.fromEntries(Object.entries(values).map(([name, bytes]) => [name, Buffer.from(bytes).toString('base64')]));
  const where = { server: session.cluster.server, namespace: PLATFORM_NAMESPACE };
  const outcome = await attempting(`put "${text}"`, where, () => store(session, text, flags, path, data));
  session.out(`${path}: ${Object.keys(values).join(', ')} ${outcome}\n`);
  if (await isExternal(session)) {
    session.err('Plugins do not see it: the platform has their secrets fetched by the External Secrets Operator (docs/guide/plugins.md)\n');
  }
  return 0;
}

async function isExternal(session: Session): Promise<boolean> {
  try {
    const { data } = await session.cluster.client.resource<KubeObject>(Secret, PLATFORM_NAMESPACE).get(PLATFORM_SETTINGS);
    return (
      Buffer.from(String(data?.secrets ?? ''), 'base64')
        .toString()
        .trim() === 'external-secrets'
    );
  } catch (error) {
    // Whoever may put a secret need not be allowed to read the settings.
    if (isStatusError(error, 'NotFound') || isStatusError(error, 'Forbidden')) return false;
    throw error;
  }
}

async function store(session: Session, text: string, flags: PutFlags, path: string, data: Record<string, string>): Promise<string> {
  const secrets = session.cluster.client.resource<KubeObject>(Secret, PLATFORM_NAMESPACE);
  const existing = await storedAt(session, placeOf(text, flags.tenant, 'put'));
  if (!existing) {
    const metadata = {
      name: storedSecretName(path),
      labels: { [STORED_SECRET_LABEL]: 'true' },
      annotations: { [SECRET_PATH_ANNOTATION]: path },
    };
    await inPlatformNamespace(session, () => secrets.create({ apiVersion: 'v1', kind: 'Secret', metadata, type: 'Opaque', data }));
    return 'stored';
  }
  const gone = flags.replace ? existing.properties.filter((name) => !Object.hasOwn(data, name)).map((name) => [name, null]) : [];
  const patch = { data: { ...Object.fromEntries(gone), ...data } };
  await secrets.patch(existing.secret.metadata.name!, { type: 'merge', patch });
  return 'changed';
}

/** The platform's namespace comes with the first installation, and secrets may be there before. */
async function inPlatformNamespace<T>(session: Session, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isStatusError(error, 'NotFound')) throw error;
  }
  try {
    await session.cluster.client.resource(Namespace).create({ metadata: { name: PLATFORM_NAMESPACE } });
  } catch (error) {
    if (!isStatusError(error, 'AlreadyExists')) throw error;
  }
  return work();
}

async function valuesFrom(input: SecretInput, { property, fromFile = [] }: PutFlags): Promise<Record<string, Uint8Array>> {
  if (property !== undefined && fromFile.length > 1) {
    throw new Error('Cannot put several files under one --property; write --from-file <property>=<file> for each');
  }
  const entries: [string, Uint8Array][] = [];
  for (const each of fromFile) {
    const equals = each.indexOf('=');
    const file = each.slice(equals + 1);
    entries.push([equals > 0 ? each.slice(0, equals) : (property ?? basename(file)), await input.bytes(file)]);
  }
  if (entries.length === 0) entries.push([property ?? DEFAULT_PROPERTY, await asked(input, property ?? DEFAULT_PROPERTY)]);
  for (const [name, value] of entries) check(name, value);
  return Object.fromEntries(entries);
}

/** What is piped in, or typed. The end of the line that `echo` adds is no part of it. */
async function asked(input: SecretInput, property: string): Promise<Uint8Array> {
  if (input.isTerminal) return Buffer.from(await input.typed(`${property} (not shown): `));
  const bytes = Buffer.from(await input.bytes('-'));
  const end = bytes.at(-1) === 0x0a ? (bytes.at(-2) === 0x0d ? 2 : 1) : 0;
  return bytes.subarray(0, bytes.length - end);
}

function check(name: string, value: Uint8Array): void {
  if (!isSecretProperty(name)) {
    throw new Error(`Cannot put the property "${name}": its name is not one; use letters, digits, - _ . and do not begin with a dot`);
  }
  if (value.length === 0) throw new Error(`Cannot put the property "${name}": its value is empty; \`tenantry secrets rm\` takes one away`);
  if (value.length > MAX_BYTES) throw new Error(`Cannot put the property "${name}": it is larger than ${MAX_BYTES} bytes`);
}
