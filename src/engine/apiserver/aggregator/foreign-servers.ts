import type { ApiRequest, ApiResponse } from '../chain/request.ts';
import type { ForeignVersion } from '../discovery/discovery.ts';
import type { ForeignServers } from '../server.ts';
import type { Aggregator } from './aggregator.ts';

/** An API that the server answers itself, without storing anything, as if another server were behind it. */
export interface OwnApi {
  versions(): readonly ForeignVersion[];
  answer(request: ApiRequest): Promise<ApiResponse> | undefined;
}

/** What the server itself needs to know of the servers behind it. One that is really there comes before our own. */
export function foreignServers(aggregator: Aggregator, own?: OwnApi): ForeignServers {
  return {
    generation: () => aggregator.generation,
    versions: joined(() => aggregator.foreignVersions(), own),
    documents: () => aggregator.foreignDocuments(),
    definitions: () => aggregator.foreignDefinitions(),
    answer: (request) => {
      const target = aggregator.targetFor(request.info.path);
      if (target === undefined) return own?.answer(request);
      const { raw, user } = request;
      const decoded = () => aggregator.answer(request, target);
      // Without a socket nobody writes to one.
      const run = raw ? () => aggregator.proxy(raw.request, raw.response, user, target) : () => Promise.resolve();
      return { status: 200, body: { kind: 'proxied', run, decoded } };
    },
  };
}

/** The same array until one of the parts changes. */
function joined(theirs: () => readonly ForeignVersion[], own: OwnApi | undefined): () => readonly ForeignVersion[] {
  if (own === undefined) return theirs;
  let parts: (readonly ForeignVersion[])[] = [];
  let all: readonly ForeignVersion[] = [];
  return () => {
    const now = [theirs(), own.versions()];
    if (now[0] !== parts[0] || now[1] !== parts[1]) {
      parts = now;
      all = [...now[0], ...now[1]];
    }
    return all;
  };
}
