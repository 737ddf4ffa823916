import { PLATFORM_NAMESPACE, PLATFORM_SETTINGS } from '../../../../api/plugins.tenantry.dev/v1alpha1/names.ts';

export const BOOTSTRAP_KEY = 'kafka-bootstrap-servers';

const MECHANISMS = ['SCRAM-SHA-512', 'SCRAM-SHA-256', 'PLAIN'] as const;
export type Mechanism = (typeof MECHANISMS)[number];

export interface ServerAddress {
  host: string;
  port: number;
}

/** How to reach Kafka, and how much of it plugins get. */
export interface BrokerSettings {
  servers: readonly ServerAddress[];
  /** Where plugins find it, when that is another listener than ours. */
  pluginServers: readonly ServerAddress[];
  /** Absent: the listener asks nobody who they are. */
  admin: { mechanism: Mechanism; user: string; password: string } | undefined;
  tls: { ca: string | undefined } | undefined;
  partitions: number;
  /** -1: as many as the broker makes by itself. */
  replicas: number;
  retentionMs: number;
  deadLetterRetentionMs: number;
  quotas: Readonly<Record<string, number>>;
  /** A file with what the authorizer of the broker says, when this process can read one. */
  authorizerLog: string | undefined;
}

const HOUR_MS = 3_600_000;

/** Of the entries of the platform's settings; undefined when they name no Kafka. Messages never show a value that may be secret. */
export function brokerSettings(entries: Readonly<Record<string, string>>): BrokerSettings | undefined {
  const servers = addresses(entries, BOOTSTRAP_KEY);
  if (!servers) return undefined;
  const user = entries['kafka-user'];
  const mechanism = oneOf(entries, 'kafka-mechanism', MECHANISMS);
  const password = entries['kafka-password'];
  if (user !== undefined && password === undefined) throw wrong('kafka-password', 'is missing, but there is a kafka-user; add it');
  const ca = entries['kafka-ca.crt'];
  const isTls = oneOf(entries, 'kafka-tls', ca === undefined ? (['false', 'true'] as const) : (['true', 'false'] as const)) === 'true';
  return {
    servers,
    pluginServers: addresses(entries, 'kafka-plugin-bootstrap-servers') ?? servers,
    admin: user === undefined ? undefined : { mechanism, user, password },
    tls: isTls ? { ca } : undefined,
    partitions: whole(entries, 'kafka-partitions', 3, 1),
    replicas: whole(entries, 'kafka-replication-factor', -1, -1),
    retentionMs: whole(entries, 'kafka-retention-hours', 168, 1) * HOUR_MS,
    deadLetterRetentionMs: whole(entries, 'kafka-dead-letter-retention-hours', 336, 1) * HOUR_MS,
    quotas: {
      producer_byte_rate: whole(entries, 'kafka-quota-producer-bytes', 1_048_576, 1),
      consumer_byte_rate: whole(entries, 'kafka-quota-consumer-bytes', 4_194_304, 1),
      request_percentage: whole(entries, 'kafka-quota-request-percentage', 25, 1),
    },
    authorizerLog: entries['kafka-authorizer-log'],
  };
}

export function addressText({ host, port }: ServerAddress): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

function addresses(entries: Readonly<Record<string, string>>, key: string): ServerAddress[] | undefined {
  const text = entries[key]?.trim();
  if (text === undefined || text === '') return undefined;
  return text.split(',').map((part) => {
    const [, bracketed, plain, port] = /^(?:\[([0-9a-fA-F:.]+)\]|([A-Za-z0-9._-]+)):(\d{1,5})$/.exec(part.trim()) ?? [];
    const host = bracketed ?? plain;
    if (host === undefined || Number(port) < 1 || Number(port) > 65_535)
      throw wrong(key, `has "${part.trim()}"; write host:port,host:port`);
    return { host, port: Number(port) };
  });
}

/** The first is the one that holds when nothing is said. */
function oneOf<T extends string>(entries: Readonly<Record<string, string>>, key: string, known: readonly T[]): T {
  const value = entries[key];
  if (value === undefined) return known[0];
  const found = known.find((each) => each === value);
  if (found === undefined) throw wrong(key, `is none of ${[...known].sort().join(', ')}; write one of them`);
  return found;
}

function whole(entries: Readonly<Record<string, string>>, key: string, otherwise: number, least: number): number {
  const text = entries[key]?.trim();
  if (text === undefined) return otherwise;
  const value = Number(text);
  if (!/^-?\d+$/.test(text) || value < least || !Number.isSafeInteger(value)) throw wrong(key, `is no whole number from ${least} on`);
  return value;
}

/** Settings that somebody has to correct. */
export class BrokerSettingsError extends Error {}

function wrong(key: string, why: string): BrokerSettingsError {
  return new BrokerSettingsError(`Cannot use Kafka: ${key} of the Secret ${PLATFORM_NAMESPACE}/${PLATFORM_SETTINGS} ${why}`);
}
