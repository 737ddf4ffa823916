import { describe, expect, test } from 'vitest';
import { proxyFor, proxySettings } from './proxy-settings.ts';

describe('proxyFor', () => {
  const through = (url: string, noProxy = '') =>
    proxyFor(new URL(url), { httpsProxy: 'http://proxy:3128', httpProxy: 'plain-proxy:8080', noProxy })?.host;

  test.each<[string, string, string, string | undefined]>([
    ['HTTPS', 'https://registry.example/', '', 'proxy:3128'],
    ['plain HTTP', 'http://registry.example/', '', 'plain-proxy:8080'],
    ['loopback', 'http://127.0.0.1:5000/', '', undefined],
    ['localhost', 'https://localhost:5000/', '', undefined],
    ['loopback of IPv6', 'https://[::1]:5000/', '', undefined],
    ['everything direct', 'https://registry.example/', '*', undefined],
    ['the host itself', 'https://registry.example/', 'other, registry.example', undefined],
    ['a domain above', 'https://eu.registry.example/', 'registry.example', undefined],
    ['a domain with a dot', 'https://eu.registry.example/', '.registry.example', undefined],
    ['a domain with a star', 'https://eu.registry.example/', '*.registry.example', undefined],
    ['only what is below a dot', 'https://registry.example/', '.registry.example', 'proxy:3128'],
    ['no domain that only ends alike', 'https://myregistry.example/', 'registry.example', 'proxy:3128'],
    ['the port that is named', 'https://registry.example:5000/', 'registry.example:5000', undefined],
    ['no other port', 'https://registry.example/', 'registry.example:5000', 'proxy:3128'],
    ['an address', 'https://10.1.2.3/', '10.1.2.3', undefined],
    ['a range', 'https://10.1.2.3/', '10.0.0.0/8', undefined],
    ['no other range', 'https://11.1.2.3/', '10.0.0.0/8,x/y,10.0.0.0/99', 'proxy:3128'],
    ['a range of IPv6', 'https://[fd00::1]/', 'fd00::/8', undefined],
  ])('%s', (_name, url, noProxy, expected) => {
    expect(through(url, noProxy)).toBe(expected);
  });

  test('a proxy that makes no sense is told without its text', () => {
    const settings = proxySettings({ https_proxy: 'socks5://me:secret@proxy' });
    expect(() => proxyFor(new URL('https://r.io'), settings)).toThrow('HTTPS_PROXY is no address of an HTTP proxy; write it as in http://');
    expect(() => proxyFor(new URL('https://r.io'), settings)).not.toThrow('secret');
  });
});

test('proxySettings reads the variables in capitals and not', () => {
  expect(proxySettings({ HTTPS_PROXY: 'a', http_proxy: 'b', no_proxy: 'c' })).toEqual({ httpsProxy: 'a', httpProxy: 'b', noProxy: 'c' });
  expect(proxySettings({ HTTPS_PROXY: '' })).toEqual({ httpsProxy: undefined, httpProxy: undefined, noProxy: '' });
});
