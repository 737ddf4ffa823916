import { describe, expect, it } from 'vitest';
import { parseEnvFile, runRequest, type RunFlags } from './run-request.ts';

const files: Record<string, string> = {
  'a.py': 'print(1)',
  'a.sh': 'echo',
  '-': 'from stdin',
  '.env': 'A=1\nB=2',
  long: 'x'.repeat(262_145),
};
const sources = {
  env: { MINE: 'mine' },
  read: (file: string) => (file in files ? Promise.resolve(files[file]) : Promise.reject(new Error('ENOENT: no such file'))),
};
const request = (flags: RunFlags, args: string[] = []) => runRequest(args, flags, sources);

describe('runRequest', () => {
  it.each<[string, RunFlags, object]>([
    ['a script for Bash', { file: 'a.sh' }, { runtime: 'bash', script: 'echo' }],
    ['a script for Python, by its name', { file: 'a.py' }, { runtime: 'python', script: 'print(1)' }],
    ['the Runtime that is named, over that', { file: 'a.py', runtime: 'py3' }, { runtime: 'py3' }],
    ['a script from standard input', { file: '-' }, { runtime: 'bash', script: 'from stdin' }],
    ['a variable, with equal signs', { env: ['A=b=c'] }, { env: { A: 'b=c' } }],
    ['a variable of ours', { env: ['MINE'] }, { env: { MINE: 'mine' } }],
    ['variables of a file, and one over them', { envFile: ['.env'], env: ['B=3'] }, { env: { A: '1', B: '3' } }],
    ['a variable from a Secret', { secret: ['T=login/a.b/c'] }, { env: { T: { secret: 'login', key: 'a.b/c' } } }],
    ['a variable from a ConfigMap', { configMap: ['T=m/k'] }, { env: { T: { configMap: 'm', key: 'k' } } }],
    ['a time to live in seconds', { ttl: '60' }, { ttlSeconds: 60 }],
    ['a time to live as a duration', { ttl: '1h' }, { ttlSeconds: 3600 }],
    ['a priority', { priority: '-5' }, { priority: -5 }],
    ['retries', { retryAttempts: '3', retryBackoff: '2s' }, { retry: { attempts: 3, backoff: '2s' } }],
    ['labels and requests', { label: ['a=b'], request: ['gpu=1'] }, { labels: { a: 'b' }, requests: { gpu: '1' } }],
    ['a repository', { repoUrl: 'u', commitSha: 'c', gitSecret: 's' }, { repository: { url: 'u', ref: 'c', credentialsSecret: 's' } }],
  ])('has %s', async (_name, flags, expected) => {
    expect(await request(flags)).toMatchObject(expected);
  });

  it('is a part of the trace that we are a part of', async () => {
    const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
    const within = (TRACEPARENT?: string) => runRequest(['x'], {}, { ...sources, env: { TRACEPARENT } });
    expect((await within(traceparent)).annotations).toEqual({ traceparent });
    expect((await within('nonsense')).annotations).toBeUndefined();
    expect((await within()).annotations).toBeUndefined();
  });

  it.each<[string, RunFlags, string]>([
    ['a script that is not there', { file: 'nosuch' }, 'Cannot read the script "nosuch"'],
    ['a script that is too long', { file: 'long' }, 'a Run carries 262144; use --repo-url'],
    ['a variable that we do not have', { env: ['NOPE'] }, 'Cannot pass "NOPE" on: it is not set here'],
    ['half a secret', { secret: ['T=login'] }, 'write NAME=secret/key'],
    ['a priority that is none', { priority: 'high' }, 'Cannot use "high" as priority: write a whole number from -1000 to 1000'],
    ['no attempts', { retryAttempts: '0' }, 'from 1 to 100'],
    ['a back-off without attempts', { retryBackoff: '1s' }, '--retry-attempts'],
    ['a time to live that is none', { ttl: 'long' }, 'Cannot use "long" as --ttl'],
    ['a label that is none', { label: ['a'] }, 'write name=value'],
    ['a commit of nothing', { commitSha: 'c' }, 'without --repo-url'],
    ['a function', { handler: 'a.b' }, 'functions are not part of this release'],
  ])('refuses %s', async (_name, flags, message) => {
    await expect(request(flags)).rejects.toThrow(message);
  });
});

describe('parseEnvFile', () => {
  it('understands what such files hold', () => {
    const text = '# comment\n\nexport A=1\r\nB = "two words" \nC=\'$x\'\nD=\nE=a#b\n';
    expect(parseEnvFile(text, 'f')).toEqual({ A: '1', B: 'two words', C: '$x', D: '', E: 'a#b' });
  });

  it('says which line is wrong', () => {
    expect(() => parseEnvFile('A=1\nnonsense', 'f')).toThrow('line 2 is not NAME=value');
  });
});
