import type { KubeList, KubeObject } from '../kube/object.ts';
import { isStatusError, StatusError } from '../kube/status.ts';

export type FetchPage<T extends KubeObject> = (page: { continue?: string; limit?: number }) => Promise<KubeList<T>>;

/**
 * Every object exactly once, page by page. When the server forgets the snapshot between two pages (410), iteration goes on from the newest
 * state: with the token that the refusal carries, or from the start without those already given.
 */
export async function* eachItem<T extends KubeObject>(fetchPage: FetchPage<T>, limit: number): AsyncGenerator<T, void, void> {
  const given = new Set<string>();
  let token: string | undefined;
  do {
    let page: KubeList<T>;
    try {
      page = await fetchPage({ continue: token, limit });
    } catch (error) {
      if (token === undefined || !isExpired(error)) throw error;
      token = continuationOf(error);
      page = await fetchPage({ continue: token, limit });
    }
    for (const item of page.items) {
      const key = `${item.metadata.namespace ?? ''}/${item.metadata.name}`;
      if (given.has(key)) continue;
      given.add(key);
      yield item;
    }
    token = page.metadata.continue || undefined;
  } while (token !== undefined);
}

/** The whole list as of one resourceVersion. When the server forgets the snapshot between two pages, it is fetched again in one piece. */
export async function wholeList<T extends KubeObject>(fetchPage: FetchPage<T>, limit: number): Promise<KubeList<T>> {
  const first = await fetchPage({ limit });
  if (!first.metadata.continue) return first;
  const items = [...first.items];
  let token: string | undefined = first.metadata.continue;
  while (token) {
    try {
      const page = await fetchPage({ continue: token, limit });
      for (const item of page.items) items.push(item);
      token = page.metadata.continue;
    } catch (error) {
      if (!isExpired(error)) throw error;
      return fetchPage({});
    }
  }
  return { ...first, metadata: { resourceVersion: first.metadata.resourceVersion }, items };
}

export function isExpired(error: unknown): error is StatusError {
  return isStatusError(error) && error.code === 410;
}

function continuationOf(error: StatusError): string | undefined {
  const token = error.status.metadata?.continue;
  return typeof token === 'string' && token !== '' ? token : undefined;
}
