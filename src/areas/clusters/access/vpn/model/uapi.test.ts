import { describe, expect, it } from 'vitest';
import { readUapi, uapiChange, type UapiState } from './uapi.ts';

const text = [
  'private_key=aa',
  'listen_port=51820',
  'public_key=b1',
  'endpoint=203.0.113.9:5000',
  'last_handshake_time_sec=5',
  'allowed_ip=10.99.0.2/32',
  'allowed_ip=10.98.0.0/24',
  'public_key=b2',
  'protocol_version=1',
  'errno=0',
  '',
  '',
].join('\n');
const present: UapiState = {
  privateKey: 'aa',
  port: 51_820,
  peers: [
    { publicKey: 'b1', allowed: ['10.99.0.2/32', '10.98.0.0/24'] },
    { publicKey: 'b2', allowed: [] },
  ],
};
const wanted = (peers: UapiState['peers'], privateKey = 'aa', port = 51_820) => ({ privateKey, port, peers });

describe('readUapi', () => {
  it('reads what the gateway has', () => expect(readUapi(text)).toEqual({ errno: 0, state: present }));
  it('waits for the rest', () => expect(readUapi(text.slice(0, -2))).toBeUndefined());
  it('reads a refusal', () => expect(readUapi('errno=-22\n\n')?.errno).toBe(-22));
});

describe('uapiChange', () => {
  it('says nothing when nothing differs, in whatever order', () => {
    expect(uapiChange(present, wanted([present.peers[1], { publicKey: 'b1', allowed: ['10.98.0.0/24', '10.99.0.2/32'] }]))).toBeUndefined();
  });

  it('removes and adds peers, and leaves those that stay alone', () => {
    const change = uapiChange(present, wanted([present.peers[0], { publicKey: 'b3', allowed: ['10.99.0.3/32'] }]));
    expect(change).toBe('set=1\npublic_key=b2\nremove=true\npublic_key=b3\nreplace_allowed_ips=true\nallowed_ip=10.99.0.3/32\n\n');
  });

  it('sets everything of a gateway that has nothing', () => {
    expect(uapiChange({ peers: [] }, wanted([{ publicKey: 'b1', allowed: ['10.99.0.2/32'] }], 'cc', 7))).toBe(
      'set=1\nprivate_key=cc\nlisten_port=7\npublic_key=b1\nreplace_allowed_ips=true\nallowed_ip=10.99.0.2/32\n\n',
    );
  });
});
