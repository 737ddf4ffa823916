import { PLACED_IN_LABEL } from '../../api/tenantry.dev/v1alpha1/names.ts';
import { Namespace } from '../../client/kinds.ts';
import type { KubeObject } from '../../kube/object.ts';
import type { Informer } from '../../runtime/informer/informer.ts';
import type { SharedInformers } from '../../runtime/informer/shared-informers.ts';

/** The namespaces whose Runtimes and Runs work in a cluster of their tenant: what has begun here ends here, and nothing new begins. */
export class PlacedNamespaces {
  readonly informer: Informer;

  constructor(informers: SharedInformers) {
    this.informer = informers.get(Namespace, { metadataOnly: true });
  }

  has(namespace: string | undefined): boolean {
    return namespace !== undefined && isPlaced(this.informer.get(namespace));
  }

  /** @returns the way to stop */
  onChange(listener: (namespace: string) => void): () => void {
    return this.informer.onChange((change) => {
      const before = change.type === 'modified' && isPlaced(change.previous);
      if (before !== isPlaced(change.object)) listener(change.object.metadata.name!);
    });
  }
}

function isPlaced(namespace: KubeObject | undefined): boolean {
  return namespace?.metadata.labels?.[PLACED_IN_LABEL] !== undefined;
}
