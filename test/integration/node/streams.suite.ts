import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { buffer, text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { podLogs } from '../../../src/client/streams/pod-logs.ts';
import { podPortForward } from '../../../src/client/streams/port-forward.ts';
import { podAttach, podExec, type ExecRequest } from '../../../src/client/streams/remote-command.ts';
import type { Transport } from '../../../src/client/transport.ts';
import type { ApiTarget } from '../../support/api-target.ts';
import type { ProcessNode } from './node-of-processes.ts';

export const WEB = { namespace: 'default', name: 'web' };

export interface StreamsCluster {
  request: ApiTarget['request'];
  /** As the admin. */
  transport: Transport;
  node: ProcessNode;
}

/** What holds of our client and of our node's server on any API server between them. */
export function streamsSuite(cluster: () => StreamsCluster): void {
  async function run(request: Omit<ExecRequest, 'container'>, input?: string | Buffer) {
    const command = await podExec(cluster().transport, WEB, { ...request, stdin: input !== undefined });
    command.stdin?.end(input);
    const [out, err, exitCode] = await Promise.all([buffer(command.stdout), text(command.stderr!), command.exit]);
    return { out, err, exitCode };
  }

  describe('exec', () => {
    it('gives back both outputs and the exit code', async () => {
      const { out, err, exitCode } = await run({ command: ['sh', '-c', 'echo out; echo err >&2; exit 3'] });
      expect({ out: out.toString(), err, exitCode }).toEqual({ out: 'out\n', err: 'err\n', exitCode: 3 });
    });

    it('the end of input reaches the program, after megabytes both ways', async () => {
      const bytes = Buffer.alloc(5 * 1024 * 1024, 'some text that goes there and back ');
      const { out, exitCode } = await run({ command: ['cat'] }, bytes);
      expect(exitCode).toBe(0);
      expect(out.equals(bytes)).toBe(true);
    });

    it('a program that cannot be started is an error, not an exit code', async () => {
      const command = await podExec(cluster().transport, WEB, { command: ['/does/not/exist'] });
      command.stdout.resume();
      command.stderr!.resume();
      await expect(command.exit).rejects.toMatchObject({ status: { reason: 'InternalError' } });
      await expect(command.exit).rejects.toThrow('error executing command in container');
    });

    it.each([
      ['a Pod that is not there', { namespace: 'default', name: 'none' }, {}, 404, 'pods "none" not found'],
      ['a container that is not there', WEB, { container: 'x' }, 400, 'container x is not valid for pod web'],
      [
        'no container named',
        { namespace: 'default', name: 'two' },
        {},
        400,
        'a container name must be specified for pod two, choose one of: [a b]',
      ],
      ['a Pod on no node', { namespace: 'default', name: 'unplaced' }, {}, 400, 'pod unplaced does not have a host assigned'],
    ])('%s is refused', async (_, pod, more, code, message) => {
      await expect(podExec(cluster().transport, pod, { command: ['true'], ...more })).rejects.toMatchObject({ code, message });
    });

    it('a Pod that the node does not know is refused, before or after the connection is made', async () => {
      const request = { command: ['true'], container: 'a' };
      const refused = podExec(cluster().transport, { namespace: 'default', name: 'two' }, request).then(({ exit }) => exit);
      await expect(refused).rejects.toMatchObject({ status: { message: expect.stringContaining('not found') as string } });
    });

    it('the program ends when its client leaves', async () => {
      const command = await podExec(cluster().transport, WEB, { command: ['sleep', '1000'] });
      await expect.poll(() => cluster().node.running.size).toBe(1);
      const [sleeping] = cluster().node.running;
      const ended = once(sleeping, 'exit');
      command.close();
      await ended;
      await expect(command.exit).rejects.toThrow('connection was closed');
    });

    it('a caller that cancels is let go', async () => {
      const cancel = new AbortController();
      const command = await podExec(cluster().transport, WEB, { command: ['sleep', '1000'], signal: cancel.signal });
      cancel.abort();
      await expect(command.exit).rejects.toThrow('connection was closed');
    });

    it('the size of the terminal is told', async () => {
      const command = await podExec(cluster().transport, WEB, { command: ['cat'], terminal: true, stdin: true });
      command.stdout.resume();
      command.resize(120, 40);
      command.stdin!.end();
      await command.exit;
      expect(cluster().node.sizes).toContainEqual([120, 40]);
    });

    it('output that nobody reads makes the program wait, and nothing is lost', async () => {
      const command = await podExec(cluster().transport, WEB, { command: ['sh', '-c', 'head -c 20000000 /dev/zero; echo end'] });
      await new Promise((resolve) => setTimeout(resolve, 200));
      expect(command.stdout.readableLength).toBeLessThan(2 * 1024 * 1024);
      expect((await buffer(command.stdout)).length).toBe(20_000_004);
      expect(await command.exit).toBe(0);
    });

    it('without asking to leave HTTP it is refused', async () => {
      const { status, body } = await cluster().request('POST', '/api/v1/namespaces/default/pods/web/exec?command=true&stdout=true');
      expect([status, body.message]).toEqual([400, 'Upgrade request required']);
    });
  });

  describe('attach', () => {
    it('reaches the program that runs', async () => {
      cluster().node.attachable.current = spawn('sh', ['-c', 'read line; echo "got $line"; exit 4']);
      const command = await podAttach(cluster().transport, WEB, { stdin: true });
      command.stdin!.write('hello\n');
      command.stderr!.resume();
      expect(await text(command.stdout)).toBe('got hello\n');
      expect(await command.exit).toBe(0);
    });
  });

  describe('logs', () => {
    beforeEach(() => writeFileSync(cluster().node.logPath, '2026-11-15T12:00:00Z stdout F one\n2026-11-15T12:00:01Z stderr F two\n'));

    it.each([
      ['everything', {}, 'one\ntwo\n'],
      ['the last line', { tailLines: 1 }, 'two\n'],
      ['with times', { timestamps: true, tailLines: 1 }, '2026-11-15T12:00:01.000000000Z two\n'],
      ['from a time on', { sinceTime: '2026-11-15T12:00:01Z' }, 'two\n'],
      ['a few bytes', { limitBytes: 5 }, 'one\nt'],
    ])('%s', async (_, options, expected) => {
      expect(await text(await podLogs(cluster().transport, WEB, options))).toBe(expected);
    });

    it('are followed as they are written, until the reader leaves', async () => {
      const log = await podLogs(cluster().transport, WEB, { follow: true, tailLines: 0 });
      expect(await heardWhileWriting(log, cluster().node.logPath)).toBe('three\n');
      const closed = once(log, 'close');
      log.destroy();
      await closed;
    });

    it.each([
      [
        'both ways to say since',
        'sinceSeconds=5&sinceTime=2026-11-15T12:00:00Z',
        422,
        'at most one of `sinceTime` or `sinceSeconds` may be specified',
      ],
      ['fewer lines than none', 'tailLines=-1', 422, 'tailLines: Invalid value: -1: must be greater than or equal to 0'],
      ['no bytes at all', 'limitBytes=0', 422, 'limitBytes: Invalid value: 0: must be greater than 0'],
      ['a number that is none', 'tailLines=x', 400, 'strconv.ParseInt: parsing "x": invalid syntax'],
      ['a container that is not there', 'container=x', 400, 'container x is not valid for pod web'],
    ])('%s is refused', async (_, query, code, message) => {
      const { status, body } = await cluster().request('GET', `/api/v1/namespaces/default/pods/web/log?${query}`);
      expect(status).toBe(code);
      expect(body.message).toContain(message);
    });

    it('of a Pod that is on no node there is nothing', async () => {
      expect((await cluster().request('GET', '/api/v1/namespaces/default/pods/unplaced/log')).status).toBe(204);
    });
  });

  describe('port-forward', () => {
    let echo: Server;
    beforeEach(async () => {
      echo = createServer({ allowHalfOpen: true }, (socket) => socket.pipe(socket));
      echo.listen(0, '127.0.0.1');
      await once(echo, 'listening');
    });
    afterEach(() => void echo.close());
    const port = (): number => (echo.address() as AddressInfo).port;

    it('carries many connections at once, each ending on its own', async () => {
      const forward = await podPortForward(cluster().transport, WEB);
      const said = await Promise.all(
        Array.from({ length: 20 }, async (_, index) => {
          const connection = await forward.open(port());
          connection.end(`connection ${index}`.repeat(1000));
          return text(connection);
        }),
      );
      expect(said).toEqual(Array.from({ length: 20 }, (_, index) => `connection ${index}`.repeat(1000)));
      forward.close();
    });

    it('a port where nobody listens is told, and the others go on', async () => {
      const forward = await podPortForward(cluster().transport, WEB);
      const nobody = createServer().listen(0, '127.0.0.1');
      await once(nobody, 'listening');
      const free = (nobody.address() as AddressInfo).port;
      nobody.close();
      await once(nobody, 'close');
      const connection = await forward.open(free);
      const [error] = (await once(connection, 'error')) as [Error];
      expect(error.message).toContain(`error forwarding port ${free} to pod web`);
      const other = await forward.open(port());
      other.end('still here');
      expect(await text(other)).toBe('still here');
      forward.close();
    });
  });
}

/** The node may look for the end of the log after the answer has begun: so it is written until something is heard. */
export async function heardWhileWriting(log: NodeJS.ReadableStream, path: string): Promise<string> {
  const write = (): void => appendFileSync(path, '2026-11-15T12:00:02Z stdout F three\n');
  const timer = setInterval(write, 20);
  const [chunk] = (await once(log, 'data')) as [Buffer];
  clearInterval(timer);
  return chunk.toString();
}
