import { rootCertificates } from 'node:tls';
import { describe, expect, test } from 'vitest';
import { parseRegistryConfig, settingsOf } from './registry-config.ts';

const PEM = rootCertificates[0];
const DAMAGED = '-----BEGIN CERTIFICATE-----\nMII\n-----END CERTIFICATE-----\n';
const files: Record<string, string> = {
  '/ca.pem': `A comment\n${PEM}\n`,
  '/damaged.pem': DAMAGED,
  '/password': 'secret\n',
  '/empty.pem': '',
};
const readFile = (path: string) => {
  if (!(path in files)) throw new Error('ENOENT');
  return files[path];
};

describe('parseRegistryConfig', () => {
  test('everything that can be said is read', () => {
    const config = parseRegistryConfig(
      {
        registries: {
          'docker.io': { mirrors: ['mirror.example:5000/hub', 'localhost:5001'] },
          'mirror.example:5000': { ca: '/ca.pem', credentials: { username: 'me', passwordFile: '/password' } },
          'localhost:5001': { insecure: true, credentials: { username: 'me', password: 'x' } },
        },
      },
      readFile,
    );
    expect(config.registries).toEqual({
      'docker.io': { mirrors: ['mirror.example:5000/hub', 'localhost:5001'], insecure: false },
      'mirror.example:5000': {
        mirrors: [],
        insecure: false,
        ca: PEM,
        credential: { registry: 'mirror.example:5000', username: 'me', password: 'secret' },
      },
      'localhost:5001': { mirrors: [], insecure: true, credential: { registry: 'localhost:5001', username: 'me', password: 'x' } },
    });
  });

  test.each([undefined, null, {}, { registries: {} }])('%j says nothing', (value) => {
    expect(parseRegistryConfig(value, readFile).registries).toEqual({});
  });

  test('a registry that is not named is reached by HTTPS, a name of JavaScript included', () => {
    expect(settingsOf(parseRegistryConfig({}, readFile), 'constructor')).toEqual({ mirrors: [], insecure: false });
  });

  test.each<[string, unknown, string]>([
    ['a list', [], 'the file is no map'],
    ['an unknown top field', { mirrors: {} }, 'the file has the unknown field "mirrors"; known are registries'],
    ['a URL as a host', { registries: { 'https://r.io': {} } }, 'registries["https://r.io"] is no host with an optional port'],
    ['a misspelt field', { registries: { 'r.io': { insecur: true } } }, 'registries["r.io"] has the unknown field "insecur"'],
    ['insecure as text', { registries: { 'r.io': { insecure: 'yes' } } }, 'registries["r.io"].insecure is neither true nor false'],
    ['one mirror as text', { registries: { 'r.io': { mirrors: 'm.io' } } }, 'registries["r.io"].mirrors is no list'],
    ['a mirror with a scheme', { registries: { 'r.io': { mirrors: ['http://m.io'] } } }, 'registries["r.io"].mirrors[0] is no host'],
    [
      'a file that is not there',
      { registries: { 'r.io': { ca: '/no' } } },
      'registries["r.io"].ca names "/no", which cannot be read (ENOENT)',
    ],
    ['a file without certificates', { registries: { 'r.io': { ca: '/empty.pem' } } }, 'which holds no certificate in PEM form'],
    ['a damaged certificate', { registries: { 'r.io': { ca: '/damaged.pem' } } }, 'which holds a certificate that is damaged'],
    ['no password', { registries: { 'r.io': { credentials: { username: 'me' } } } }, 'needs one of `password` and `passwordFile`'],
    [
      'a password of digits',
      { registries: { 'r.io': { credentials: { username: 'me', password: 1 } } } },
      'is no string; put it in quotes',
    ],
  ])('%s is refused with its place', (_name, value, message) => {
    expect(() => parseRegistryConfig(value, readFile)).toThrow(`Cannot read the registries file: `);
    expect(() => parseRegistryConfig(value, readFile)).toThrow(message);
  });
});
