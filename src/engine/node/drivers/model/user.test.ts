import { describe, expect, it } from 'vitest';
import { processUser, refuseRoot } from './user.ts';

const PASSWD = 'root:x:0:0:root:/root:/bin/sh\n# a comment\napp:x:1000:1001::/home/app:/bin/sh\n+::::::\n';
const GROUP = 'root:x:0:\napp:x:1001:\nweb:x:2000:someone,app\nops:x:3000:root\n';

describe('processUser', () => {
  it.each([
    ['root with its groups, when nobody says anything', {}, '', { uid: 0, gid: 0, additionalGids: [0, 3000] }],
    ['the image’s user by name, with its group and memberships', {}, 'app', { uid: 1000, gid: 1001, additionalGids: [1001, 2000] }],
    ['the image’s user by number, looked up', {}, '1000', { uid: 1000, gid: 1001, additionalGids: [1001, 2000] }],
    ['the image’s user and group by name', {}, 'app:ops', { uid: 1000, gid: 3000, additionalGids: [2000, 3000] }],
    ['numbers that nobody knows', {}, '77:88', { uid: 77, gid: 88, additionalGids: [88] }],
    ['the Pod’s user, in root’s group when unknown', { uid: 4242 }, 'app:ops', { uid: 4242, gid: 0, additionalGids: [0] }],
    ['the Pod’s user with the group it has in the image', { uid: 1000 }, '', { uid: 1000, gid: 1001, additionalGids: [1001, 2000] }],
    ['the Pod’s group for the image’s user', { gid: 5 }, 'app', { uid: 1000, gid: 5, additionalGids: [5, 2000] }],
  ])('is %s', (_, asked, imageUser, expected) => {
    expect(processUser({ groups: [], mustNotBeRoot: false, ...asked }, imageUser, PASSWD, GROUP)).toEqual(expected);
  });

  it('has the Pod’s additional groups once each', () => {
    const { additionalGids } = processUser({ uid: 9, gid: 9, groups: [2000, 9, 100], mustNotBeRoot: false }, '', PASSWD, GROUP);
    expect(additionalGids).toEqual([9, 100, 2000]);
  });

  it.each([
    ['user', 'ghost', 'unable to find user ghost: no matching entries in passwd file'],
    ['group', 'app:ghosts', 'unable to find group ghosts: no matching entries in group file'],
  ])('is refused, when the image names a %s that it does not have', (_, imageUser, message) => {
    expect(() => processUser({ groups: [], mustNotBeRoot: false }, imageUser, PASSWD, GROUP)).toThrow(
      expect.objectContaining({ reason: 'CreateContainerError', message }),
    );
  });
});

describe('refuseRoot', () => {
  const spec = (user: { uid?: number; mustNotBeRoot?: boolean }): Parameters<typeof refuseRoot>[0] => ({
    user: { groups: [], mustNotBeRoot: true, ...user },
    pod: { namespace: 'shop', name: 'web', uid: 'u1' },
    name: 'main',
  });
  const where = '(pod: "web_shop(u1)", container: main)';

  it.each([
    ['the Pod asks for root', { uid: 0 }, '', `container's runAsUser breaks non-root policy ${where}`],
    ['the image says nothing', {}, '', `container has runAsNonRoot and image will run as root ${where}`],
    ['the image runs as 0', {}, '0:5', `container has runAsNonRoot and image will run as root ${where}`],
    [
      'the image has a name',
      {},
      'app',
      `container has runAsNonRoot and image has non-numeric user (app), cannot verify user is non-root ${where}`,
    ],
  ])('refuses with the kubelet’s words, when %s', (_, user, imageUser, message) => {
    expect(() => refuseRoot(spec(user), imageUser)).toThrow(expect.objectContaining({ reason: 'CreateContainerConfigError', message }));
  });

  it.each([
    ['the Pod names another user', { uid: 7 }, 'root'],
    ['the image has the number of another user', {}, '1000:0'],
    ['root is not forbidden', { mustNotBeRoot: false }, ''],
  ])('lets it be, when %s', (_, user, imageUser) => {
    expect(() => refuseRoot(spec(user), imageUser)).not.toThrow();
  });
});
