import { describe, expect, it } from 'vitest';
import { apiAttempt, pluginUser, type AnsweredRequest } from './api-attempt.ts';
import { attemptName, fitting, joined, specOf, withoutTarget, type Attempt } from './attempt.ts';
import { databaseAttempt, isRefusal } from './database-attempt.ts';
import { networkAttempt } from './network-attempt.ts';

const attempt = (over: Partial<Attempt> = {}): Attempt => ({
  tenant: 'school',
  plugin: 'hello',
  kind: 'api',
  target: 'get secrets x/y',
  rule: 'rbac',
  at: 1000,
  ...over,
});
const school = { tenant: 'school', plugin: 'hello' };
const rival = { tenant: 'rival', plugin: 'hello' };

describe('pluginUser', () => {
  it.each<[string, string, string[], unknown]>([
    ['a plugin', 'plugin:hello:school', ['tenantry:plugins'], { plugin: 'hello', tenant: 'school' }],
    ['a user who only has such a name', 'plugin:hello:school', ['devs'], undefined],
    ['an account of a plugin’s namespace', 'system:serviceaccount:plugin-school-hello:plugin', [], { namespace: 'plugin-school-hello' }],
    ['another account', 'system:serviceaccount:school:default', [], undefined],
    ['a person', 'alice', [], undefined],
  ])('of %s', (_, name, groups, expected) => {
    expect(pluginUser({ name, groups })).toEqual(expected);
  });
});

describe('apiAttempt', () => {
  const request: AnsweredRequest = {
    code: 403,
    user: { name: '', groups: [] },
    verb: 'get',
    resource: 'secrets',
    namespace: 'plugin-rival-hello',
    name: 'plugin-token',
    at: 5,
  };
  const asker = { ...school, namespace: 'plugin-school-hello' };
  it.each<[string, Partial<AnsweredRequest>, string | undefined]>([
    ['another’s namespace', {}, 'get secrets plugin-rival-hello/plugin-token'],
    ['all namespaces', { verb: 'list', namespace: '', name: '' }, 'list secrets'],
    ['its own namespace', { namespace: 'plugin-school-hello' }, undefined],
    ['what it was let do', { code: 200 }, undefined],
  ])('of %s', (_, over, target) => {
    expect(apiAttempt({ ...request, ...over }, asker)?.target).toBe(target);
  });
  it('is nobody’s without a plugin', () => {
    expect(apiAttempt(request, undefined)).toBeUndefined();
  });
});

describe('databaseAttempt', () => {
  const owners = {
    byRole: (role: string) => (role === 'plugin_hello_school' ? school : role === 'plugin_hello_rival' ? rival : undefined),
    byAddress: (address: string) => (address === '10.244.0.17' ? school : undefined),
  };
  const line = {
    user: 'plugin_hello_school',
    dbname: 'tenant_school',
    timestamp: '2026-01-01 00:00:01.000 UTC',
    message: 'no',
    remote_host: '127.0.0.1',
  };
  it('is that of the role which was refused', () => {
    expect(databaseAttempt({ ...line, state_code: '42501', message: 'permission denied for schema plugin_other' }, owners)).toMatchObject({
      ...school,
      rule: 'postgres:privilege',
      target: 'tenant_school: permission denied for schema plugin_other',
      at: Date.parse('2026-01-01T00:00:01Z'),
    });
  });
  it('with a wrong password is that of the Pod, else told to whom was claimed to be', () => {
    const wrong = { ...line, user: 'plugin_hello_rival', state_code: '28P01' };
    expect(databaseAttempt({ ...wrong, remote_host: '10.244.0.17' }, owners)).toMatchObject({
      ...school,
      target: 'role plugin_hello_rival',
    });
    expect(databaseAttempt(wrong, owners)).toMatchObject(rival);
  });
  it('is none when a plugin failed by itself, or it is no plugin', () => {
    expect(databaseAttempt({ ...line, state_code: '23505' }, owners)).toBeUndefined();
    expect(databaseAttempt({ ...line, user: 'tenantry', state_code: '42501' }, owners)).toBeUndefined();
    expect(isRefusal('{"state_code":"23505"}')).toBe(false);
    expect(isRefusal('{"state_code":"28P01"}')).toBe(true);
  });
});

describe('networkAttempt', () => {
  const denial = { owner: school, pod: 'plugin-school-hello/p', at: 1, count: 3 };
  it('going out is that of the plugin', () => {
    const note = 'Denied TCP port 5432 to 10.0.0.9: no egress rule of the NetworkPolicies default-deny, plugin-egress allows it';
    expect(networkAttempt({ ...denial, note }, () => undefined)).toMatchObject({
      ...school,
      target: '10.0.0.9 TCP port 5432',
      rule: 'networkpolicy:egress',
      count: 3,
    });
  });
  it('coming in is that of the Pod it comes from, when that is a plugin’s', () => {
    const note = 'Denied TCP port 80 from 10.244.0.9: no ingress rule of NetworkPolicy default-deny allows it';
    expect(networkAttempt({ ...denial, note }, () => rival)).toMatchObject({ ...rival, target: 'Pod plugin-school-hello/p TCP port 80' });
    expect(networkAttempt({ ...denial, note }, () => undefined)).toBeUndefined();
    expect(networkAttempt({ ...denial, note: 'something else' }, () => rival)).toBeUndefined();
  });
});

describe('attempts', () => {
  it('of the same have the same name, and of others another', () => {
    expect(attemptName(attempt())).toBe(attemptName(attempt({ at: 2000, message: 'x' })));
    const names = [attempt(), attempt({ target: 'a' }), attempt({ rule: 'a' }), attempt({ kind: 'kafka' }), attempt({ plugin: 'b' })].map(
      attemptName,
    );
    expect(new Set(names).size).toBe(names.length);
    for (const name of [...names, attemptName(attempt({ plugin: `${'p'.repeat(39)}-${'q'.repeat(20)}` }))])
      expect(name).toMatch(/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/);
  });
  it('are counted together, with the first and the last time', () => {
    const twice = joined(attempt({ count: 2 }), attempt({ at: 4000 }));
    expect(specOf(twice, 1000)).toMatchObject({ count: 3, firstSeen: '1970-01-01T00:00:01Z', lastSeen: '1970-01-01T00:00:04Z' });
    expect(specOf(twice, 9000, specOf(attempt(), 1000))).toMatchObject({ count: 4, firstSeen: '1970-01-01T00:00:01Z' });
    expect(withoutTarget(attempt({ message: 'x' }))).toMatchObject({ target: '*', message: undefined });
  });
  it('hold what fits, and nothing that a terminal obeys', () => {
    const { target } = fitting(attempt({ target: `\u001b[2J${'x'.repeat(600)}` }));
    expect(target).toHaveLength(512);
    expect(target.startsWith(' [2J')).toBe(true);
  });
});
