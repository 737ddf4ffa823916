import { describe, expect, it } from 'vitest';
import { loginOf, loginSecret, nextLogin, otherUntil, rotationIn } from './database-login.ts';

const target = { tenant: 'school', plugin: 'hello', publisher: 'acme' } as never;
const access = { host: '127.0.0.1', port: 5432, database: 'tenant_school', schema: 'plugin_hello' };
const NOW = Date.parse('2026-01-02T00:00:00Z');

describe('the login of a plugin', () => {
  it('is made once, and read back as it was written', () => {
    const first = loginOf(undefined, target);
    expect(first).toEqual({ user: 'plugin_hello_school', password: expect.stringMatching(/^[\w-]{32}$/) });
    expect(loginOf(loginSecret(target, access, first), target)).toEqual(first);
  });

  it('changes role and password, and leaves the one before a day', () => {
    const first = loginOf(undefined, target);
    const second = nextLogin(first, target, NOW);
    expect(second.user).toBe('plugin_hello_school_second');
    expect(second.password).not.toBe(first.password);
    expect(otherUntil(first)).toBeUndefined();
    expect(otherUntil(second)).toBe('2026-01-03T00:00:00Z');
    expect(loginOf(loginSecret(target, access, second), target)).toEqual(second);
    expect(nextLogin(second, target, NOW).user).toBe('plugin_hello_school');
  });

  it('is not that of another plugin, whatever a Secret says', () => {
    const foreign = loginSecret(target, access, { user: 'plugin_other_school', password: 'x' });
    expect(loginOf(foreign, target).user).toBe('plugin_hello_school');
  });

  it.each([
    ['just made', '2026-01-02T00:00:00Z', 24 * 3600_000],
    ['an hour before', '2026-01-01T01:00:00Z', 3600_000],
    ['late', '2025-06-01T00:00:00Z', 0],
    ['of a clock that was wrong', '2027-01-01T00:00:00Z', 0],
    ['unreadable', 'yesterday', 0],
  ])('is replaced a day after it was made: %s', (_, creationTimestamp, expected) => {
    expect(rotationIn({ metadata: { creationTimestamp } } as never, NOW)).toBe(expected);
  });
});
