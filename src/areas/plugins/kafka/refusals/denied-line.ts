import { ownerOf } from '../model/event-names.ts';

/** What the authorizer of a broker refused a plugin. */
export interface BrokerRefusal {
  tenant: string;
  plugin: string;
  kind: 'kafka';
  target: string;
  rule: string;
  message: string;
  source: string;
  at: number;
}

/** As the standard authorizer writes it, after whatever the broker's logging puts in front. The principal comes before anything that a client names. */
const DENIED =
  /^.{0,200}?(Principal = User:(\S+) is Denied operation = (\S+) from host = (\S+) on resource = (\w+):\w+:(.*) for request = (\S+)) with resourceRefCount = /;

/** Lines about others, and about anything else, are none. */
export function refusalIn(line: string, now: number): BrokerRefusal | undefined {
  const [, message, user, operation, source, resource, name] = DENIED.exec(line) ?? [];
  const owner = user === undefined ? undefined : ownerOf(user);
  if (!owner) return undefined;
  const [target, rule] = [`${resource.toLowerCase()} ${name}`, `kafka:acl:${operation.toLowerCase()}`];
  return { ...owner, kind: 'kafka', target, rule, message, source, at: now };
}
