/** WireGuard's configuration protocol: lines of `key=value`, keys of peers in hexadecimal. */
export interface UapiPeer {
  publicKey: string;
  allowed: readonly string[];
}

export interface UapiState {
  privateKey?: string;
  port?: number;
  peers: UapiPeer[];
}

export const UAPI_GET = 'get=1\n\n';

/** @returns undefined when the text is not complete yet */
export function readUapi(text: string): { errno: number; state: UapiState } | undefined {
  if (!text.endsWith('\n\n')) return undefined;
  const state: UapiState = { peers: [] };
  let errno = 0;
  for (const line of text.trimEnd().split('\n')) {
    const at = line.indexOf('=');
    const value = line.slice(at + 1);
    switch (line.slice(0, at)) {
      case 'private_key':
        state.privateKey = value;
        break;
      case 'listen_port':
        state.port = Number(value);
        break;
      case 'public_key':
        state.peers.push({ publicKey: value, allowed: [] });
        break;
      case 'allowed_ip':
        state.peers.at(-1)!.allowed = [...state.peers.at(-1)!.allowed, value];
        break;
      case 'errno':
        errno = Number(value);
        break;
    }
  }
  return { errno, state };
}

/** What makes `wanted` of what is there, without touching the connections of peers that stay; undefined when nothing differs. */
export function uapiChange(present: UapiState, wanted: Required<UapiState>): string | undefined {
  const before = new Map(present.peers.map((peer) => [peer.publicKey, peer]));
  const after = new Set(wanted.peers.map(({ publicKey }) => publicKey));
  const lines = [
    ...(present.privateKey === wanted.privateKey ? [] : [`private_key=${wanted.privateKey}`]),
    ...(present.port === wanted.port ? [] : [`listen_port=${wanted.port}`]),
    // Gone first: what they were allowed may be somebody else's now.
    ...present.peers
      .filter(({ publicKey }) => !after.has(publicKey))
      .flatMap(({ publicKey }) => [`public_key=${publicKey}`, 'remove=true']),
    ...wanted.peers
      .filter(({ publicKey, allowed }) => !isSame(before.get(publicKey)?.allowed, allowed))
      .flatMap(({ publicKey, allowed }) => [
        `public_key=${publicKey}`,
        'replace_allowed_ips=true',
        ...allowed.map((cidr) => `allowed_ip=${cidr}`),
      ]),
  ];
  return lines.length === 0 ? undefined : `set=1\n${lines.join('\n')}\n\n`;
}

export function hexOf(base64: string): string {
  return Buffer.from(base64, 'base64').toString('hex');
}

function isSame(before: readonly string[] | undefined, after: readonly string[]): boolean {
  return before?.length === after.length && after.every((cidr) => before.includes(cidr));
}
