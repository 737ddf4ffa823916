import { expect, test } from 'vitest';
import { brokerSettings } from './broker-settings.ts';

const SERVERS = { 'kafka-bootstrap-servers': 'one:9092, [::1]:9093' };

test('brokerSettings are none when no server is named', () => {
  expect(brokerSettings({ 'kafka-user': 'admin' })).toBeUndefined();
});

test('brokerSettings have defaults for everything but the servers', () => {
  const servers = [
    { host: 'one', port: 9092 },
    { host: '::1', port: 9093 },
  ];
  expect(brokerSettings(SERVERS)).toMatchObject({
    servers,
    pluginServers: servers,
    admin: undefined,
    tls: undefined,
    partitions: 3,
    replicas: -1,
    retentionMs: 604_800_000,
  });
  expect(brokerSettings({ ...SERVERS, 'kafka-ca.crt': 'PEM' })!.tls).toEqual({ ca: 'PEM' });
  expect(brokerSettings({ ...SERVERS, 'kafka-user': 'u', 'kafka-password': 'p' })!.admin).toEqual({
    mechanism: 'SCRAM-SHA-512',
    user: 'u',
    password: 'p',
  });
});

test.each<[string, Record<string, string>, string]>([
  [
    'a server without a port',
    { 'kafka-bootstrap-servers': 'one' },
    'kafka-bootstrap-servers of the Secret tenantry-system/plugin-platform has "one"; write host:port,host:port',
  ],
  ['a user without a password', { ...SERVERS, 'kafka-user': 'u' }, 'kafka-password of the Secret'],
  [
    'a mechanism that there is not',
    { ...SERVERS, 'kafka-mechanism': 'NTLM' },
    'kafka-mechanism of the Secret tenantry-system/plugin-platform is none of PLAIN, SCRAM-SHA-256, SCRAM-SHA-512',
  ],
  ['no number of partitions', { ...SERVERS, 'kafka-partitions': '0' }, 'is no whole number from 1 on'],
])('brokerSettings refuse %s', (_, entries, message) => {
  expect(() => brokerSettings(entries)).toThrow(message);
});
