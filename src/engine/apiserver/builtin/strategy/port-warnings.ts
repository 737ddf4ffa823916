import { quote } from '../../../../kube/go-text.ts';
import type { Json } from '../../../../kube/object.ts';

interface Port {
  path: string;
  port: Json;
}

/** Ports of one Pod that say the same twice, across its containers (given with their paths). */
export function qualifiedPorts(containers: [path: string, container: Json][]): string[] {
  const ports = containers.flatMap(([path, container]) =>
    (container.ports ?? []).map((port: Json, index: number): Port => ({ path: `${path}.ports[${index}]`, port })),
  );
  return [...overlaps(ports), ...repeatedNames(ports)];
}

function overlaps(ports: Port[]): string[] {
  const byNumber = new Map<string, Port[]>();
  const found: string[] = [];
  for (const entry of ports) {
    const key = `${entry.port.containerPort}/${entry.port.protocol}`;
    const others = byNumber.get(key) ?? [];
    for (const other of others) {
      const how = overlap(entry.port, other.port);
      if (how) found.push(`${entry.path}: ${how} port definition with ${other.path}`);
    }
    byNumber.set(key, [...others, entry]);
  }
  return found;
}

function overlap(port: Json, other: Json): string | undefined {
  const [address, otherAddress] = [port.hostIP ?? '', other.hostIP ?? ''];
  const [number, otherNumber] = [port.hostPort ?? 0, other.hostPort ?? 0];
  if (address === otherAddress && number === otherNumber) return 'duplicate';
  if (number === 0 || otherNumber === 0) return 'overlapping';
  const oneIsOpen = (address === '') !== (otherAddress === '');
  return number === otherNumber && oneIsOpen ? 'dangerously ambiguous' : undefined;
}

function repeatedNames(ports: Port[]): string[] {
  const first = new Map<string, string>();
  const found: string[] = [];
  for (const { path, port } of ports) {
    const other = first.get(port.name);
    if (!port.name) continue;
    if (other === undefined) first.set(port.name, path);
    else
      found.push(
        `${path}: duplicate port name ${quote(port.name)} with ${other}, services and probes that select ports by name will use ${other}`,
      );
  }
  return found;
}
