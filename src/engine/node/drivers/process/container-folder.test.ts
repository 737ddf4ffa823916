import { expect, test } from 'vitest';
import { systemPaths } from './container-folder.ts';

test('systemPaths hides what lies inside of what is shown, and nothing else', async () => {
  const hidden = (await systemPaths([], ['/usr/local/data', '/srv/data'])).filter(({ kind }) => kind === 'hidden');
  expect(hidden).toEqual([{ kind: 'hidden', path: '/usr/local/data' }]);
});

test('systemPaths shows nothing secret of the machine', async () => {
  const shown = (await systemPaths([], [])).map(({ path }) => path);
  for (const secret of ['/', '/etc', '/root', '/home', '/var', '/etc/shadow', '/etc/ssl/private']) expect(shown).not.toContain(secret);
});
