import { expect, it } from 'vitest';
import type { Json } from '../../../kube/object.ts';
import type { ApiRequest } from '../chain/request.ts';
import type { Resource } from '../registry/resource.ts';
import { refuseExcess, systemLimit, valueLimit } from './value-limits.ts';

const pods = { group: '', resource: 'pods' } as Resource;
const LIMIT = valueLimit(pods);

function request(user: { name: string; groups: string[] }, subresource = ''): ApiRequest {
  return { user, info: { subresource } } as ApiRequest;
}

/** One value for the list, one for each of its items, and metadata. */
function pod(values: number, status?: Json): Json {
  return { metadata: { managedFields: Array(LIMIT).fill(0) }, spec: Array(values - 2).fill(0), ...(status && { status }) };
}

const ALICE = { name: 'alice', groups: ['system:masters'] };
const NODE = { name: 'system:node:a', groups: ['system:nodes'] };
const CONTROLLER = { name: 'system:serviceaccount:kube-system:deployment-controller', groups: ['system:serviceaccounts:kube-system'] };

it('the head-room is as large as the limit', () => {
  expect(systemLimit(pods)).toBe(2 * LIMIT);
});

it.each([
  { name: 'a person may write up to the limit', from: request(ALICE), object: pod(LIMIT) },
  { name: 'a status that others wrote does not count for a person', from: request(ALICE), object: pod(LIMIT, Array(100).fill(0)) },
  { name: 'a status may use the head-room', from: request(ALICE, 'status'), object: pod(LIMIT, Array(LIMIT - 1).fill(0)) },
  { name: 'a node may use the head-room', from: request(NODE), object: pod(2 * LIMIT) },
  { name: 'a controller may use the head-room', from: request(CONTROLLER), object: pod(2 * LIMIT) },
  {
    name: 'the manager of controllers may use the head-room',
    from: request({ name: 'system:kube-controller-manager', groups: [] }),
    object: pod(2 * LIMIT),
  },
])('$name', async ({ from, object }) => {
  await expect(refuseExcess(pods, from, object)).resolves.toBeUndefined();
});

it.each([
  { name: 'a person may not write more than the limit', from: request(ALICE), object: pod(LIMIT + 1), limit: LIMIT },
  {
    name: 'a status may not fill more than the head-room',
    from: request(ALICE, 'status'),
    object: pod(LIMIT, Array(LIMIT).fill(0)),
    limit: 2 * LIMIT,
  },
  { name: 'a controller may not fill more than the head-room', from: request(CONTROLLER), object: pod(2 * LIMIT + 1), limit: 2 * LIMIT },
])('$name', async ({ from, object, limit }) => {
  await expect(refuseExcess(pods, from, object)).rejects.toThrow(`more than ${limit} values`);
});
