import { expect, it } from 'vitest';
import { rotationOf, type RotateFlags } from './rotate.ts';

const spec = { certificates: { revision: 4, authorities: 2, revoke: 1 } };

it.each<[string, Parameters<typeof rotationOf>[0], RotateFlags, Record<string, number>]>([
  ['new certificates, when nothing is named', { spec: {} }, {}, { revision: 1 }],
  ['new certificates once more', { spec }, { certificates: true }, { revision: 5 }],
  ['new authorities alone: all certificates follow from them', { spec }, { authorities: true }, { authorities: 3 }],
  ['new authorities and an end of those of before', { spec }, { authorities: true, revoke: true }, { authorities: 3, revoke: 2 }],
  ['an end of those of before alone', { spec }, { revoke: true }, { revoke: 2 }],
])('rotationOf asks for %s', (_name, cluster, flags, wish) => expect(rotationOf(cluster, flags)).toEqual(wish));
