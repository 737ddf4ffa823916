import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createLocalJWKSet, decodeJwt, jwtVerify } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PluginInstallationKind } from '../../../src/api/plugins.tenantry.dev/v1alpha1/plugin-installation.ts';
import { connectTarget, type ApiTarget } from '../../support/api-target.ts';
import { PluginWorld } from './plugin-world.ts';

const REVIEW = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };

describe('the token of a plugin, shown to the API server', { timeout: 60_000 }, () => {
  let world: PluginWorld;
  let stopKubelet: () => Promise<void>;
  const targets: ApiTarget[] = [];
  beforeAll(async () => {
    world = await PluginWorld.start();
    await Promise.all([
      world.publisher('acme', 'acme'),
      world.tenants.tenant('school'),
      world.tenants.tenant('rival'),
      world.tenants.node('worker'),
    ]);
    stopKubelet = world.tenants.playKubelet(['plugin-school-hello', 'plugin-rival-hello']);
    await world.version('acme', 'hello', '1.0.0', { permissions: ['content.read'] });
    await Promise.all(['school', 'rival'].map((tenant) => world.install(tenant, 'hello', { version: '1.0.0' })));
    await Promise.all(['school', 'rival'].map((tenant) => world.phase(tenant, 'hello', 'ACTIVE')));
  }, 60_000);
  afterAll(async () => {
    await stopKubelet?.();
    await Promise.all(targets.map((target) => target.close()));
    await world?.stop();
  }, 60_000);

  function by(token?: string): ApiTarget {
    const { url, kubeconfig } = world.target;
    const ca = readFileSync(join(dirname(kubeconfig), 'pki/ca.crt'), 'utf8');
    const target = connectTarget({ name: 'token', url, kubeconfig, ca, token, close: () => Promise.resolve() });
    targets.push(target);
    return target;
  }

  it('is taken for what it says, with no rights of its own', async () => {
    const plugin = by(await world.token('plugin-school-hello'));
    const { status, body } = await plugin.request('POST', REVIEW, review);
    expect(status).toBe(201);
    expect(body.status.userInfo).toMatchObject({
      username: 'plugin:hello:school',
      groups: ['tenantry:plugins', 'tenantry:plugins:school', 'system:authenticated'],
    });
    const own = '/api/v1/namespaces/plugin-school-hello/secrets/plugin-token';
    for (const path of [own, own.replace('school', 'rival'), '/api/v1/namespaces/school/pods', '/api/v1/namespaces']) {
      expect((await plugin.request('GET', path)).status).toBe(403);
    }
  });

  it('is verified by keys that anybody finds at an address', async () => {
    const nobody = by();
    const { body: configuration } = await nobody.request('GET', '/plugins/.well-known/openid-configuration');
    expect(configuration).toMatchObject({ issuer: 'https://tenantry.dev/plugins', jwks_uri: `${world.target.url}/plugins/openid/v1/jwks` });
    const { body: jwks } = await nobody.request('GET', new URL(configuration.jwks_uri).pathname);
    const { payload } = await jwtVerify(await world.token('plugin-school-hello'), createLocalJWKSet(jwks), {
      issuer: configuration.issuer,
    });
    expect(payload.sub).toBe('plugin:hello:school');
  });

  it('is worth nothing once its installation is suspended, and never again', async () => {
    const before = await world.token('plugin-school-hello');
    const plugin = by(before);
    await world.patch('school', 'hello', { suspended: true });
    expect((await plugin.request('POST', REVIEW, review)).status).toBe(401);
    await world.phase('school', 'hello', 'SUSPENDED');
    await world.patch('school', 'hello', { suspended: false });
    await world.phase('school', 'hello', 'ACTIVE');
    expect((await plugin.request('POST', REVIEW, review)).status).toBe(401);
    const after = await world.tenants.eventually(async () => {
      const token = await world.token('plugin-school-hello').catch(() => undefined);
      return token !== undefined && decodeJwt(token).sid !== decodeJwt(before).sid ? token : undefined;
    });
    expect((await by(after).request('POST', REVIEW, review)).status).toBe(201);
  });

  it('is worth nothing once its installation goes, from the first moment on', async () => {
    const plugin = by(await world.token('plugin-rival-hello'));
    expect((await plugin.request('POST', REVIEW, review)).status).toBe(201);
    await world.client.resource(PluginInstallationKind, 'rival').delete('hello');
    expect((await plugin.request('POST', REVIEW, review)).status).toBe(401);
  });
});
