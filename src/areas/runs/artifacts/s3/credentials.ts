import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../../../lib/clock.ts';
import { ArtifactStoreError } from '../artifact-store.ts';
import type { S3Credentials } from './signature.ts';

type Environment = Record<string, string | undefined>;
type Found = S3Credentials & { expires?: number };

/** New ones are asked for this long before the old ones end. */
const EARLY_MS = 300_000;

/** Where programs for S3 look: the environment, a token of the Pod (web identity), the container's own endpoint, the shared file. */
export function credentialChain(environment: Environment, clock: Clock, region: string): () => Promise<S3Credentials> {
  let known: Promise<Found> | undefined;
  const fresh = async (): Promise<Found> => {
    for (const source of [fromEnvironment, fromWebIdentity, fromContainer, fromFile]) {
      const found = await source(environment, region);
      if (found !== undefined) return found;
    }
    throw new ArtifactStoreError(
      'there are no credentials for the S3 store; name a Secret with AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY as credentialsSecretName',
    );
  };
  return async () => {
    const before = await known?.catch(() => undefined);
    if (before === undefined || (before.expires ?? Infinity) - EARLY_MS < clock.now()) known = fresh();
    return known!;
  };
}

async function fromEnvironment(environment: Environment): Promise<Found | undefined> {
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey, AWS_SESSION_TOKEN: sessionToken } = environment;
  if (!accessKeyId || !secretAccessKey) return undefined;
  return { accessKeyId, secretAccessKey, ...(sessionToken ? { sessionToken } : {}) };
}

async function fromWebIdentity(environment: Environment, region: string): Promise<Found | undefined> {
  const { AWS_WEB_IDENTITY_TOKEN_FILE: file, AWS_ROLE_ARN: role, AWS_ROLE_SESSION_NAME: session = 'kruntimes' } = environment;
  if (!file || !role) return undefined;
  const token = (await readFile(file, 'utf8')).trim();
  const query = new URLSearchParams({
    Action: 'AssumeRoleWithWebIdentity',
    Version: '2011-06-15',
    RoleArn: role,
    RoleSessionName: session,
    WebIdentityToken: token,
  });
  const endpoint = environment['AWS_ENDPOINT_URL_STS'] ?? `https://sts.${region}.amazonaws.com/`;
  const answer = await fetch(endpoint, {
    method: 'POST',
    body: query,
    headers: { accept: 'application/json' },
    signal: AbortSignal.timeout(10_000),
  });
  if (!answer.ok) throw new Error(`the token service answered ${answer.status}`);
  const text = await answer.text();
  const field = (name: string) => new RegExp(`"?${name}"?(?:>|\\s*:\\s*"?)([^<",}]+)`).exec(text)?.[1] ?? '';
  return {
    accessKeyId: field('AccessKeyId'),
    secretAccessKey: field('SecretAccessKey'),
    sessionToken: field('SessionToken'),
    expires: expiryOf(field('Expiration')),
  };
}

/** A date, or seconds since the epoch. */
function expiryOf(text: string): number {
  return /^[\d.e+]+$/i.test(text) ? Number(text) * 1000 : Date.parse(text);
}

async function fromContainer(environment: Environment): Promise<Found | undefined> {
  const { AWS_CONTAINER_CREDENTIALS_FULL_URI: full, AWS_CONTAINER_CREDENTIALS_RELATIVE_URI: relative } = environment;
  const url = full ?? (relative && `http://169.254.170.2${relative}`);
  if (!url) return undefined;
  const file = environment['AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE'];
  const authorization = file ? (await readFile(file, 'utf8')).trim() : environment['AWS_CONTAINER_AUTHORIZATION_TOKEN'];
  const answer = await fetch(url, { headers: authorization ? { authorization } : {}, signal: AbortSignal.timeout(10_000) });
  if (!answer.ok) throw new Error(`the container's credentials endpoint answered ${answer.status}`);
  const found = (await answer.json()) as { AccessKeyId: string; SecretAccessKey: string; Token?: string; Expiration?: string };
  return {
    accessKeyId: found.AccessKeyId,
    secretAccessKey: found.SecretAccessKey,
    ...(found.Token === undefined ? {} : { sessionToken: found.Token }),
    ...(found.Expiration === undefined ? {} : { expires: Date.parse(found.Expiration) }),
  };
}

async function fromFile(environment: Environment): Promise<Found | undefined> {
  const { HOME, AWS_PROFILE: profile = 'default', AWS_SHARED_CREDENTIALS_FILE: named } = environment;
  const file = named ?? (HOME && join(HOME, '.aws', 'credentials'));
  if (!file) return undefined;
  const text = await readFile(file, 'utf8').catch(() => '');
  const fields = sectionOf(text, profile);
  return fromEnvironment({
    AWS_ACCESS_KEY_ID: fields.get('aws_access_key_id'),
    AWS_SECRET_ACCESS_KEY: fields.get('aws_secret_access_key'),
    AWS_SESSION_TOKEN: fields.get('aws_session_token'),
  });
}

function sectionOf(text: string, name: string): Map<string, string> {
  const fields = new Map<string, string>();
  let inside = false;
  for (const line of text.split('\n').map((raw) => raw.trim())) {
    if (line.startsWith('[')) inside = line === `[${name}]`;
    const equals = line.indexOf('=');
    if (inside && equals > 0 && !line.startsWith('#')) fields.set(line.slice(0, equals).trim(), line.slice(equals + 1).trim());
  }
  return fields;
}
