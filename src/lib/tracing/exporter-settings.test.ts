import { describe, expect, it } from 'vitest';
import { exporterSettings } from './exporter-settings.ts';

describe('exporterSettings', () => {
  it.each([
    ['nothing said', {}, undefined, undefined],
    ['an endpoint', { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c:4318' }, undefined, 'http://c:4318/v1/traces'],
    ['an endpoint with a path', { OTEL_EXPORTER_OTLP_ENDPOINT: 'https://c/otlp/' }, undefined, 'https://c/otlp/v1/traces'],
    ['the address of traces, taken as it is', { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://c:4318/x' }, undefined, 'http://c:4318/x'],
    ['a flag before the environment', { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://c/x' }, 'http://d:1', 'http://d:1/v1/traces'],
    ['switched off', { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c', OTEL_SDK_DISABLED: 'true' }, undefined, undefined],
    ['no exporter of traces', { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c', OTEL_TRACES_EXPORTER: 'none' }, undefined, undefined],
    ['an empty variable', { OTEL_EXPORTER_OTLP_ENDPOINT: '' }, undefined, undefined],
  ])('%s', (_name, environment: Record<string, string>, flag, url) => {
    expect(exporterSettings(environment, 'x', flag)?.url).toBe(url);
  });

  it('reads headers, attributes and the name of the service', () => {
    const settings = exporterSettings(
      {
        OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c',
        OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20x, tenant = 1 ,nonsense',
        OTEL_RESOURCE_ATTRIBUTES: 'zone=a,service.name=other',
      },
      'tenantry',
    );
    expect(settings?.headers).toEqual({ authorization: 'Bearer x', tenant: '1' });
    expect(settings?.resource).toEqual({ zone: 'a', 'service.name': 'tenantry' });
  });

  it.each(['localhost:4317', 'grpc://c:4317', 'nonsense'])('refuses %s', (endpoint) => {
    expect(() => exporterSettings({}, 'x', endpoint)).toThrow(`Cannot send traces to "${endpoint}"`);
  });
});
