import type { ForeignServers } from '../server.ts';
import type { Aggregator } from './aggregator.ts';

/** What the server itself needs to know of the servers behind it. */
export function foreignServers(aggregator: Aggregator): ForeignServers {
  return {
    generation: () => aggregator.generation,
    versions: () => aggregator.foreignVersions(),
    documents: () => aggregator.foreignDocuments(),
    definitions: () => aggregator.foreignDefinitions(),
    answer: (request) => {
      const target = aggregator.targetFor(request.info.path);
      if (target === undefined) return undefined;
      const { raw, user } = request;
      const decoded = () => aggregator.answer(request, target);
      // Without a socket nobody writes to one.
      const run = raw ? () => aggregator.proxy(raw.request, raw.response, user, target) : () => Promise.resolve();
      return { status: 200, body: { kind: 'proxied', run, decoded } };
    },
  };
}
