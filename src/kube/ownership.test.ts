import { expect, it } from 'vitest';
import type { KubeObject } from './object.ts';
import { addFinalizer, controllerOf, isControlledBy, removeFinalizer, setControllerReference } from './ownership.ts';

const aDeployment = (name: string, uid: string): KubeObject => ({ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name, uid } });
const anObject = (): KubeObject => ({ apiVersion: 'apps/v1', kind: 'ReplicaSet', metadata: { name: 'rs' } });

it('setControllerReference makes an owner the controller once', () => {
  const object = anObject();
  const owner = aDeployment('web', 'u1');
  expect([setControllerReference(object, owner), setControllerReference(object, owner)]).toEqual([true, false]);
  expect(controllerOf(object)).toEqual({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    name: 'web',
    uid: 'u1',
    controller: true,
    blockOwnerDeletion: true,
  });
  expect(isControlledBy(object, owner)).toBe(true);
});

it('setControllerReference follows an owner that was made anew', () => {
  const object = anObject();
  setControllerReference(object, aDeployment('web', 'u1'));
  expect(setControllerReference(object, aDeployment('web', 'u2'))).toBe(true);
  expect(object.metadata.ownerReferences).toHaveLength(1);
  expect(controllerOf(object)?.uid).toBe('u2');
});

it('setControllerReference refuses a second controller', () => {
  const object = anObject();
  setControllerReference(object, aDeployment('web', 'u1'));
  expect(() => setControllerReference(object, aDeployment('other', 'u2'))).toThrow('Deployment "web" is already its controller');
});

it('finalizers are added once and removed without a trace', () => {
  const object = anObject();
  expect([addFinalizer(object, 'a/b'), addFinalizer(object, 'a/b')]).toEqual([true, false]);
  expect([removeFinalizer(object, 'a/b'), removeFinalizer(object, 'a/b')]).toEqual([true, false]);
  expect(object.metadata).toEqual({ name: 'rs' });
});
