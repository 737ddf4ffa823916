import { describe, expect, it } from 'vitest';
import { authenticationConfigMap } from './authentication-config-map.ts';
import { builtInApiService, customApiService, registrations } from './local-api-services.ts';
import { anApiService } from './testing/cluster-objects.ts';

const APPS = builtInApiService({ group: 'apps', version: 'v1' })!;
const WIDGETS = customApiService({ group: 'example.com', version: 'v1' });

describe('local APIServices', () => {
  it('have the priorities of kube-apiserver', () => {
    expect(APPS).toEqual({
      apiVersion: 'apiregistration.k8s.io/v1',
      kind: 'APIService',
      metadata: { name: 'v1.apps', labels: { 'kube-aggregator.kubernetes.io/automanaged': 'onstart' } },
      spec: { group: 'apps', version: 'v1', groupPriorityMinimum: 17800, versionPriority: 15 },
    });
    expect(WIDGETS.spec).toMatchObject({ groupPriorityMinimum: 1000, versionPriority: 100 });
    expect(builtInApiService({ group: '', version: 'v1' })!.metadata.name).toBe('v1.');
    expect(builtInApiService({ group: 'apiregistration.k8s.io', version: 'v1' })).toBeUndefined();
  });
});

describe('registrations', () => {
  it('create what is missing', () => {
    expect(registrations([APPS], [])).toEqual([{ create: APPS }]);
  });

  it('leave what is right', () => {
    expect(registrations([APPS, WIDGETS], [APPS, WIDGETS])).toEqual([]);
  });

  it('correct what they manage and differs', () => {
    const old = { ...APPS, spec: { ...APPS.spec, versionPriority: 1 } };
    expect(registrations([APPS], [old])).toEqual([{ update: APPS }]);
  });

  it('remove what they manage and nobody wants any more', () => {
    expect(registrations([], [WIDGETS])).toEqual([{ remove: 'v1.example.com' }]);
  });

  it('leave alone what a person registered, under whatever name', () => {
    const own = { ...anApiService(), metadata: { name: 'v1.apps' } };
    expect(registrations([APPS], [own, anApiService()])).toEqual([]);
  });
});

describe('authenticationConfigMap', () => {
  it('says how to recognise the front proxy', () => {
    const map = authenticationConfigMap({ clientCa: 'CLIENT', requestHeader: { ca: 'PROXY', allowedNames: ['front-proxy-client'] } });
    expect(map.metadata).toEqual({ namespace: 'kube-system', name: 'extension-apiserver-authentication' });
    expect(map.data).toEqual({
      'client-ca-file': 'CLIENT',
      'requestheader-allowed-names': '["front-proxy-client"]',
      'requestheader-client-ca-file': 'PROXY',
      'requestheader-extra-headers-prefix': '["X-Remote-Extra-"]',
      'requestheader-group-headers': '["X-Remote-Group"]',
      'requestheader-uid-headers': '["X-Remote-Uid"]',
      'requestheader-username-headers': '["X-Remote-User"]',
    });
  });
});
