import { describe, expect, it } from 'vitest';
import { SUPPORTED_SOURCES, sourceOf } from './volume-source.ts';

describe('sourceOf', () => {
  it.each(SUPPORTED_SOURCES)('knows %s', (source) => {
    expect(sourceOf({ name: 'v', [source]: {} })).toBe(source);
  });

  it('takes a volume without a source for an emptyDir', () => {
    expect(sourceOf({ name: 'v' })).toBe('emptyDir');
  });

  it.each([
    ['nfs', 'mount the share on the machine and use a hostPath volume'],
    ['csi', 'use a persistentVolumeClaim of the class "local"'],
    ['iscsi', 'use a persistentVolumeClaim of the class "local", or mount it on the machine and use a hostPath volume'],
    ['image', 'copy the files with an init container of that image into an emptyDir'],
    ['gitRepo', 'clone it with an init container into an emptyDir'],
  ])('refuses %s and says what to use', (type, instead) => {
    expect(() => sourceOf({ name: 'v', [type]: {} })).toThrow(
      `Cannot mount a volume of type "${type}": this node does not have it; ${instead}`,
    );
  });
});
