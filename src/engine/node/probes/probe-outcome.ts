import type { Container } from '../../../kube/generated/core-v1.ts';

/** What one probe found. A `warning` counts as a success; an error is thrown, and counts as neither. */
export interface ProbeOutcome {
  result: 'success' | 'warning' | 'failure';
  output: string;
}

/** No more of an answer is of interest. */
export const MAX_OUTPUT_BYTES = 10 * 1024;

/** A port by number, or by the name that the container gives it. @throws Error in Kubernetes' words */
export function portOf(port: number | string, { name, ports = [] }: Pick<Container, 'name' | 'ports'>): number {
  const number = typeof port === 'number' ? port : (ports.find((candidate) => candidate.name === port)?.containerPort ?? Number(port));
  if (Number.isNaN(number)) throw new Error(`couldn't find port: ${JSON.stringify(port)} in container ${JSON.stringify(name)}`);
  if (number > 0 && number < 65_536) return number;
  throw new Error(`invalid port number: ${number}`);
}

/** As Go joins them: IPv6 in brackets. */
export function joined(host: string, port: number): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

/** How Go tells why a connection did not come about. */
export function dialError(address: string, error: NodeJS.ErrnoException): string {
  const text: Record<string, string> = {
    ECONNREFUSED: 'connect: connection refused',
    EHOSTUNREACH: 'connect: no route to host',
    ENETUNREACH: 'connect: network is unreachable',
    ETIMEDOUT: 'connect: connection timed out',
    ECONNRESET: 'read: connection reset by peer',
  };
  return `dial tcp ${address}: ${text[error.code ?? ''] ?? error.message}`;
}
