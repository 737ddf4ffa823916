import { expect, test } from 'vitest';
import { aPod, type PodBuilder } from '../testing/builders.ts';

const GIB = 1024 ** 3;

test.each<[string, PodBuilder, Record<string, number>]>([
  ['nothing', aPod(), { cpu: 0, memory: 0 }],
  ['the sum of its containers', aPod().requesting({ cpu: '250m', memory: '1Gi' }, { cpu: '1' }), { cpu: 1250, memory: GIB }],
  [
    'the largest init container, if that is more',
    aPod().requesting({ cpu: '1' }).initRequesting({ cpu: '2' }, { cpu: '1500m' }),
    { cpu: 2000 },
  ],
  ['no init container that is less', aPod().requesting({ cpu: '3' }).initRequesting({ cpu: '2' }), { cpu: 3000 }],
  ['sidecars with its containers', aPod().requesting({ cpu: '1' }).sidecarRequesting({ cpu: '500m' }), { cpu: 1500 }],
  [
    'an init container with the sidecars started before it',
    aPod().requesting({ cpu: '1' }).sidecarRequesting({ cpu: '1' }).initRequesting({ cpu: '2' }),
    { cpu: 3000 },
  ],
  [
    'an init container without the sidecars started after it',
    aPod().requesting({ cpu: '1' }).initRequesting({ cpu: '2' }).sidecarRequesting({ cpu: '1' }),
    { cpu: 2000 },
  ],
  [
    'overhead on top',
    aPod()
      .requesting({ cpu: '1' })
      .with({ overhead: { cpu: '100m', memory: '1Gi' } }),
    { cpu: 1100, memory: GIB },
  ],
  [
    'what the Pod as a whole requests, instead',
    aPod()
      .requesting({ cpu: '1' })
      .with({ resources: { requests: { cpu: '4' } } }),
    { cpu: 4000 },
  ],
  ['local storage', aPod().requesting({ 'ephemeral-storage': '1Gi' }), { ephemeralStorage: GIB }],
])('a Pod requests %s', (_name, pod, expected) => {
  expect(pod.info().requests).toMatchObject(expected);
});

test('extended resources are added up by name, init containers included', () => {
  const { requests } = aPod()
    .requesting({ 'example.com/gpu': '1' }, { 'example.com/gpu': '1' })
    .initRequesting({ 'example.com/gpu': '4' })
    .info();
  expect(requests.scalars?.get('example.com/gpu')).toBe(4);
});

test('containers without requests are assumed to need something when nodes are compared', () => {
  const { assumed } = aPod().requesting({}, { cpu: '1' }).info();
  expect(assumed).toMatchObject({ cpu: 1100, memory: 2 * 200 * 1024 * 1024 });
});
