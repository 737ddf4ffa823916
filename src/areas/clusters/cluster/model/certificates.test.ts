import { describe, expect, it } from 'vitest';
import type { TenantCluster } from '../../../../api/tenantry.dev/v1alpha1/tenant-cluster.ts';
import type { RunningControlPlane } from '../../control-plane/control-planes.ts';
import { certificatesCondition, certificatesEvent, certificatesStatus } from './certificates.ts';

const at = (text: string) => Date.parse(text);
const NOW = at('2030-01-01T00:00:00Z');
const first = { edition: 1, oldestTrusted: 1, isCleanCut: false, begins: 0, ends: at('2040-01-01T00:00:00Z') };
const second = {
  edition: 2,
  oldestTrusted: 1,
  isCleanCut: false,
  begins: 0,
  reason: 'Asked' as const,
  ends: at('2041-01-01T00:00:00Z'),
  formersUntil: at('2031-01-01T00:00:00Z'),
};
const keys = (authorities: RunningControlPlane['authorities'], ends = '2030-12-01T00:00:00Z') => ({
  certificatesExpire: at(ends),
  authorities,
});

describe('certificatesCondition', () => {
  it.each([
    ['True, with the soonest ends', keys(first), 'True', 'Valid', /2030-12-01T00:00:00Z .* authorities end at 2040-01-01T00:00:00Z$/],
    [
      'True while former authorities are trusted, with the day until when',
      keys(second),
      'True',
      'Overlapping',
      /trusted until 2031-01-01T00:00:00Z$/,
    ],
    ['False when the authorities have yet to begin', keys({ ...first, begins: NOW + 1000 }), 'False', 'NotYetValid', /the clock is wrong/],
    ['False when a certificate has ended', keys(first, '2029-12-31T00:00:00Z'), 'False', 'Expired', /ended at 2029-12-31T00:00:00Z$/],
  ])('is %s', (_name, given, status, reason, message) => {
    expect(certificatesCondition(given, NOW)).toEqual({ status, reason, message: expect.stringMatching(message) });
  });
});

describe('certificatesEvent', () => {
  const { formersUntil: _, ...revoked } = second;
  it.each<[string, TenantCluster['status'], ReturnType<typeof keys>, string | undefined]>([
    ['nothing of a new cluster', undefined, keys(first), undefined],
    ['nothing when nothing has changed', certificatesStatus(keys(second)), keys(second), undefined],
    ['a renewal', certificatesStatus(keys(first)), keys(first, '2031-12-01T00:00:00Z'), 'CertificatesRenewed'],
    ['a rotation', certificatesStatus(keys(first)), keys(second), 'AuthoritiesRotated'],
    ['the end of former authorities', certificatesStatus(keys(second)), keys(revoked), 'AuthoritiesForgotten'],
    ['a rotation that revoked at once', certificatesStatus(keys(first)), keys(revoked), 'AuthoritiesRotated'],
  ])('tells %s', (_name, before, after, reason) => expect(certificatesEvent(before, after)?.reason).toBe(reason));
});
