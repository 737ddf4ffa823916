import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../kube/object.ts';
import { toRemoteApi } from './api-service.ts';
import { PASSED, serviceFinding, setAvailable } from './availability.ts';
import type { EndpointGroup } from './service-address.ts';
import { anApiService, aService } from './testing/cluster-objects.ts';

const api = toRemoteApi(anApiService())!;

describe('serviceFinding', () => {
  const ready: EndpointGroup = { ports: [{ name: 'https', port: 1 }], ready: [{ address: '127.0.0.1' }] };

  it.each<[string, KubeObject | undefined, EndpointGroup[], string | undefined]>([
    ['the service is missing', undefined, [], 'ServiceNotFound: service/metrics in "system" is not present'],
    [
      'it does not listen on the port',
      aService({ ports: [{ port: 80 }] }),
      [],
      'ServicePortError: service/metrics in "system" is not listening on port 443',
    ],
    ['it has no slices', aService(), [], 'EndpointsNotFound: cannot find endpointslices for service/metrics in "system"'],
    [
      'nobody is ready',
      aService(),
      [{ ...ready, ready: [] }],
      'MissingEndpoints: endpointslices for service/metrics in "system" have no addresses with port name "https"',
    ],
    ['all is there', aService(), [ready], undefined],
    ['it is elsewhere', aService({ type: 'ExternalName' }), [], undefined],
  ])('when %s', (_name, service, groups, expected) => {
    const finding = serviceFinding(api, service, () => groups);
    expect(finding && `${finding.reason}: ${finding.message}`).toBe(expected);
  });
});

describe('setAvailable', () => {
  it('moves the transition time only with the status', () => {
    const draft = anApiService();
    expect(setAvailable(draft, PASSED, 't1')).toBe(true);
    expect(setAvailable(draft, PASSED, 't2')).toBe(false);
    expect(setAvailable(draft, { ...PASSED, message: 'other' }, 't3')).toBe(true);
    expect(draft.status.conditions).toEqual([
      { type: 'Available', status: 'True', lastTransitionTime: 't1', reason: 'Passed', message: 'other' },
    ]);
    setAvailable(draft, { status: 'False', reason: 'x', message: 'y' }, 't4');
    expect(draft.status.conditions[0]).toMatchObject({ status: 'False', lastTransitionTime: 't4' });
  });
});
