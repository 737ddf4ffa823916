import { request as httpsRequest } from 'node:https';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Json } from '../../../src/kube/object.ts';
import { startEmbeddedTarget, type EmbeddedTarget } from '../../support/embedded-target.ts';

const MAGIC = Buffer.from('k8s\0');
let target: EmbeddedTarget;
beforeAll(async () => {
  target = await startEmbeddedTarget();
});
afterAll(() => target.close());

function post(bytes: Buffer, path = '/api/v1/namespaces/default/configmaps'): Promise<{ status: number; body: Json }> {
  const pem = (name: string) => readFileSync(join(target.data, 'pki', name));
  return new Promise((resolve, reject) => {
    const options = {
      method: 'POST',
      ca: pem('ca.crt'),
      cert: pem('admin.crt'),
      key: pem('admin.key'),
      headers: { 'content-type': 'application/vnd.kubernetes.protobuf', 'content-length': bytes.byteLength },
    };
    const outgoing = httpsRequest(new URL(path, target.url), options, (answer) => {
      let text = '';
      answer.on('data', (chunk: Buffer) => (text += chunk.toString()));
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, body: JSON.parse(text) }));
    });
    outgoing.on('error', reject);
    outgoing.end(bytes);
  });
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  for (; value > 127; value = Math.floor(value / 128)) bytes.push((value % 128) | 128);
  return Buffer.from([...bytes, value]);
}

function field(number: number, content: Buffer | string): Buffer {
  const bytes = Buffer.from(content);
  return Buffer.concat([varint(number * 8 + 2), varint(bytes.byteLength), bytes]);
}

function envelope(object: Buffer, apiVersion = 'v1', kind = 'ConfigMap'): Buffer {
  return Buffer.concat([MAGIC, field(1, Buffer.concat([field(1, apiVersion), field(2, kind)])), field(2, object)]);
}

const named = (name: string): Buffer => field(1, field(1, name));
const entries = (count: number): Buffer =>
  Buffer.concat(Array.from({ length: count }, (_, i) => field(2, Buffer.concat([field(1, `k${i}`), field(2, 'v')]))));
/** JSONSchemaProps inside JSONSchemaProps: `not` is its field 27. */
function schemas(depth: number): Buffer {
  let schema: Buffer = Buffer.alloc(0);
  for (let i = 0; i < depth; i++) schema = field(27, schema);
  return schema;
}

describe('a protobuf body', () => {
  it('is read when it is what it says', async () => {
    const { status, body } = await post(envelope(Buffer.concat([named('fine'), entries(3)])));
    expect([status, body.data]).toEqual([201, { k0: 'v', k1: 'v', k2: 'v' }]);
  });

  it.each([
    { name: 'nothing', bytes: Buffer.alloc(0) },
    { name: 'only the prefix', bytes: MAGIC },
    { name: 'no prefix', bytes: Buffer.from('{"metadata":{"name":"x"}}') },
    { name: 'cut short', bytes: envelope(Buffer.concat([named('x'), entries(10)])).subarray(0, 60) },
    { name: 'a length of 4 GiB', bytes: envelope(Buffer.from([0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f])) },
    { name: 'a length of 2^64', bytes: envelope(Buffer.from([0x0a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01])) },
    { name: 'a varint that does not end', bytes: envelope(Buffer.alloc(100, 0xff)) },
    { name: 'a number where a message belongs', bytes: envelope(Buffer.from([0x08, 0x01])) },
    { name: 'groups, which nobody uses', bytes: envelope(Buffer.from([0x0b, 0x0b, 0x0b, 0x0c])) },
    { name: 'another kind', bytes: envelope(named('x'), 'v1', 'Nonsense') },
    { name: 'text that is no UTF-8 in a name', bytes: envelope(field(1, field(1, Buffer.from([0xff, 0xfe])))), status: 422 },
  ])('is refused: $name', async ({ bytes, status }) => {
    const answer = await post(bytes);
    expect(answer.status, JSON.stringify(answer.body)).toBe(status ?? 400);
    expect(answer.body).toMatchObject({ kind: 'Status', status: 'Failure' });
  });

  it('is held to the same number of values as JSON', async () => {
    expect(await post(envelope(Buffer.concat([named('x'), entries(150_000)])))).toMatchObject({
      status: 413,
      body: { message: expect.stringMatching(/values/) },
    });
    const empty = Buffer.alloc(1_200_000, Buffer.from([0x12, 0x00]));
    expect(await post(envelope(Buffer.concat([named('x'), empty])))).toMatchObject({ status: 413 });
    expect((await post(envelope(Buffer.concat([named('many'), entries(9000)])))).status).toBe(201);
  });

  it('is refused when it nests without end', async () => {
    const version = Buffer.concat([field(1, 'v1'), Buffer.from([0x10, 0x01, 0x18, 0x01]), field(4, field(1, schemas(20_000)))]);
    const definition = Buffer.concat([named('deeps.example.com'), field(2, Buffer.concat([field(1, 'example.com'), field(7, version)]))]);
    const { status } = await post(
      envelope(definition, 'apiextensions.k8s.io/v1', 'CustomResourceDefinition'),
      '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
    );
    expect([400, 413, 422]).toContain(status);
  });

  it('is measured where it holds JSON', async () => {
    const owned = Buffer.concat([
      field(1, 'm'),
      field(2, 'Update'),
      field(3, 'v1'),
      field(6, 'FieldsV1'),
      field(7, field(1, '{"a":'.repeat(200_000))),
    ]);
    const { status, body } = await post(envelope(field(1, Buffer.concat([field(1, 'x'), field(17, owned)]))));
    expect([status, body.message]).toEqual([400, expect.stringMatching(/exceeded max depth/)]);
  });

  it('leaves the server as it was', async () => {
    expect((await target.request('GET', '/readyz')).status).toBe(200);
  });
});
