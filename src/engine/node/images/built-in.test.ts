import { expect, test } from 'vitest';
import { standardBuiltIns } from './built-in.ts';

const { images } = standardBuiltIns('1.0.0', '/node', '/dist');
const flagsOf = (name: string) => images.find((image) => image.name === name)?.entrypoint.filter((word) => word.includes('semi-space'));

test.each([
  ['runtimed', 8],
  ['runtime-bash', 2],
  ['runtime-python', 2],
  ['runtime-node', 2],
])('%s has semi-spaces of %i MiB', (name, size) => {
  expect(flagsOf(name)).toEqual([`--min-semi-space-size=${size}`, `--max-semi-space-size=${size}`]);
});
