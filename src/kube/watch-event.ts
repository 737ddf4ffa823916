import type { KubeObject } from './object.ts';
import type { Status } from './status.ts';

export type WatchEvent<T = KubeObject> =
  | { type: 'ADDED' | 'MODIFIED' | 'DELETED'; object: T }
  | {
      type: 'BOOKMARK';
      object: { apiVersion: string; kind: string; metadata: { resourceVersion: string; annotations?: Record<string, string> } };
    }
  | { type: 'ERROR'; object: Status };
