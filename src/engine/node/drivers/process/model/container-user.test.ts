import { describe, expect, it } from 'vitest';
import { containerUser, podUser } from './container-user.ts';

const pod = { namespace: 'default', name: 'web', uid: 'aaaa' };

describe('containerUser', () => {
  it.each([
    ['the one that the Pod names', { uid: 1000, gid: 2000 }, { uid: 1000, gid: 2000 }],
    ['the group of root when only a user is named', { uid: 1000 }, { uid: 1000, gid: 0 }],
    ["the Pod's own when nobody is named", {}, { uid: podUser('aaaa'), gid: podUser('aaaa') }],
    ["the named group with the Pod's own user", { gid: 5 }, { uid: podUser('aaaa'), gid: 5 }],
  ])('is %s', (_name, asked, expected) => {
    expect(containerUser({ pod, user: { ...asked, groups: [9], mustNotBeRoot: false } })).toEqual({ ...expected, groups: [9] });
  });

  it('differs from Pod to Pod and lies in a range that nobody else uses', () => {
    const users = Array.from({ length: 1000 }, (_, index) => podUser(`pod-${index}`));
    expect(new Set(users).size).toBe(1000);
    expect(users.every((uid) => uid >= 0x7000_0000 && uid < 0x7fff_ffff)).toBe(true);
  });
});
