import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, mkdirSync, mkdtempSync, openSync, renameSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { FILES } from './backend.ts';
import { MachineConsole } from './machine-console.ts';

describe('MachineConsole', () => {
  let root: string;
  let folder: string;
  let writer: number;

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'tenantry-console-'));
    folder = join(root, 'a');
    mkdirSync(folder);
    execFileSync('mkfifo', [join(folder, FILES.output)]);
    writer = openSync(join(folder, FILES.output), constants.O_RDWR | constants.O_NONBLOCK);
  });

  afterEach(() => {
    closeSync(writer);
    rmSync(root, { recursive: true, force: true });
  });

  it('throws at nobody while the folder of its machine is gone, and listens when it is there again', async () => {
    const console = MachineConsole.open(folder, FILES.console, () => {});
    renameSync(folder, join(root, 'away'));
    // Several tries, each of which finds no folder.
    await new Promise((resolve) => setTimeout(resolve, 300));
    const server = createServer((socket) => socket.end('hello')).listen(join(root, 'away', FILES.console));
    await once(server, 'listening');
    renameSync(join(root, 'away'), folder);
    await vi.waitFor(() => expect(console.text).toContain('hello'), { timeout: 20_000 });
    console.close();
    server.close();
  });
});
