import { describe, expect, it } from 'vitest';
import { invalid } from './field-error.ts';
import * as errors from './status.ts';

const deployments = { group: 'apps', resource: 'deployments' };

describe('refusals read as those of Kubernetes', () => {
  const cases: [string, errors.StatusError, number, string, string, object | undefined][] = [
    [
      'not found',
      errors.notFoundError(deployments, 'a'),
      404,
      'NotFound',
      'deployments.apps "a" not found',
      { name: 'a', group: 'apps', kind: 'deployments' },
    ],
    [
      'a name to be quoted',
      errors.notFoundError({ group: '', resource: 'pods' }, 'a"b'),
      404,
      'NotFound',
      'pods "a\\"b" not found',
      { name: 'a"b', kind: 'pods' },
    ],
    ['forbidden without a resource', errors.forbiddenError({ group: '', resource: '' }, '', 'no'), 403, 'Forbidden', 'forbidden: no', {}],
    [
      'forbidden without a name',
      errors.forbiddenError(deployments, '', 'no'),
      403,
      'Forbidden',
      'deployments.apps is forbidden: no',
      { group: 'apps', kind: 'deployments' },
    ],
    [
      'method not supported',
      errors.methodNotSupportedError(deployments, 'patch'),
      405,
      'MethodNotAllowed',
      'patch is not supported on resources of kind "deployments.apps"',
      { group: 'apps', kind: 'deployments' },
    ],
    ['too many requests', errors.tooManyRequestsError('slow down', 2), 429, 'TooManyRequests', 'slow down', { retryAfterSeconds: 2 }],
    [
      'an internal error',
      errors.internalServerError('x'),
      500,
      'InternalError',
      'Internal error occurred: x',
      { causes: [{ message: 'x' }] },
    ],
    ['a timeout', errors.timeoutError('late', 0), 504, 'Timeout', 'Timeout: late', {}],
    [
      'invalid without findings',
      errors.invalidError({ group: '', kind: 'Pod' }, 'a', []),
      422,
      'Invalid',
      'Pod "a" is invalid',
      { name: 'a', kind: 'Pod' },
    ],
  ];
  it.each(cases)('%s', (_, { status }, code, reason, message, details) => {
    expect([status.code, status.reason, status.message, status.details]).toEqual([code, reason, message, details]);
  });

  it('invalid names every finding once, and keeps every cause', () => {
    const finding = invalid('a.b', 'x', 'no');
    const { status } = errors.invalidError({ group: 'apps', kind: 'Deployment' }, 'd', [finding, finding, invalid('c', 1, 'never')]);
    expect(status.message).toBe('Deployment.apps "d" is invalid: [a.b: Invalid value: "x": no, c: Invalid value: 1: never]');
    expect(status.details?.causes).toHaveLength(3);
  });
});
