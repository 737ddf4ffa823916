import { BlockList, isIP } from 'node:net';

/** How to get out to the network, as in the variables that everybody uses for it. */
export interface ProxySettings {
  /** For HTTPS. */
  httpsProxy?: string;
  /** For plain HTTP. */
  httpProxy?: string;
  /** Hosts, domains, addresses and ranges that are reached directly, with commas between them; `*` for all. */
  noProxy: string;
}

export const NO_PROXY: ProxySettings = { noProxy: '' };

/** From HTTPS_PROXY, HTTP_PROXY and NO_PROXY, in capitals or not. */
export function proxySettings(env: Readonly<Record<string, string | undefined>>): ProxySettings {
  const read = (name: string) => env[name] || env[name.toLowerCase()] || undefined;
  return { httpsProxy: read('HTTPS_PROXY'), httpProxy: read('HTTP_PROXY'), noProxy: read('NO_PROXY') ?? '' };
}

/** The proxy for an address; undefined when it is reached directly, as loopback always is. @throws Error for one that makes no sense */
export function proxyFor(url: URL, settings: ProxySettings): URL | undefined {
  const isSecure = url.protocol === 'https:';
  const text = isSecure ? settings.httpsProxy : settings.httpProxy;
  if (text === undefined || isDirect(url, settings.noProxy)) return undefined;
  try {
    const proxy = new URL(text.includes('://') ? text : `http://${text}`);
    if (proxy.protocol === 'http:' && proxy.hostname !== '') return proxy;
  } catch {
    // Told below.
  }
  // Without its text: it may hold a password.
  throw new Error(`${isSecure ? 'HTTPS_PROXY' : 'HTTP_PROXY'} is no address of an HTTP proxy; write it as in http://proxy.example:3128`);
}

function isDirect(url: URL, noProxy: string): boolean {
  const host = url.hostname.replace(/^\[|\]$/g, '').toLowerCase();
  if (host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'))) return true;
  const port = url.port || (url.protocol === 'https:' ? '443' : '80');
  return noProxy.split(',').some((entry) => matches(entry.trim().toLowerCase(), host, port));
}

function matches(entry: string, host: string, port: string): boolean {
  if (entry === '') return false;
  if (entry === '*') return true;
  if (entry.includes('/')) return isInRange(entry, host);
  const wantedPort = /^[^:]+:(\d+)$/.exec(entry)?.[1];
  if (wantedPort !== undefined && wantedPort !== port) return false;
  const name = (wantedPort === undefined ? entry : entry.slice(0, -wantedPort.length - 1)).replace(/^\*/, '');
  return name.startsWith('.') ? host.endsWith(name) : host === name || (isIP(host) === 0 && host.endsWith(`.${name}`));
}

function isInRange(range: string, host: string): boolean {
  const [address, length] = range.split('/');
  const family = isIP(address);
  if (family === 0 || isIP(host) !== family || !/^\d{1,3}$/.test(length) || Number(length) > (family === 4 ? 32 : 128)) return false;
  const list = new BlockList();
  list.addSubnet(address, Number(length), family === 4 ? 'ipv4' : 'ipv6');
  return list.check(host, family === 4 ? 'ipv4' : 'ipv6');
}
