import { describe, expect, it } from 'vitest';
import { refusedSource } from './git-source.ts';

describe('refusedSource', () => {
  it.each([
    ['https://example.com/a.git', undefined],
    ['ssh://git@example.com/a.git', 'main'],
    ['git@example.com:team/a.git', 'v1.2.3'],
    ['https://example.com/a.git', '0123456789abcdef0123456789abcdef01234567'],
  ])('%s at %s is fetched', (repoURL, commitSHA) => expect(refusedSource({ repoURL, commitSHA })).toBeUndefined());

  it.each([
    ['ext::sh -c touch% /tmp/x', undefined],
    ['file:///etc', undefined],
    ['/etc', undefined],
    ['--upload-pack=touch /tmp/x', undefined],
    ['http://example.com/a.git', undefined],
    ['ssh://-oProxyCommand=x/a', undefined],
    ['git@-oProxyCommand=x:a', undefined],
    ['git@-oX:a', undefined],
    ['https://example.com/a b', undefined],
    ['https://example.com/a.git', '--upload-pack=x'],
    ['https://example.com/a.git', 'a..b'],
    ['https://example.com/a.git', ''],
  ])('%s at %s is refused', (repoURL, commitSHA) => expect(refusedSource({ repoURL, commitSHA })).toMatch(/^Cannot /));
});
