import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PLUGIN_LABEL, PUBLISHER_LABEL } from '../../../src/api/plugins.tenantry.dev/v1alpha1/names.ts';
import { PLUGIN_ROLE, ROLE_LABEL } from '../../../src/api/tenantry.dev/v1alpha1/names.ts';
import { ownCustomResourceDefinitions } from '../../support/custom-resource-definitions.ts';
import { startEmbeddedTarget, type EmbeddedTarget } from '../../support/embedded-target.ts';

describe('the namespace of a plugin', { timeout: 60_000 }, () => {
  let target: EmbeddedTarget;
  beforeAll(async () => {
    target = await startEmbeddedTarget(ownCustomResourceDefinitions);
  }, 60_000);
  afterAll(() => target?.close());

  async function make(path: string, object: object): Promise<string> {
    const { status, body } = await target.request('POST', path, object);
    return status === 201 ? 'created' : String(body.message);
  }
  async function makeNamespace(name: string, labels: Record<string, string>): Promise<void> {
    expect(await make('/api/v1/namespaces', { metadata: { name, labels } })).toBe('created');
    expect(await make(`/api/v1/namespaces/${name}/serviceaccounts`, { metadata: { name: 'app' } })).toBe('created');
  }
  const run = (namespace: string, image: string) => {
    const spec = { serviceAccountName: 'app', containers: [{ name: 'app', image }] };
    return make(`/api/v1/namespaces/${namespace}/pods`, { metadata: { name: 'app' }, spec });
  };

  it('takes no Pod whose image nobody verified, not even from the admin', async () => {
    await makeNamespace('plugin-school-hello', { [ROLE_LABEL]: PLUGIN_ROLE, [PUBLISHER_LABEL]: 'acme', [PLUGIN_LABEL]: 'hello' });
    expect(await run('plugin-school-hello', 'r.example/acme/hello:1.0.0')).toContain(
      'admission webhook "pods.plugins.tenantry.dev" denied the request: Cannot run the image "r.example/acme/hello:1.0.0" in container "app": it is named by a tag',
    );
    expect(await run('plugin-school-hello', `r.example/acme/hello@sha256:${'a'.repeat(64)}`)).toContain('it is no version of this plugin');
  });

  it('takes no Pod at all when it does not say of which plugin it is', async () => {
    await makeNamespace('plugin-school-lost', { [ROLE_LABEL]: PLUGIN_ROLE });
    expect(await run('plugin-school-lost', 'r.example/x:1')).toContain('says not of which');
  });

  it('is no other namespace', async () => {
    await makeNamespace('plain', {});
    expect(await run('plain', 'r.example/x:1')).toBe('created');
  });
});
