import { expect, it } from 'vitest';
import { showTheirCertificate } from './api-servers.ts';

it.each<[string, (boolean | undefined)[], boolean]>([
  ['all show the new one', [true, true, true], true],
  ['one of three is down', [true, undefined, true], true],
  ['one still shows the old one', [true, false, undefined], false],
  ['none answers', [undefined, undefined], false],
])('showTheirCertificate, %s', async (_name, shown, expected) => {
  const probes = shown.map((shows) => ({ showsItsCertificate: () => Promise.resolve(shows) }));
  expect(await showTheirCertificate(probes)).toBe(expected);
});
