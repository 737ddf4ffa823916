import { describe, expect, test } from 'vitest';
import { badRequestError, conflictError, type StatusError } from '../../../kube/status.ts';
import { patchFailure } from './patch-failure.ts';

const refused = (finding: string) => badRequestError(`Deployment in version "v1" cannot be handled as a Deployment: ${finding}`);
const field = (type: string) => `json: cannot unmarshal string into Go struct field DeploymentSpec.spec.x of type ${type}`;

describe('patchFailure', () => {
  test('is Invalid with the patched object as the value, for a merge patch', () => {
    const error = patchFailure(refused(field('int32')), { spec: { x: 'a' } }, undefined) as StatusError;
    expect(error.status).toMatchObject({
      code: 422,
      reason: 'Invalid',
      message: ` "" is invalid: patch: Invalid value: "{\\"spec\\":{\\"x\\":\\"a\\"}}": ${field('int32')}`,
    });
  });

  test.each([
    ['a number', 'int32', 'unrecognized type: int32'],
    ['a list', '[]v1.Container', 'cannot restore slice from string'],
    ['a map', 'map[string]string', 'cannot restore map from string'],
    ['a struct', 'v1.PodSpec', 'cannot restore struct from: string'],
  ])('names the patch and the wanted type, for a strategic patch of %s', (_name, type, detail) => {
    const error = patchFailure(refused(field(type)), {}, { spec: { x: 'a', b: [1, null] } }) as StatusError;
    expect(error.message).toBe(` "" is invalid: patch: Invalid value: "map[spec:map[b:[1 <nil>] x:a]]": ${detail}`);
  });

  test('keeps unknown fields in the words of strict decoding', () => {
    const error = patchFailure(refused('strict decoding error: unknown field "spec.y"'), {}, { spec: { y: 1 } }) as StatusError;
    expect(error.status).toMatchObject({ code: 422 });
    expect(error.message).toContain('strict decoding error: unknown field "spec.y"');
  });

  test.each([
    ['a conflict', conflictError({ group: '', resource: 'pods' }, 'a', 'x')],
    ['another bad request', badRequestError('name is required')],
    ['what is no Status', new TypeError('x')],
  ])('leaves %s alone', (_name, error) => {
    expect(patchFailure(error, {}, undefined)).toBe(error);
  });
});
