import { expect, it } from 'vitest';
import { isForRuns } from './interpreters.ts';

it.each([
  ['/usr/lib/test', true],
  ['/usr/lib/test/os.py', true],
  ['/usr/lib/test/__pycache__/os.cpython-311.pyc', true],
  ['/usr/lib/test/json', true],
  ['/usr/lib/test/test', false],
  ['/usr/lib/test/config-3.11-x86_64-linux-gnu', false],
  ['/usr/lib/test/dist-packages', false],
])('isForRuns says of %s in a library that is called "test" itself: %s', (path, expected) => {
  expect(isForRuns('/usr/lib/test')(path)).toBe(expected);
});
