import type { AnsweredRequest } from '../areas/plugins/audit/model/api-attempt.ts';
import type { AuditRecord } from '../engine/apiserver/chain/audit.ts';

const FORBIDDEN = 403;

/** Tells whoever asks of the requests that the API server refuses. Costs nothing while nobody does. */
export class RefusedRequests {
  readonly #listeners = new Set<(request: AnsweredRequest) => void>();

  follow(told: (request: AnsweredRequest) => void): () => void {
    this.#listeners.add(told);
    return () => this.#listeners.delete(told);
  }

  record(record: AuditRecord): void {
    if (record.code !== FORBIDDEN || this.#listeners.size === 0) return;
    const { info, message, sourceIPs, completed } = record;
    const kind = [info.group, info.resource].filter((part) => part !== '').join('/');
    const resource = info.isResource ? [kind, info.subresource].filter((part) => part !== '').join('/') : info.path;
    const request: AnsweredRequest = {
      code: record.code,
      user: record.user,
      verb: info.verb,
      resource,
      namespace: info.namespace,
      name: info.name,
      message,
      source: sourceIPs[0],
      at: completed.getTime(),
    };
    for (const told of this.#listeners) told(request);
  }
}
