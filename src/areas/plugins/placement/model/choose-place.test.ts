import { expect, it } from 'vitest';
import { choosePlace, type Place, type PlaceFacts } from './choose-place.ts';

const home = { cluster: 'acme', hasWorkers: true };
const HOST: Place = { in: 'host' };
const inside = (isReachable: boolean): Place => ({ in: 'cluster', cluster: 'acme', isReachable });

it.each<[string, PlaceFacts, Place]>([
  ['of a tenant on the host', { isServed: true }, HOST],
  ['of a tenant that came back, while requests go to the cluster', { isServed: true, servedIn: 'acme', home }, HOST],
  ['of a tenant in a cluster', { tenantIn: 'acme', isServed: true, home }, inside(true)],
  ['that is new', { tenantIn: 'acme', isServed: false, home }, inside(true)],
  ['that cannot follow', { tenantIn: 'acme', isServed: true, home, unable: 'why' }, { in: 'host', kept: 'why' }],
  ['that cannot follow any more', { tenantIn: 'acme', servedIn: 'acme', isServed: true, home, unable: 'why' }, { in: 'host', kept: 'why' }],
  ['whose cluster is too full to tell', { tenantIn: 'acme', isServed: true, home, surplus: 'full' }, { in: 'host', kept: 'full' }],
  [
    'that is there, and whose cluster is too full to tell',
    { tenantIn: 'acme', servedIn: 'acme', isServed: true, home, surplus: 'full' },
    { ...inside(false), surplus: 'full' } as Place,
  ],
  ['whose cluster does not answer yet', { tenantIn: 'acme', isServed: true }, HOST],
  ['that is new, and whose cluster does not answer yet', { tenantIn: 'acme', isServed: false }, inside(false)],
  ['that is there, and whose cluster does not answer', { tenantIn: 'acme', servedIn: 'acme', isServed: true }, inside(false)],
  ['whose cluster is another than the one that answers', { tenantIn: 'acme', isServed: true, home: { ...home, cluster: 'b' } }, HOST],
  [
    'whose cluster has no workers',
    { tenantIn: 'acme', isServed: false, home: { ...home, hasWorkers: false } },
    { in: 'host', kept: 'cluster "acme" has no worker' },
  ],
  [
    'that is there when workers go',
    { tenantIn: 'acme', servedIn: 'acme', isServed: true, home: { ...home, hasWorkers: false } },
    inside(true),
  ],
])('a plugin %s', (_, facts, place) => {
  expect(choosePlace(facts)).toEqual(place);
});
