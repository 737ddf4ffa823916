import { describe, expect, it } from 'vitest';
import { decide, found, ownIngresses, PLAIN_ALLOWED, routingOf, type IngressObject } from './routes.ts';

type Spec = NonNullable<IngressObject['spec']>;
const backend = (name: string) => ({ service: { name, port: { number: 80 } } });
const anIngress = (name: string, spec: Spec, metadata: object = {}): IngressObject => ({
  apiVersion: 'networking.k8s.io/v1',
  kind: 'Ingress',
  metadata: { name, namespace: 'web', creationTimestamp: '2026-01-01T00:00:00Z', ...metadata },
  spec,
});
const rule = (
  host: string | undefined,
  ...paths: [path: string, type: 'Prefix' | 'Exact' | 'ImplementationSpecific', service: string][]
) => ({
  ...(host === undefined ? {} : { host }),
  http: { paths: paths.map(([path, pathType, service]) => ({ path, pathType, backend: backend(service) })) },
});
const shop = anIngress('shop', {
  rules: [
    rule(
      'shop.example',
      ['/', 'Prefix', 'front'],
      ['/cart', 'Prefix', 'cart'],
      ['/cart/pay', 'Exact', 'pay'],
      ['/old/', 'ImplementationSpecific', 'old'],
    ),
    rule('*.shop.example', ['/', 'Prefix', 'any-shop']),
  ],
});

describe('decide', () => {
  const routing = routingOf([shop]);
  it.each([
    ['shop.example', '/', 'front'],
    ['SHOP.example', '/carts', 'front'],
    ['shop.example', '/cart', 'cart'],
    ['shop.example', '/cart/', 'cart'],
    ['shop.example', '/cart/items', 'cart'],
    ['shop.example', '/cart/pay', 'pay'],
    ['shop.example', '/cart/pay/', 'cart'],
    ['shop.example', '/old', 'old'],
    ['one.shop.example', '/x', 'any-shop'],
    ['one.two.shop.example', '/x', undefined],
    ['other.example', '/', undefined],
  ])('%s%s goes to %s', (host, path, expected) => {
    const decision = decide(routing, host, path, false);
    expect(decision.type === 'target' ? decision.target.service : undefined).toBe(expected);
  });

  it('takes rules for all hosts and the default backend when there is no other', () => {
    const all = routingOf([
      shop,
      anIngress('all', { defaultBackend: backend('last'), rules: [rule(undefined, ['/api', 'Prefix', 'api'])] }),
    ]);
    expect(decide(all, 'other.example', '/api/x', false)).toMatchObject({ target: { service: 'api' } });
    expect(decide(all, 'other.example', '/x', false)).toMatchObject({ target: { service: 'last' } });
    expect(decide(all, 'shop.example', '/api', false)).toMatchObject({ target: { service: 'front' } });
  });

  it('leaves a path to the older of two that claim it', () => {
    const claim = (name: string, creationTimestamp: string) =>
      anIngress(name, { rules: [rule('shop.example', ['/', 'Prefix', name])] }, { creationTimestamp });
    const both = routingOf([claim('late', '2026-02-01T00:00:00Z'), claim('early', '2026-01-01T00:00:00Z')]);
    expect(decide(both, 'shop.example', '/', false)).toMatchObject({ target: { service: 'early' } });
  });

  it('sends plain requests for a host with a certificate to it, unless the Ingress allows them', () => {
    const tls = { ...shop.spec, tls: [{ hosts: ['shop.example'], secretName: 'cert' }] };
    expect(decide(routingOf([anIngress('a', tls)]), 'shop.example', '/', false)).toEqual({ type: 'secure' });
    expect(decide(routingOf([anIngress('a', tls)]), 'shop.example', '/', true)).toMatchObject({ type: 'target' });
    const allowed = anIngress('a', tls, { annotations: { [PLAIN_ALLOWED]: 'true' } });
    expect(decide(routingOf([allowed]), 'shop.example', '/', false)).toMatchObject({ type: 'target' });
  });
});

describe('routingOf', () => {
  it('finds certificates by name, beside it, and for all hosts of an Ingress that names none', () => {
    const { certificates } = routingOf([
      anIngress('a', { tls: [{ hosts: ['*.shop.example'], secretName: 'wild' }] }, { creationTimestamp: '2025-01-01T00:00:00Z' }),
      anIngress('b', { ...shop.spec, tls: [{ secretName: 'own' }] }, { namespace: 'other' }),
    ]);
    expect(found(certificates, 'x.shop.example')).toEqual({ namespace: 'web', secret: 'wild' });
    expect(found(certificates, 'shop.example')).toEqual({ namespace: 'other', secret: 'own' });
    expect(found(certificates, 'other.example')).toBeUndefined();
  });
});

describe('ownIngresses', () => {
  const named = anIngress('named', { ingressClassName: 'tenantry' });
  const other = anIngress('other', { ingressClassName: 'nginx' });
  const none = anIngress('none', {});
  const legacy = anIngress('legacy', {}, { annotations: { 'kubernetes.io/ingress.class': 'tenantry' } });
  it.each([
    [true, ['named', 'none', 'legacy']],
    [false, ['named', 'legacy']],
  ])('takes those of its class, and those of none when it is the default: %s', (isDefault, expected) => {
    const own = ownIngresses([named, other, none, legacy], new Set(['tenantry']), isDefault);
    expect(own.map(({ metadata }) => metadata.name)).toEqual(expected);
  });
});
