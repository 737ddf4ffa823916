import { expect, vi } from 'vitest';
import type { Json } from '../../../src/kube/object.ts';
import type { Answer, ApiTarget } from '../../support/api-target.ts';

const HNC = '/apis/hnc.x-k8s.io/v1alpha2';
const MERGE = 'application/merge-patch+json';

/** What a test says about namespaces and their trees, over plain HTTPS. */
export class Tree {
  readonly #target: ApiTarget;
  readonly #headers: Record<string, string>;

  constructor(target: ApiTarget, headers: Record<string, string> = {}) {
    this.#target = target;
    this.#headers = headers;
  }

  /** The same server, asked by somebody else. */
  as(user: string, group = 'system:authenticated'): Tree {
    return new Tree(this.#target, { 'impersonate-user': user, 'impersonate-group': group });
  }

  request(method: string, path: string, body?: unknown, contentType?: string): Promise<Answer> {
    return this.#target.request(method, path, body, { headers: this.#headers, ...(contentType ? { contentType } : {}) });
  }

  /** @returns the body of an answer that is no refusal */
  async must(answer: Promise<Answer>): Promise<Json> {
    const { status, body } = await answer;
    if (status >= 300) throw new Error(`refused with ${status}: ${body?.message ?? JSON.stringify(body)}`);
    return body;
  }

  /** Creates namespaces, and waits until the tree knows them: only then may they be given a parent. */
  async namespaces(...names: string[]): Promise<void> {
    await Promise.all(names.map((name) => this.must(this.createNamespace(name))));
    for (const name of names) await this.until(async () => expect((await this.labels(name))[`${name}.tree.hnc.x-k8s.io/depth`]).toBe('0'));
  }

  createNamespace(name: string, metadata: object = {}): Promise<Answer> {
    return this.request('POST', '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name, ...metadata } });
  }

  patchNamespace(name: string, metadata: object): Promise<Answer> {
    return this.request('PATCH', `/api/v1/namespaces/${name}`, { metadata }, MERGE);
  }

  deleteNamespace(name: string): Promise<Answer> {
    return this.request('DELETE', `/api/v1/namespaces/${name}`);
  }

  createAnchor(parent: string, name: string, spec: object = {}): Promise<Answer> {
    const body = { apiVersion: 'hnc.x-k8s.io/v1alpha2', kind: 'SubnamespaceAnchor', metadata: { name, namespace: parent }, spec };
    return this.request('POST', `${HNC}/namespaces/${parent}/subnamespaceanchors`, body);
  }

  deleteAnchor(parent: string, name: string): Promise<Answer> {
    return this.request('DELETE', `${HNC}/namespaces/${parent}/subnamespaceanchors/${name}`);
  }

  anchor(parent: string, name: string): Promise<Answer> {
    return this.request('GET', `${HNC}/namespaces/${parent}/subnamespaceanchors/${name}`);
  }

  patchAnchor(parent: string, name: string, patch: object): Promise<Answer> {
    return this.request('PATCH', `${HNC}/namespaces/${parent}/subnamespaceanchors/${name}`, patch, MERGE);
  }

  /** A subnamespace, until it is one. */
  async subnamespace(parent: string, name: string): Promise<void> {
    await this.must(this.createAnchor(parent, name));
    await this.until(async () => {
      expect((await this.anchor(parent, name)).body.status?.status).toBe('Ok');
      expect((await this.hierarchy(name))?.spec?.parent).toBe(parent);
      expect((await this.hierarchy(parent))?.status?.children).toContain(name);
    });
  }

  /** Writes the HierarchyConfiguration as kubectl-hns does: read, then create or replace. */
  async configure(namespace: string, spec: object): Promise<Answer> {
    const path = `${HNC}/namespaces/${namespace}/hierarchyconfigurations`;
    const found = await this.request('GET', `${path}/hierarchy`);
    if (found.status === 200) return this.request('PUT', `${path}/hierarchy`, { ...found.body, spec: { ...found.body.spec, ...spec } });
    const body = { apiVersion: 'hnc.x-k8s.io/v1alpha2', kind: 'HierarchyConfiguration', metadata: { name: 'hierarchy', namespace }, spec };
    return this.request('POST', path, body);
  }

  deleteHierarchy(namespace: string): Promise<Answer> {
    return this.request('DELETE', `${HNC}/namespaces/${namespace}/hierarchyconfigurations/hierarchy`);
  }

  /** Gives a parent, and waits until the parent says so. A write that met another one is made again. */
  async parent(namespace: string, parent: string): Promise<void> {
    await this.until(async () => void (await this.must(this.configure(namespace, { parent }))));
    await this.until(async () => expect((await this.hierarchy(parent))?.status?.children ?? []).toContain(namespace));
  }

  async cascades(namespace: string): Promise<void> {
    await this.until(async () => void (await this.must(this.configure(namespace, { allowCascadingDeletion: true }))));
  }

  async hierarchy(namespace: string): Promise<Json> {
    const { status, body } = await this.request('GET', `${HNC}/namespaces/${namespace}/hierarchyconfigurations/hierarchy`);
    return status === 200 ? body : undefined;
  }

  async exists(namespace: string): Promise<boolean> {
    return (await this.request('GET', `/api/v1/namespaces/${namespace}`)).status === 200;
  }

  async labels(namespace: string): Promise<Record<string, string>> {
    return (await this.request('GET', `/api/v1/namespaces/${namespace}`)).body?.metadata?.labels ?? {};
  }

  /** Names of ancestors to depths, as the labels of the namespace say. */
  async depths(namespace: string): Promise<Record<string, string>> {
    const suffix = '.tree.hnc.x-k8s.io/depth';
    const found = Object.entries(await this.labels(namespace)).filter(([key]) => key.endsWith(suffix));
    return Object.fromEntries(found.map(([key, value]) => [key.slice(0, -suffix.length), value]));
  }

  /** `reason: message` of each condition. */
  async conditions(namespace: string): Promise<string[]> {
    const found: Json[] = (await this.hierarchy(namespace))?.status?.conditions ?? [];
    return found.map(({ reason, message }) => `${reason}: ${message}`);
  }

  async gone(...namespaces: string[]): Promise<void> {
    // A real namespace controller comes back every eight seconds to a namespace that still holds something, once for each level.
    for (const name of namespaces) await this.until(async () => expect(await this.exists(name), `${name} exists`).toBe(false), 120_000);
  }

  until(check: () => Promise<void>, timeout = 20_000): Promise<void> {
    return vi.waitFor(check, { timeout, interval: 25 });
  }
}
