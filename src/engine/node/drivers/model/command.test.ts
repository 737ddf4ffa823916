import { describe, expect, it } from 'vitest';
import type { ImageConfig } from '../../images/images.ts';
import { commandLine, DEFAULT_PATH, environment } from './command.ts';

const image = (config: Partial<ImageConfig> = {}): ImageConfig => ({
  entrypoint: ['/entry'],
  cmd: ['default'],
  env: [],
  workingDir: '',
  user: '',
  ...config,
});

describe('commandLine', () => {
  it.each([
    ['the image says, when the Pod says nothing', {}, ['/entry', 'default']],
    ['the entry point with the Pod’s arguments, when it gives only those', { args: ['own'] }, ['/entry', 'own']],
    ['the Pod’s command alone, when it gives no arguments', { command: ['sh'] }, ['sh']],
    ['the Pod’s command and arguments, when it gives both', { command: ['sh'], args: ['-c', 'ls'] }, ['sh', '-c', 'ls']],
    ['the image says, when the Pod gives empty lists', { command: [], args: [] }, ['/entry', 'default']],
  ])('is what %s', (_, spec, expected) => {
    expect(commandLine(spec, image())).toEqual(expected);
  });

  it('is refused, when neither Pod nor image has a command', () => {
    expect(() => commandLine({}, image({ entrypoint: [], cmd: [] }))).toThrow(
      expect.objectContaining({ reason: 'CreateContainerError', message: 'no command specified' }),
    );
  });
});

describe('environment', () => {
  const spec = { env: {}, hostname: 'web-0', terminal: false };

  it('has a search path and the name of the host, when nobody says anything', () => {
    expect(environment(spec, image())).toEqual([`PATH=${DEFAULT_PATH}`, 'HOSTNAME=web-0']);
  });

  it('has the kind of terminal, when there is one', () => {
    expect(environment({ ...spec, terminal: true }, image())).toContain('TERM=xterm');
  });

  it.each([
    ['after the others', '/opt/node/bin', 'PATH=/a:/opt/node/bin'],
    ['once', '/a', 'PATH=/a'],
  ])('searches the folder of programs %s', (_, folder, expected) => {
    expect(environment(spec, image({ env: ['PATH=/a'] }), folder)).toContain(expected);
  });

  it('takes the Pod’s word over the image’s, and the image’s over the default', () => {
    const variables = environment(
      { ...spec, env: { B: 'pod', HOSTNAME: 'mine' } },
      image({ env: ['PATH=/image', 'A=x=y', 'B=image', 'broken'] }),
    );
    expect(variables).toEqual(['PATH=/image', 'HOSTNAME=mine', 'A=x=y', 'B=pod']);
  });
});
