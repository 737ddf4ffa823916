import { describe, expect, it } from 'vitest';
import { decodeProtobuf } from './decode.ts';

function varint(value: number | bigint): number[] {
  let rest = BigInt.asUintN(64, BigInt(value));
  const bytes: number[] = [];
  do {
    const byte = Number(rest & 0x7fn);
    rest >>= 7n;
    bytes.push(rest > 0n ? byte | 0x80 : byte);
  } while (rest > 0n);
  return bytes;
}

const number = (field: number, value: number | bigint): number[] => [...varint(field * 8), ...varint(value)];
const message = (field: number, ...parts: number[][]): number[] => {
  const body = parts.flat();
  return [...varint(field * 8 + 2), ...varint(body.length), ...body];
};
const text = (field: number, value: string): number[] => message(field, [...Buffer.from(value)]);

function envelope(apiVersion: string, kind: string, ...fields: number[][]): Uint8Array {
  const body = [...message(1, text(1, apiVersion), text(2, kind)), ...message(2, ...fields), ...text(3, ''), ...text(4, '')];
  return Uint8Array.from([0x6b, 0x38, 0x73, 0x00, ...body]);
}

describe('decodeProtobuf', () => {
  it('reads maps, bytes and metadata', () => {
    const decoded = decodeProtobuf(
      envelope(
        'v1',
        'ConfigMap',
        message(1, text(1, 'name'), message(11, text(1, 'app'), text(2, 'web')), message(8)),
        message(2, text(1, 'key'), text(2, 'value')),
        message(3, text(1, 'blob'), message(2, [1, 2, 255])),
      ),
    );
    expect(decoded).toEqual({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'name', labels: { app: 'web' } },
      data: { key: 'value' },
      binaryData: { blob: 'AQL/' },
    });
  });

  it('reads embedded structs as fields of their parent, and special values in their JSON form', () => {
    const port = message(6, text(1, 'http'), number(3, 8080), text(4, 'TCP'));
    const resources = message(8, message(1, text(1, 'cpu'), message(2, text(1, '500m'))));
    const probe = message(10, message(1, message(2, text(1, '/'), message(2, number(1, 0), number(2, 8080), text(3, '')))), number(2, 5));
    const container = message(2, text(1, 'c'), text(2, 'image'), port, resources, probe);
    const volume = message(1, text(1, 'v'), message(2, message(2, text(1, 'Memory'))));
    const decoded = decodeProtobuf(envelope('v1', 'Pod', message(2, volume, container, number(4, 30))));
    expect(decoded.spec).toMatchObject({
      terminationGracePeriodSeconds: 30,
      volumes: [{ name: 'v', emptyDir: { medium: 'Memory' } }],
      containers: [
        {
          name: 'c',
          ports: [{ name: 'http', containerPort: 8080, protocol: 'TCP' }],
          resources: { limits: { cpu: '500m' } },
          livenessProbe: { httpGet: { path: '/', port: 8080 }, initialDelaySeconds: 5 },
        },
      ],
    });
  });

  it('reads negative numbers and times', () => {
    const decoded = decodeProtobuf(
      envelope(
        'coordination.k8s.io/v1',
        'Lease',
        message(2, text(1, 'me'), number(2, -1n), message(4, number(1, 1_700_000_000), number(2, 5000))),
      ),
    );
    expect(decoded.spec).toEqual({ holderIdentity: 'me', leaseDurationSeconds: -1, renewTime: '2023-11-14T22:13:20.000005Z' });
  });

  it('takes __proto__ as a key like any other', () => {
    const decoded = decodeProtobuf(envelope('v1', 'ConfigMap', message(2, text(1, '__proto__'), text(2, 'x'))));
    expect(Object.keys(decoded.data)).toEqual(['__proto__']);
    expect(({} as Record<string, unknown>).x).toBeUndefined();
  });

  const hostile: [string, Uint8Array][] = [
    ['no magic', Uint8Array.from([1, 2, 3, 4, 5])],
    ['nothing', new Uint8Array(0)],
    ['an unknown kind', envelope('v9', 'Nothing')],
    ['a length beyond the end', Uint8Array.from([0x6b, 0x38, 0x73, 0x00, 0x12, 0xff, 0xff, 0xff, 0xff, 0x0f])],
    ['an endless varint', Uint8Array.from([0x6b, 0x38, 0x73, 0x00, ...Array.from({ length: 20 }, () => 0xff)])],
    ['a cut message', envelope('v1', 'ConfigMap', message(1, text(1, 'name'))).slice(0, -8)],
  ];
  it.each(hostile)('refuses %s with a bad request', (_, bytes) => {
    expect(() => decodeProtobuf(bytes)).toThrow(expect.objectContaining({ name: 'StatusError', code: 400 }));
  });

  it('refuses schemas that are nested beyond all reason', () => {
    let schema: number[] = text(5, 'object');
    for (let i = 0; i < 300; i++) schema = message(29, text(1, 'a'), message(2, schema));
    const crd = envelope(
      'apiextensions.k8s.io/v1',
      'CustomResourceDefinition',
      message(2, message(7, text(1, 'v1'), message(4, message(1, schema)))),
    );
    expect(() => decodeProtobuf(crd)).toThrow(/nested too deeply/);
  });
});
