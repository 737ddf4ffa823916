import { expect, test } from 'vitest';
import type { Client } from '../../../client/client.ts';
import { SubjectAccessReview } from '../../../client/kinds.ts';
import { FakeClock } from '../../../lib/clock-fake.ts';
import { Callers, type Caller } from './callers.ts';
import type { RouteTable } from './route-table.ts';

interface Review {
  spec: { user: string; resourceAttributes: Record<string, string> };
}

test('a user is asked for by the installation, whatever its plugin is called', async () => {
  const asked: Review['spec'][] = [];
  const create = ({ spec }: Review) => {
    asked.push(spec);
    return Promise.resolve({ status: { allowed: spec.resourceAttributes.name === 'our-hello' } });
  };
  const client = { resource: (kind: unknown) => (kind === SubjectAccessReview ? { create } : undefined) } as unknown as Client;
  const table = {
    find: (_: string, plugin: string) => (plugin === 'hello' ? { metadata: { name: 'our-hello' } } : undefined),
  } as unknown as RouteTable;
  const callers = new Callers(client, table, new FakeClock());
  const user: Caller = { type: 'user', name: 'alice', groups: [] };
  const call = { method: 'POST', tenant: 'school', plugin: 'hello' };
  await callers.authorize(user, call);
  await callers.authorize(user, call);
  expect(asked).toMatchObject([{ user: 'alice', resourceAttributes: { namespace: 'school', name: 'our-hello', verb: 'create' } }]);
  await expect(callers.authorize(user, { ...call, plugin: 'other' })).rejects.toMatchObject({ code: 'FORBIDDEN' });
});
