import type { Json, KubeObject } from '../../src/kube/object.ts';
import type { Change } from '../../src/engine/apiserver/validation/recorded/apply-change.ts';

export type { Change };

export interface Base {
  /** Path of the collection: `/api/v1/namespaces/default/pods`. */
  collection: string;
  /** Valid, and created for real; its defaulted form is what cases start from. */
  object: KubeObject;
  /** Changes that turn the stored object into one that can be sent in a create, besides what every object needs. */
  forCreate?: Change;
  /** Same, only for what is sent: the server makes these itself before it validates. */
  madeByServer?: string[];
  /** Answered and forgotten: there is nothing to make, and nothing to update. */
  volatile?: boolean;
  /** Status to start from. */
  status?: Json;
}

export interface Case {
  name: string;
  base: string;
  change: Change;
  /** `create` unless said otherwise. */
  operation?: 'create' | 'update';
  subresource?: string;
  /** Go walks maps in random order, so the order of causes means nothing. */
  unordered?: boolean;
  /** Change to the stored object before the update. */
  oldChange?: Change;
}

export interface CaseSet {
  bases: Record<string, Base>;
  /** May follow from what the server made of the bases. */
  cases: Case[] | ((stored: Record<string, KubeObject>) => Case[]);
  /** Leave out cases that are answered otherwise than by validation. */
  skipOthers?: boolean;
}
