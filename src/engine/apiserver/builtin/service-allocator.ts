import { cidrContains, formatIp, parseCidr, parseIp } from '../../../kube/ip.ts';
import type { KubeObject } from '../../../kube/object.ts';
import type { ObjectReader } from '../registry/objects.ts';

export interface ServiceAllocatorOptions {
  /** IPv4 range of cluster addresses, `10.0.0.0/24` by default. */
  clusterIpRange?: string;
  /** First and last port of the node port range. */
  nodePorts?: [first: number, last: number];
  random?: () => number;
  now?: () => number;
}

/** Why an address or port cannot be had, in the words of kube-apiserver. */
export class AllocationError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'AllocationError';
  }
}

const SERVICES = { group: '', resource: 'services' };
/** How long an address is held for a Service that is on its way to the store; one that is refused after all gives it back so. */
const RESERVATION_MS = 30_000;

/** One pool of numbers: those of stored Services, and short reservations for those that are being written. */
class Pool {
  readonly #first: number;
  readonly #last: number;
  /** Numbers below are given out last: people choose fixed ones there. */
  readonly #dynamicFrom: number;
  readonly #used = new Map<number, number>();
  readonly #reserved = new Map<number, number>();
  readonly #random: () => number;
  readonly #now: () => number;

  constructor(first: number, last: number, random: () => number, now: () => number) {
    this.#first = first;
    this.#last = last;
    const size = last - first + 1;
    this.#dynamicFrom = first + Math.min(Math.max(16, Math.floor(size / 16)), 256, size - 1);
    this.#random = random;
    this.#now = now;
  }

  contains(number: number): boolean {
    return number >= this.#first && number <= this.#last;
  }

  isFree(number: number): boolean {
    if (this.#used.has(number)) return false;
    const until = this.#reserved.get(number);
    if (until !== undefined && until <= this.#now()) this.#reserved.delete(number);
    return !this.#reserved.has(number);
  }

  reserve(number: number): void {
    this.#reserved.set(number, this.#now() + RESERVATION_MS);
  }

  next(): number | undefined {
    const found = this.#search(this.#dynamicFrom, this.#last) ?? this.#search(this.#first, this.#dynamicFrom - 1);
    if (found !== undefined) this.reserve(found);
    return found;
  }

  /** Several owners may share a number for the moment that one takes it over from the other. */
  take(number: number): void {
    this.#used.set(number, (this.#used.get(number) ?? 0) + 1);
    this.#reserved.delete(number);
  }

  give(number: number): void {
    const owners = (this.#used.get(number) ?? 0) - 1;
    if (owners > 0) this.#used.set(number, owners);
    else this.#used.delete(number);
  }

  #search(first: number, last: number): number | undefined {
    const size = last - first + 1;
    if (size <= 0) return undefined;
    const offset = Math.floor(this.#random() * size);
    for (let i = 0; i < size; i += 1) {
      const candidate = first + ((offset + i) % size);
      if (this.isFree(candidate)) return candidate;
    }
    return undefined;
  }
}

/** Gives Services their cluster addresses and node ports. What is taken is known from the stored Services alone. */
export class ServiceAllocator {
  readonly range: string;
  readonly #ports: Pool;
  readonly #addresses: Pool;
  readonly #portRange: [number, number];

  constructor(options: ServiceAllocatorOptions = {}) {
    const { clusterIpRange = '10.0.0.0/24', nodePorts = [30_000, 32_767], random = Math.random, now = Date.now } = options;
    this.range = clusterIpRange;
    const [first, last] = addressRange(clusterIpRange);
    this.#addresses = new Pool(first, last, random, now);
    this.#ports = new Pool(nodePorts[0], nodePorts[1], random, now);
    this.#portRange = nodePorts;
  }

  /** Starts from the stored Services and follows their changes. @returns a function that stops. */
  follow(objects: ObjectReader): () => void {
    for (const service of objects.list(SERVICES)) this.#count(service, 1);
    return objects.onChange(SERVICES, (change) => {
      if (change.previous) this.#count(change.previous, -1);
      if (change.type !== 'DELETED') this.#count(change.object, 1);
      else if (!change.previous) this.#count(change.object, -1);
    });
  }

  /** @throws AllocationError */
  nextAddress(): string {
    const found = this.#addresses.next();
    if (found === undefined) throw new AllocationError('range is full');
    return formatIp(toBytes(found));
  }

  /** @throws AllocationError when the address is taken or not in the range. */
  takeAddress(address: string): void {
    const number = toNumber(address);
    if (number === undefined || !this.#addresses.contains(number)) {
      throw new AllocationError(`the provided IP (${address}) is not in the valid range. The range of valid IPs is ${this.range}`);
    }
    if (!this.#addresses.isFree(number)) throw new AllocationError('provided IP is already allocated');
    this.#addresses.reserve(number);
  }

  /** @throws AllocationError */
  nextPort(): number {
    const found = this.#ports.next();
    if (found === undefined) throw new AllocationError('range is full');
    return found;
  }

  /** @throws AllocationError when the port is taken or not in the range. */
  takePort(port: number): void {
    if (!this.#ports.contains(port)) {
      const [first, last] = this.#portRange;
      throw new AllocationError(`provided port is not in the valid range. The range of valid ports is ${first}-${last}`);
    }
    if (!this.#ports.isFree(port)) throw new AllocationError('provided port is already allocated');
    this.#ports.reserve(port);
  }

  #count(service: KubeObject, by: 1 | -1): void {
    const { spec } = service;
    const apply = (pool: Pool, number: number | undefined): void => {
      if (number === undefined) return;
      if (by > 0) pool.take(number);
      else pool.give(number);
    };
    for (const address of spec?.clusterIPs ?? []) apply(this.#addresses, toNumber(address));
    const ports = new Set<number>((spec?.ports ?? []).map((port: { nodePort?: number }) => port.nodePort));
    if (spec?.healthCheckNodePort) ports.add(spec.healthCheckNodePort);
    for (const port of ports) if (port) apply(this.#ports, port);
  }
}

/** The addresses between that of the network and that of the broadcast. */
function addressRange(text: string): [first: number, last: number] {
  const cidr = parseCidr(text);
  const [base, bits] = text.split('/');
  const network = parseIp(base);
  const start = toNumber(base);
  if (!cidr || !network || start === undefined || !cidrContains(cidr, network)) {
    throw new Error(`Cannot give Services addresses of "${text}": not an IPv4 range; give one such as 10.0.0.0/24`);
  }
  const size = 2 ** (32 - Number(bits));
  return [start + 1, start + size - 2];
}

function toNumber(address: string): number | undefined {
  const parts = address.split('.').map(Number);
  if (parts.length !== 4 || parts.some((part) => !Number.isInteger(part) || part < 0 || part > 255)) return undefined;
  return parts.reduce((sum, part) => sum * 256 + part, 0);
}

function toBytes(number: number): Uint8Array {
  return Uint8Array.of(number >>> 24, (number >>> 16) & 255, (number >>> 8) & 255, number & 255);
}
