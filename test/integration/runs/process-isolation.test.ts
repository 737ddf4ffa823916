import { chmodSync, existsSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { ExecutionState } from '../../../src/areas/runs/protocol/generated/executor_pb.js';
import { Executions } from '../../../src/areas/runs/servers/executions.ts';
import { LANGUAGES } from '../../../src/areas/runs/servers/language.ts';
import { openProcessLauncher } from '../../../src/areas/runs/servers/process-launcher.ts';
import { RunFolders } from '../../../src/areas/runs/servers/sandbox/run-folder.ts';
import { realClock } from '../../../src/lib/clock.ts';

const root = mkdtempSync(join(tmpdir(), 'tenantry-process-isolation-'));
chmodSync(root, 0o755);
afterAll(() => rmSync(root, { recursive: true, force: true }));

function open(workspace: string, path = '/usr/local/bin:/usr/bin:/bin') {
  return openProcessLauncher({
    language: LANGUAGES.bash,
    baseEnv: { PATH: path, HOME: '/tmp' },
    warmWorkers: 1,
    network: false,
    workspace,
    limits: { processes: 64 },
    temporaryBytes: 1 << 20,
    programs: [],
    clock: realClock,
  });
}

describe('process isolation', () => {
  it('is not to be had without bubblewrap, and says so', async () => {
    mkdirSync(join(root, 'a'));
    expect(await open(join(root, 'a'), '/nowhere')).toEqual({ unavailable: 'bubblewrap is not installed; install it (bwrap)' });
  });

  it('is there, or the reason why it is not', async () => {
    const workspace = join(root, 'b');
    mkdirSync(workspace);
    const opened = await open(workspace);
    // What a machine without it says depends on what it lacks.
    if ('unavailable' in opened) return expect(opened.unavailable).toMatch(/bubblewrap|setpriv/);
    if (!('launcher' in opened)) throw new Error('limits were not asked for');
    const executions = new Executions({ language: LANGUAGES.bash, launcher: opened.launcher, clock: realClock });
    const run = async (id: string, script: string) => {
      mkdirSync(join(workspace, id));
      writeFileSync(join(workspace, id, 'script'), script);
      const request = { id, args: [], env: {}, timeoutMs: 20_000, workingDir: join(workspace, id), entrypoint: '', network: false };
      await executions.execute(request);
      await expect
        .poll(() => executions.status(id).state, { timeout: 20_000 })
        .toSatisfy((state) => state === ExecutionState.SUCCEEDED || state === ExecutionState.FAILED);
      return executions.status(id).stdout;
    };
    mkdirSync(join(workspace, 'other'));
    writeFileSync(join(workspace, 'other/secret'), 'x');
    expect(await run('one', `ls -A ..; cat ../other/secret 2>/dev/null; ls /proc | grep -c '^[0-9]'; echo v > kept`)).toMatch(
      /^one\n[1-9]\n$/,
    );
    expect(existsSync(join(workspace, 'one/kept'))).toBe(true);
    // As a user of a namespace it can move its folder; nobody is led elsewhere by what it puts there.
    await run('two', 'cd ..; mv two three; ln -s /etc two');
    expect(lstatSync(join(workspace, 'two')).isDirectory()).toBe(true);
    expect(existsSync(join(workspace, 'three'))).toBe(false);
    await executions.close();
    expect(readdirSync(join(workspace, '.slots')).sort()).toEqual(['etc', 'filter']);
  }, 60_000);
});

describe('RunFolders', () => {
  const workspace = join(root, 'folders');
  const folders = new RunFolders(workspace, false);

  it('gives back what a server before it had taken', async () => {
    mkdirSync(join(workspace, 'run'), { recursive: true });
    await folders.open();
    const slot = folders.make();
    await folders.take('run', slot, undefined);
    await folders.close();
    expect(existsSync(join(workspace, 'run'))).toBe(false);
    await new RunFolders(workspace, false).open();
    expect(existsSync(join(workspace, 'run'))).toBe(true);
    expect(existsSync(slot)).toBe(false);
  });

  it('leaves a folder alone that was made for the next attempt', async () => {
    mkdirSync(join(workspace, 'again'));
    const slot = folders.make();
    await folders.take('again', slot, undefined);
    mkdirSync(join(workspace, 'again'));
    writeFileSync(join(workspace, 'again/script'), 'new');
    await folders.giveBack('again', slot);
    await folders.close();
    expect(readdirSync(join(workspace, 'again'))).toEqual(['script']);
    expect(existsSync(slot)).toBe(false);
  });

  it.each([
    ['/elsewhere/run', undefined],
    [workspace, undefined],
    [join(workspace, '.slots', '1'), undefined],
    [join(workspace, 'run'), 'run'],
    [join(workspace, 'run/repo/deep'), 'run'],
  ])('the folder of %s', (workingDir, name) => expect(folders.nameOf(workingDir)).toBe(name));

  it('takes no link for a folder', async () => {
    const slot = folders.make();
    symlinkSync('/etc', join(workspace, 'link'));
    await expect(folders.take('link', slot, undefined)).rejects.toThrow('it is not a folder');
  });
});
