import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { environmentScript } from './environment-script.ts';

/** What a program sees that a shell starts after it has run the script. */
function seenBy(env: Record<string, string>): Record<string, string> {
  const script = `${environmentScript(env)}exec "$@"`;
  const text = execFileSync('/bin/sh', ['-c', script, 'sh', '/usr/bin/env', '-0'], { encoding: 'utf8', env: { LEAKED: 'no' } });
  return Object.fromEntries(
    text
      .split('\0')
      .filter(Boolean)
      .map((variable) => [variable.slice(0, variable.indexOf('=')), variable.slice(variable.indexOf('=') + 1)]),
  );
}

describe('environmentScript', () => {
  it.each([
    ['plain', 'value'],
    ['empty', ''],
    ['with quotes', `it's "quoted"`],
    ['with what a shell would expand', '$HOME `id` $(id) \\ * ~'],
    ['over several lines', 'one\ntwo\n\nthree'],
    ['in another script', 'grüße 你好'],
  ])('a value %s arrives as it is', (_name, value) => {
    expect(seenBy({ PATH: '/bin', VALUE: value })).toMatchObject({ VALUE: value });
  });

  it('a name that a shell cannot have arrives too', () => {
    expect(seenBy({ PATH: '/bin', 'my.name': 'a b', 'other-name': "'" })).toMatchObject({ 'my.name': 'a b', 'other-name': "'" });
  });

  it('a script in a name is not run', () => {
    expect(seenBy({ PATH: '/bin', 'X; export HACKED': 'yes' })).not.toHaveProperty('HACKED');
  });
});
