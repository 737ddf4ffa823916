import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Json } from '../../../../kube/object.ts';
import { StatusError } from '../../../../kube/status.ts';
import { conditionMatcher } from '../match-conditions.ts';
import { aNamespace, aPod, aRequest, refusalOf } from '../testing/a-request.ts';
import { ObjectsInMemory } from '../testing/objects-in-memory.ts';
import { aConfiguration, aWebhook } from '../testing/webhook-configuration.ts';
import { startWebhookServer, type WebhookServer } from '../testing/webhook-server.ts';
import type { ServiceTarget } from './call.ts';
import { validatingWebhooks } from './validating.ts';

const CONFIGURATIONS = { group: 'admissionregistration.k8s.io', resource: 'validatingwebhookconfigurations' };
const NAMESPACES = { group: '', resource: 'namespaces' };
const ALLOW = (review: Json) => ({ ...review, request: undefined, response: { uid: review.request.uid, allowed: true } });

let server: WebhookServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

function withWebhooks(target: ServiceTarget, ...webhooks: Json[]) {
  const objects = new ObjectsInMemory();
  objects.put(NAMESPACES, aNamespace('team', { env: 'dev' }));
  objects.put(CONFIGURATIONS, aConfiguration('Validating', 'cfg', ...webhooks));
  let uid = 0;
  const plugin = validatingWebhooks({
    reader: objects,
    resolve: ({ name }) => {
      if (name !== 'hook') throw new Error(`service "${name}" not found`);
      return target;
    },
    compileConditions: (conditions, failsOpen) =>
      conditionMatcher(conditions, failsOpen, (expression) => (request) => {
        if (expression === 'error') throw new Error('no such key: x');
        return request.name === expression;
      }),
    decode: (_request, object) => object,
    newUid: () => `uid-${++uid}`,
  });
  return { objects, plugin };
}

async function overTls(respond: (request: Json, path: string) => Json, ...webhooks: Json[]) {
  server = await startWebhookServer(respond);
  return withWebhooks({ host: '127.0.0.1', port: server.port }, ...webhooks);
}

const podCreation = () => aRequest('pods', aPod());

describe('validatingWebhooks over HTTPS', () => {
  it('send the review and admit what the webhook allows, with its warnings and annotations', async () => {
    const response = { allowed: true, warnings: ['careful'], auditAnnotations: { seen: 'yes' } };
    const { plugin } = await overTls(() => response, aWebhook());
    const request = podCreation();
    await plugin.validate!(request);
    expect(request.warnings).toEqual(['careful']);
    expect(request.annotations).toEqual({ 'check.example.com/seen': 'yes' });
    expect(server!.reviews[0]).toEqual({
      kind: 'AdmissionReview',
      apiVersion: 'admission.k8s.io/v1',
      request: {
        uid: 'uid-1',
        kind: { group: '', version: 'v1', kind: 'Pod' },
        resource: { group: '', version: 'v1', resource: 'pods' },
        requestKind: { group: '', version: 'v1', kind: 'Pod' },
        requestResource: { group: '', version: 'v1', resource: 'pods' },
        name: 'p',
        namespace: 'team',
        operation: 'CREATE',
        userInfo: { username: 'jane', groups: ['system:authenticated'] },
        object: aPod(),
        oldObject: null,
        dryRun: false,
        options: { kind: 'CreateOptions', apiVersion: 'meta.k8s.io/v1' },
      },
    });
  });

  it('refuse with the Status of the webhook, its name in front', async () => {
    const { plugin } = await overTls(
      () => ({ allowed: false, status: { message: 'no latest tag', code: 403, reason: 'Forbidden' } }),
      aWebhook(),
    );
    const error = await Promise.resolve(plugin.validate!(podCreation())).catch((e: unknown) => e as StatusError);
    expect((error as StatusError).status).toEqual({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: 'admission webhook "check.example.com" denied the request: no latest tag',
      reason: 'Forbidden',
      code: 403,
    });
  });

  it('refuse without explanation with 400 when the webhook gives none', async () => {
    const { plugin } = await overTls(() => ({ allowed: false }), aWebhook());
    const error = (await Promise.resolve(plugin.validate!(podCreation())).catch((e: unknown) => e)) as StatusError;
    expect(error.message).toBe('admission webhook "check.example.com" denied the request without explanation');
    expect(error.code).toBe(400);
  });

  it('keep the connection to the webhook open', async () => {
    const { plugin } = await overTls(() => ({ allowed: true }), aWebhook());
    for (let i = 0; i < 5; i++) await plugin.validate!(podCreation());
    expect(server!.reviews).toHaveLength(5);
    expect(server!.connections).toBe(1);
  });

  it('call by URL', async () => {
    server = await startWebhookServer((_request, path) => ({ allowed: path === '/v?timeout=10s' }));
    const clientConfig = { ...aWebhook().clientConfig, service: undefined, url: `https://localhost:${server.port}/v` };
    const { plugin } = withWebhooks({ host: 'unused', port: 1 }, aWebhook({ clientConfig }));
    expect(await refusalOf(() => plugin.validate!(podCreation()))).toBe('');
  });

  const FAILED = 'Internal error occurred: failed calling webhook "check.example.com": ';
  it.each<[string, Json, string]>([
    ['another uid', { uid: 'other', allowed: true }, 'received invalid webhook response: expected response.uid="uid-1", got "other"'],
    [
      'a patch',
      { allowed: true, patch: 'W10=', patchType: 'JSONPatch' },
      'received invalid webhook response: validating webhook may not return response.patch',
    ],
    [
      '500',
      { raw: 'boom', code: 500 },
      'failed to call webhook: an error on the server ("boom") has prevented the request from succeeding',
    ],
    [
      'nothing',
      { raw: '', code: 200 },
      'failed to call webhook: 0-length response with status code: 200 and content type: application/json',
    ],
    ['404', { raw: '', code: 404 }, 'failed to call webhook: the server could not find the requested resource'],
    [
      'a review without kind',
      { raw: '{"response":{"uid":"uid-1","allowed":true}}', code: 200 },
      'received invalid webhook response: expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got /, Kind=',
    ],
  ])('refuse when the webhook answers with %s', async (_name, answer, message) => {
    const { plugin } = await overTls(() => answer, aWebhook());
    expect(await refusalOf(() => plugin.validate!(podCreation()))).toBe(FAILED + message);
  });

  const POST = 'failed to call webhook: Post "https://hook.team.svc:443/check?timeout=10s": ';
  it('refuse when nobody listens', async () => {
    const { plugin } = withWebhooks({ host: '127.0.0.1', port: 1 }, aWebhook());
    expect(await refusalOf(() => plugin.validate!(podCreation()))).toBe(
      `${FAILED}${POST}dial tcp 127.0.0.1:1: connect: connection refused`,
    );
  });

  it('refuse when the service does not exist', async () => {
    const clientConfig = { service: { namespace: 'team', name: 'gone' } };
    const { plugin } = withWebhooks({ host: '127.0.0.1', port: 1 }, aWebhook({ clientConfig }));
    expect(await refusalOf(() => plugin.validate!(podCreation()))).toBe(
      `${FAILED}failed to call webhook: Post "https://gone.team.svc:443/?timeout=10s": service "gone" not found`,
    );
  });

  it.each([
    ['signed by another CA', { caBundle: undefined }, 'certificate signed by unknown authority'],
    [
      'for another name',
      { service: { namespace: 'other', name: 'hook' } },
      'certificate is valid for hook.team.svc, metrics.system.svc, localhost, not hook.other.svc',
    ],
  ])('refuse a certificate %s', async (_name, changes, message) => {
    const clientConfig = { ...aWebhook().clientConfig, ...changes };
    const { plugin } = await overTls(() => ({ allowed: true }), aWebhook({ clientConfig }));
    expect(await refusalOf(() => plugin.validate!(podCreation()))).toContain(`tls: failed to verify certificate: x509: ${message}`);
  });

  it('admit when the call fails and the policy is Ignore', async () => {
    const { plugin } = withWebhooks({ host: '127.0.0.1', port: 1 }, aWebhook({ failurePolicy: 'Ignore' }));
    const request = podCreation();
    await plugin.validate!(request);
    expect(request.annotations).toEqual({ 'failed-open.validating.webhook.admission.k8s.io/round_0_index_0': 'check.example.com' });
  });
});

describe('validatingWebhooks in process', () => {
  it('give up on a function that takes longer than the timeout', async () => {
    vi.useFakeTimers();
    const { plugin } = withWebhooks({ handler: () => new Promise(() => {}) }, aWebhook({ timeoutSeconds: 2 }));
    const refused = refusalOf(() => plugin.validate!(podCreation()));
    await vi.advanceTimersByTimeAsync(2000);
    expect(await refused).toBe(
      'Internal error occurred: failed calling webhook "check.example.com": failed to call webhook: Post "https://hook.team.svc:443/check?timeout=2s": context deadline exceeded',
    );
    vi.useRealTimers();
  });

  it('do not let a function change the object', async () => {
    const { plugin } = withWebhooks(
      {
        handler: (review) => {
          review.request!.object!.metadata.name = 'changed';
          return ALLOW(review);
        },
      },
      aWebhook(),
    );
    const request = podCreation();
    await plugin.validate!(request);
    expect(request.object!.metadata.name).toBe('p');
  });

  it('refuse dry runs when the webhook has side effects', async () => {
    const { plugin } = withWebhooks({ handler: ALLOW }, aWebhook({ sideEffects: 'Some' }));
    const request = aRequest('pods', aPod(), { dryRun: true });
    expect(await refusalOf(() => plugin.validate!(request))).toBe('admission webhook "check.example.com" does not support dry run');
  });
});

describe('validatingWebhooks match', () => {
  async function called(webhook: Json, request = podCreation()): Promise<boolean> {
    let calls = 0;
    const handler = (review: Json) => {
      calls++;
      return ALLOW(review);
    };
    const { plugin } = withWebhooks({ handler }, webhook);
    if (plugin.handles(request)) await plugin.validate!(request);
    return calls > 0;
  }

  it.each<[string, Json, boolean]>([
    ['the resource', {}, true],
    ['another operation', { rules: [{ operations: ['DELETE'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*'] }] }, false],
    ['everything', { rules: [{ operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*/*'] }] }, true],
    ['subresources only', { rules: [{ operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['pods/*'] }] }, true],
    ['one subresource', { rules: [{ operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['pods/status'] }] }, false],
    ['cluster scope', { rules: [{ operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*'], scope: 'Cluster' }] }, false],
    [
      'namespaced scope',
      { rules: [{ operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*'], scope: 'Namespaced' }] },
      true,
    ],
    ['labels of the namespace', { namespaceSelector: { matchLabels: { env: 'dev' } } }, true],
    ['other labels of the namespace', { namespaceSelector: { matchLabels: { env: 'prod' } } }, false],
    ['labels of the object', { objectSelector: { matchLabels: { app: 'x' } } }, false],
    ['conditions that hold', { matchConditions: [{ name: 'a', expression: 'p' }] }, true],
    ['conditions that do not hold', { matchConditions: [{ name: 'a', expression: 'q' }] }, false],
    [
      'a false condition beside a failing one',
      {
        matchConditions: [
          { name: 'e', expression: 'error' },
          { name: 'a', expression: 'q' },
        ],
      },
      false,
    ],
    ['a failing condition with Ignore', { failurePolicy: 'Ignore', matchConditions: [{ name: 'e', expression: 'error' }] }, false],
  ])('%s', async (_name, changes, expected) => {
    expect(await called(aWebhook(changes))).toBe(expected);
  });

  it('refuse when a condition fails and the policy is Fail', async () => {
    const { plugin } = withWebhooks({ handler: ALLOW }, aWebhook({ matchConditions: [{ name: 'e', expression: 'error' }] }));
    expect(await refusalOf(() => plugin.validate!(podCreation()))).toBe('pods "p" is forbidden: no such key: x');
  });

  it('never their own configuration', async () => {
    const everything = aWebhook({ rules: [{ operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*'] }] });
    const request = aRequest('validatingwebhookconfigurations', aConfiguration('Validating', 'x'));
    expect(await called(everything, request)).toBe(false);
  });

  it('the labels a namespace is about to get', async () => {
    const rules = [{ operations: ['*'], apiGroups: [''], apiVersions: ['v1'], resources: ['namespaces'] }];
    const webhook = aWebhook({ rules, namespaceSelector: { matchLabels: { env: 'prod' } } });
    expect(await called(webhook, aRequest('namespaces', aNamespace('new', { env: 'prod' })))).toBe(true);
    expect(await called(webhook, aRequest('namespaces', aNamespace('new', { env: 'dev' })))).toBe(false);
  });

  it('without a promise when their selectors leave the request out', () => {
    const { plugin } = withWebhooks({ handler: ALLOW }, aWebhook({ namespaceSelector: { matchLabels: { env: 'prod' } } }));
    expect(plugin.validate!(podCreation())).toBeUndefined();
  });

  it('what a changed configuration says', async () => {
    const { objects, plugin } = withWebhooks({ handler: ALLOW }, aWebhook());
    expect(plugin.handles(podCreation())).toBe(true);
    await objects.delete(CONFIGURATIONS, '', 'cfg');
    expect(plugin.handles(podCreation())).toBe(false);
  });
});
