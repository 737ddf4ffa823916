import { expect, it } from 'vitest';
import type { ApiSuiteContext } from './suite.ts';

/** Bad input: the same status code, reason and message as kube-apiserver, and nothing changed. */
export function refusalSuite({ target, namespace, path }: ApiSuiteContext): void {
  const expectRefusal = async (method: string, url: string, body: unknown, expected: object, contentType?: string) => {
    const answer = await target().request(method, url, body, contentType === undefined ? {} : { contentType });
    expect(answer.body).toMatchObject({ kind: 'Status', status: 'Failure', ...expected });
    return answer;
  };

  it('an object that is not there', () =>
    expectRefusal('GET', path('configmaps', 'nobody'), undefined, {
      code: 404,
      reason: 'NotFound',
      message: 'configmaps "nobody" not found',
      details: { name: 'nobody', kind: 'configmaps' },
    }));

  it('a resource that is not there', () =>
    expectRefusal('GET', '/api/v1/nothings', undefined, {
      code: 404,
      reason: 'NotFound',
      message: 'the server could not find the requested resource',
    }));

  it('an object that is there already', async () => {
    await target().request('POST', path('configmaps'), { metadata: { name: 'twice' } });
    await expectRefusal(
      'POST',
      path('configmaps'),
      { metadata: { name: 'twice' } },
      { code: 409, reason: 'AlreadyExists', message: 'configmaps "twice" already exists' },
    );
  });

  it('a method that the resource does not have', () =>
    expectRefusal('PUT', path('configmaps'), {}, { code: 405, reason: 'MethodNotAllowed' }));

  it('a review as a Table', async () => {
    const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io';
    const review = { spec: { nonResourceAttributes: { path: '/', verb: 'get' } } };
    const url = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';
    const refused = await target().request('POST', url, review, { headers: { accept } });
    expect(refused.body).toMatchObject({ kind: 'Status', code: 406, reason: 'NotAcceptable' });
    const second = await target().request('POST', url, review, { headers: { accept: `${accept},application/json` } });
    expect(second.body).toMatchObject({ kind: 'SelfSubjectAccessReview', status: { allowed: true } });
  });

  it('malformed JSON', () =>
    expectRefusal('POST', path('configmaps'), '{"metadata": }', {
      code: 400,
      reason: 'BadRequest',
      message: expect.stringContaining("invalid character '}' looking for beginning of value"),
    }));

  it('a namespace that contradicts the path', () =>
    expectRefusal(
      'POST',
      path('configmaps'),
      { metadata: { name: 'a', namespace: 'elsewhere' } },
      {
        code: 400,
        reason: 'BadRequest',
        message: 'the namespace of the provided object does not match the namespace sent on the request',
      },
    ));

  it('another version than the path says', () =>
    expectRefusal(
      'POST',
      path('configmaps'),
      { apiVersion: 'v2', kind: 'ConfigMap', metadata: { name: 'a' } },
      { code: 400, reason: 'BadRequest' },
    ));

  it('another name than the path says', () =>
    expectRefusal(
      'PUT',
      path('configmaps', 'here'),
      { metadata: { name: 'there' } },
      {
        code: 400,
        reason: 'BadRequest',
        message: 'the name of the object (there) does not match the name on the URL (here)',
      },
    ));

  it('no name at all', () =>
    expectRefusal(
      'POST',
      path('configmaps'),
      { metadata: {} },
      {
        code: 422,
        reason: 'Invalid',
        message: 'ConfigMap "" is invalid: metadata.name: Required value: name or generateName is required',
      },
    ));

  it('a name that is no name', () =>
    expectRefusal(
      'POST',
      path('configmaps'),
      { metadata: { name: 'Not_A_Name' } },
      {
        code: 422,
        reason: 'Invalid',
        details: { name: 'Not_A_Name', kind: 'ConfigMap', causes: [{ reason: 'FieldValueInvalid', field: 'metadata.name' }] },
      },
    ));

  it('a wrong type', () =>
    expectRefusal(
      'POST',
      path('configmaps'),
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'typed' }, data: 'text' },
      {
        code: 400,
        reason: 'BadRequest',
        message: expect.stringContaining('ConfigMap in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal string'),
      },
    ));

  it('an unknown field under strict validation, and a warning without it', async () => {
    const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'strict' }, dta: {} };
    await expectRefusal('POST', `${path('configmaps')}?fieldValidation=Strict`, body, {
      code: 400,
      reason: 'BadRequest',
      message: 'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: unknown field "dta"',
    });
    const warned = await target().request('POST', path('configmaps'), body);
    expect(warned.status).toBe(201);
    expect(warned.headers.warning).toBe('299 - "unknown field \\"dta\\""');
  });

  it('a duplicate field under strict validation', () =>
    expectRefusal(
      'POST',
      `${path('configmaps')}?fieldValidation=Strict`,
      '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"dup"},"data":{"a":"1","a":"2"}}',
      {
        code: 400,
        message: 'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: duplicate field "data.a"',
      },
    ));

  it('an immutable ConfigMap', async () => {
    await target().request('POST', path('configmaps'), { metadata: { name: 'fixed' }, immutable: true, data: { a: '1' } });
    await expectRefusal(
      'PATCH',
      path('configmaps', 'fixed'),
      { data: { a: '2' } },
      {
        code: 422,
        reason: 'Invalid',
        message: 'ConfigMap "fixed" is invalid: data: Forbidden: field is immutable when `immutable` is set',
      },
      'application/merge-patch+json',
    );
  });

  it('a Deployment whose selector does not match its template', () =>
    expectRefusal(
      'POST',
      path('deployments'),
      {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: { name: 'mismatch' },
        spec: {
          selector: { matchLabels: { app: 'a' } },
          template: { metadata: { labels: { app: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
        },
      },
      {
        code: 422,
        reason: 'Invalid',
        message:
          'Deployment.apps "mismatch" is invalid: spec.template.metadata.labels: Invalid value: {"app":"b"}: `selector` does not match template `labels`',
      },
    ));

  it('an object in a namespace that does not exist', () =>
    expectRefusal(
      'POST',
      '/api/v1/namespaces/nowhere/configmaps',
      { metadata: { name: 'a' } },
      { code: 404, message: 'namespaces "nowhere" not found' },
    ));

  it('a body over the limit', async () => {
    const { status, body } = await target().request('POST', path('configmaps'), {
      metadata: { name: 'huge' },
      data: { a: 'x'.repeat(3 * 1024 * 1024 + 100) },
    });
    expect(status).toBe(413);
    expect(body).toMatchObject({ reason: 'RequestEntityTooLarge' });
  });

  it('an object over the size of its kind', () =>
    expectRefusal(
      'POST',
      path('configmaps'),
      { metadata: { name: 'large' }, data: { a: 'x'.repeat(1024 * 1024 + 1) } },
      {
        code: 422,
        reason: 'Invalid',
        message: 'ConfigMap "large" is invalid: []: Too long: may not be more than 1048576 bytes',
      },
    ));

  it('changes nothing when it refuses', async () => {
    const { body } = await target().request('GET', path('configmaps'));
    const names = body.items
      .map((item: { metadata: { name: string } }) => item.metadata.name)
      .filter((name: string) => name !== 'kube-root-ca.crt');
    expect(names).toEqual(['fixed', 'strict', 'twice']);
    expect(namespace).toBe('conformance-refusal');
  });
}
