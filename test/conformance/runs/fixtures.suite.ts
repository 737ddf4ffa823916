import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { parseAllDocuments } from 'yaml';
import type { Json, KubeObject } from '../../../src/kube/object.ts';
import type { ApiTarget } from '../../support/api-target.ts';
import { ownCustomResourceDefinitions } from '../../support/custom-resource-definitions.ts';

export function fixtures(file: 'runs' | 'runtimes'): KubeObject[] {
  const text = readFileSync(`test/conformance/runs/fixtures/${file}.yaml`, 'utf8');
  return parseAllDocuments(text).map((document) => document.toJS() as KubeObject);
}

const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const path = (kind: string) => `/apis/kruntimes.io/v1alpha1/namespaces/default/${kind}`;
const DEFAULTS: Record<string, Json> = {
  Run: {},
  Runtime: { port: 9091, replicas: 1 },
};

/** What the documentation of kruntimes shows and its own API server refuses. Ours does so in the same words. */
const REFUSED: [string, object, number, string][] = [
  ['arguments beside the mode', { runtime: 'bash', args: ['true'], mode: { task: {} } }, 400, 'unknown field "spec.args"'],
  ['no mode', { runtime: 'bash', source: { inline: 'true' } }, 422, 'spec.mode: Required value'],
  ['variables as a map', { runtime: 'bash', mode: { task: {} }, env: { A: 'b' } }, 400, 'unknown field "spec.env.A"'],
  ['timeoutSeconds', { runtime: 'bash', mode: { task: {} }, timeoutSeconds: 3 }, 400, 'unknown field "spec.timeoutSeconds"'],
];

/** The manifests of users, on every API server. */
export function fixturesSuite(name: string, start: () => Promise<ApiTarget>): void {
  describe(`manifests of kruntimes on ${name}`, () => {
    let target: ApiTarget;
    beforeAll(async () => {
      target = await start();
      for (const definition of ownCustomResourceDefinitions()) await target.request('POST', CRDS, definition);
      await vi.waitFor(
        async () => {
          for (const kind of ['runs', 'runtimes']) expect((await target.request('GET', path(kind))).status).toBe(200);
        },
        { timeout: 30_000 },
      );
    }, 120_000);
    afterAll(() => target?.close());

    it.each([...fixtures('runtimes'), ...fixtures('runs')].map((object) => [object.kind, object.metadata.name!, object] as const))(
      '%s "%s" is taken by kubectl apply as it stands, and stored as it was written',
      async (kind, own, object) => {
        const resource = kind === 'Run' ? 'runs' : 'runtimes';
        const query = 'fieldManager=kubectl&fieldValidation=Strict';
        const applied = await target.request('PATCH', `${path(resource)}/${own}?${query}`, object, {
          contentType: 'application/apply-patch+yaml',
        });
        expect(applied.body.message).toBeUndefined();
        expect(applied.status).toBe(201);
        expect(applied.body.spec).toMatchObject({ ...DEFAULTS[kind], ...object.spec });
        const again = await target.request('PATCH', `${path(resource)}/${own}?${query}`, object, {
          contentType: 'application/apply-patch+yaml',
        });
        expect(again.body.metadata.resourceVersion).toBe(applied.body.metadata.resourceVersion);
      },
    );

    it.each(REFUSED)('a Run with %s is refused', async (_name, spec, code, message) => {
      const run = { apiVersion: 'kruntimes.io/v1alpha1', kind: 'Run', metadata: { name: 'refused' }, spec };
      const { status, body } = await target.request('POST', `${path('runs')}?fieldValidation=Strict`, run);
      expect(body.message).toContain(message);
      expect(status).toBe(code);
    });

    it('a Run whose retryPolicy has no backoff can be cancelled by a merge patch, which the original cannot', async () => {
      const spec = { runtime: 'bash', mode: { task: {} }, retryPolicy: { maxAttempts: 2 } };
      await target.request('POST', path('runs'), { apiVersion: 'kruntimes.io/v1alpha1', kind: 'Run', metadata: { name: 'cancel' }, spec });
      const patch = { spec: { cancelRequested: true } };
      const { status } = await target.request('PATCH', `${path('runs')}/cancel`, patch, { contentType: 'application/merge-patch+json' });
      expect(status).toBe(200);
    });
  });
}
