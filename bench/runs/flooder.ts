import { RunKind } from '../../src/api/kruntimes.io/v1alpha1/run.ts';
import { userClient } from './product.ts';
import { aRun } from './some-runs.ts';

/** Creates Runs as fast as it is let, and tells how many there are. A program of its own: who floods does not measure. */
const WRITERS = 16;
const TOLD_EVERY = 100;

const [, , data, user, namespace, count] = process.argv;
const runs = (await userClient(data, user)).resource(RunKind, namespace);
let next = 0;
let created = 0;
const writer = async () => {
  for (let i = next++; i < Number(count); i = next++) {
    await runs.create(aRun(`flood-${i}`, 'bench'));
    if (++created % TOLD_EVERY === 0) process.send?.(created);
  }
};
await Promise.all(Array.from({ length: WRITERS }, writer));
