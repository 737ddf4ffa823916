import { describe, expect, it } from 'vitest';
import { commandParameters, commandQuery, logParameters, portForwardQuery } from './connect-options.ts';

const query = (text: string): URLSearchParams => new URLSearchParams(text);

describe('commandQuery', () => {
  it.each([
    ['nothing', '', {}],
    [
      'all of it',
      'stdin=true&stdout=1&stderr=&tty=yes&container=c',
      { stdin: true, stdout: true, stderr: true, tty: true, container: 'c' },
    ],
    ['what is said to be false', 'stdin=false&stdout=0&tty=FALSE', {}],
    ['a command of several words', 'command=sh&command=-c&command=', { command: ['sh', '-c', ''] }],
  ])('%s', (_, text, expected) => {
    expect(commandQuery('PodExecOptions', query(text))).toEqual({ apiVersion: 'v1', kind: 'PodExecOptions', ...expected });
  });

  it('becomes what the kubelet calls it', () => {
    const options = commandQuery('PodExecOptions', query('stdin=1&stdout=1&stderr=1&tty=1&command=a%20b&command=%26'));
    expect(commandParameters(options).toString()).toBe('input=1&output=1&error=1&tty=1&command=a+b&command=%26');
  });
});

describe('portForwardQuery', () => {
  it.each([
    ['', undefined],
    ['ports=80&ports=81,82', [80, 81, 82]],
  ])('%j', (text, ports) => {
    expect(portForwardQuery(query(text)).ports).toEqual(ports);
  });

  it('refuses what is no number', () => {
    expect(() => portForwardQuery(query('ports=http'))).toThrow('strconv.ParseInt: parsing "http": invalid syntax');
  });
});

describe('logParameters', () => {
  it.each([
    ['', ''],
    ['follow=true&previous=true&timestamps=1', 'follow=true&previous=true&timestamps=true'],
    ['follow=false&tailLines=5&limitBytes=9&sinceSeconds=3', 'tailLines=5&limitBytes=9&sinceSeconds=3'],
    ['sinceTime=2026-01-02T03:04:05.678%2B01:00', 'sinceTime=2026-01-02T02%3A04%3A05Z'],
    ['stream=All&tailLines=0', 'tailLines=0'],
    ['stream=Stderr', 'stream=Stderr'],
  ])('%j is asked of the kubelet as %j', (text, expected) => {
    expect(logParameters('web', query(text)).toString()).toBe(expected);
  });

  it.each([
    ['tailLines=-1', 'PodLogOptions "web" is invalid: tailLines: Invalid value: -1: must be greater than or equal to 0'],
    ['limitBytes=0', 'PodLogOptions "web" is invalid: limitBytes: Invalid value: 0: must be greater than 0'],
    ['sinceSeconds=0', 'PodLogOptions "web" is invalid: sinceSeconds: Invalid value: 0: must be greater than 0'],
    ['stream=stdin', 'stream: Unsupported value: "stdin": supported values: "All", "Stderr", "Stdout"'],
    ['tailLines=99999999999999999999', 'strconv.ParseInt: parsing "99999999999999999999": value out of range'],
    ['sinceTime=yesterday', 'parsing time "yesterday" as "2006-01-02T15:04:05Z07:00": cannot parse "yesterday" as "2006"'],
  ])('%j is refused', (text, message) => {
    expect(() => logParameters('web', query(text))).toThrow(message);
  });
});
