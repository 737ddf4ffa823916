import { describe, expect, it } from 'vitest';
import { quoteForShell, runManifest } from './run-manifest.ts';
import type { RunRequest } from './runs-api.ts';

describe('runManifest', () => {
  it('is as short as the request', () => {
    expect(runManifest({ args: ['true'] }, 'run-1')).toEqual({
      metadata: { name: 'run-1' },
      spec: { runtime: 'bash', mode: { task: { args: ['true'] } } },
    });
  });

  it.each<[string, RunRequest, object]>([
    [
      'a script with arguments',
      { script: 'echo $1', args: ['a', 'b'] },
      { source: { inline: 'echo $1' }, mode: { task: { args: ['a', 'b'] } } },
    ],
    [
      'a repository',
      { repository: { url: 'https://h/r', ref: 'main', credentialsSecret: 's' }, entrypoint: 'a.sh' },
      { source: { repoURL: 'https://h/r', commitSHA: 'main', credentialsSecretName: 's' }, mode: { task: { entrypoint: 'a.sh' } } },
    ],
    [
      'variables, wherever their values are',
      {
        args: ['x'],
        env: { A: 'b', S: { secret: 'login', key: 'p' }, C: { configMap: 'm', key: 'k', optional: true }, F: { field: 'metadata.name' } },
      },
      {
        env: [
          { name: 'A', value: 'b' },
          { name: 'S', valueFrom: { secretKeyRef: { name: 'login', key: 'p' } } },
          { name: 'C', valueFrom: { configMapKeyRef: { name: 'm', key: 'k', optional: true } } },
          { name: 'F', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
        ],
      },
    ],
    ['a timeout in milliseconds', { args: ['x'], timeout: 1500 }, { timeout: '1.5s' }],
    ['a timeout as it is written', { args: ['x'], timeout: '1m30s' }, { timeout: '1m30s' }],
    ['retries', { args: ['x'], retry: { attempts: 3, backoff: 200 } }, { retryPolicy: { maxAttempts: 3, backoff: '200ms' } }],
    [
      'all the rest',
      { args: ['x'], ttlSeconds: 60, priority: 5, requests: { gpu: 1 } },
      { ttlSecondsAfterFinished: 60, priority: 5, resources: { requests: { gpu: 1 } } },
    ],
  ])('has %s', (_name, request, spec) => {
    expect(runManifest(request, 'run-1').spec).toMatchObject(spec);
  });

  it.each<[string, string, string[], string[]]>([
    ['one argument is a line of Bash', 'bash', ['echo hi; ls'], ['echo hi; ls']],
    ['several are a command', 'bash', ['echo', 'hi'], ['echo hi']],
    ['each word stays one', 'bash', ['echo', 'a b', "it's", '$HOME', ''], [`echo 'a b' 'it'\\''s' '$HOME' ''`]],
    ['a shell that is called is called', 'bash', ['bash', '-c', 'echo $0', 'x'], ['bash', '-c', 'echo $0', 'x']],
    ['the same for a Bash of another name', 'big-bash', ['echo', 'hi'], ['echo hi']],
    ['other interpreters get their arguments', 'python', ['-c', 'print(1)'], ['-c', 'print(1)']],
  ])('%s', (_name, runtime, args, expected) => {
    expect(runManifest({ runtime, args }, 'r').spec.mode.task?.args).toEqual(expected);
  });

  it.each<[string, RunRequest, string]>([
    ['nothing', {}, 'Cannot run nothing'],
    ['two sources', { script: 'x', repository: { url: 'u' } }, 'a script and a repository at once'],
    ['a timeout that is none', { args: ['x'], timeout: 'soon' }, 'Cannot use "soon" as timeout'],
    ['a timeout before it begins', { args: ['x'], timeout: -1 }, 'Cannot use "-1" as timeout'],
  ])('refuses %s', (_name, request, message) => {
    expect(() => runManifest(request, 'r')).toThrow(message);
  });
});

describe('quoteForShell', () => {
  it('leaves plain words alone', () => {
    expect(['a-b_c/d.e', 'k=v', '*', 'a b'].map(quoteForShell)).toEqual(['a-b_c/d.e', 'k=v', "'*'", "'a b'"]);
  });
});
