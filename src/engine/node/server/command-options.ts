import { badRequestError } from '../../../kube/status.ts';

/** What of a program's streams the client wants. */
export interface CommandOptions {
  stdin: boolean;
  stdout: boolean;
  stderr: boolean;
  terminal: boolean;
}

/** @throws StatusError in the kubelet's words. */
export function parseCommandOptions(query: URLSearchParams): CommandOptions {
  const asked = (name: string): boolean => query.get(name) === '1';
  const terminal = asked('tty');
  const options = {
    stdin: asked('input'),
    stdout: asked('output'),
    // A terminal has one output.
    stderr: asked('error') && !terminal,
    terminal,
  };
  if (!options.stdin && !options.stdout && !options.stderr) {
    throw badRequestError('you must specify at least 1 of stdin, stdout, stderr');
  }
  return options;
}
