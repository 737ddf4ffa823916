import type { PropagationMode } from '../../../api/hnc.x-k8s.io/v1alpha2/hnc-configuration.ts';
import type { Kind } from '../../../kube/kind.ts';
import type { KubeObject } from '../../../kube/object.ts';
import type { Change, Informer } from '../../../runtime/informer/informer.ts';
import { isCopy } from './model/canonical-copy.ts';
import type { TypeCounts } from './model/configuration-status.ts';
import type { ObjectsOfType, PropagatedType } from './model/objects-of-type.ts';

const SOURCES_IN = 'sources in a namespace';
const SOURCES_NAMED = 'sources of a name';
const COPIES_IN = 'copies in a namespace';

/** A type that is watched, with what is asked of its objects all the time kept as indexes and counts. */
export class LiveType implements PropagatedType {
  readonly kind: Kind;
  readonly informer: Informer;
  readonly objects: ObjectsOfType;
  #mode: PropagationMode;
  #copies = 0;
  #sources = new Map<string, number>();

  constructor(kind: Kind, mode: PropagationMode, informer: Informer) {
    this.kind = kind;
    this.informer = informer;
    this.#mode = mode;
    informer.addIndex(SOURCES_IN, (object) => (isCopy(object) ? [] : [object.metadata.namespace!]));
    informer.addIndex(SOURCES_NAMED, (object) => (isCopy(object) ? [] : [object.metadata.name!]));
    informer.addIndex(COPIES_IN, (object) => (isCopy(object) ? [object.metadata.namespace!] : []));
    informer.onChange((change) => this.#count(change));
    this.objects = {
      find: (namespace, name) => informer.find(namespace, name),
      sourcesIn: (namespace) => informer.byIndex(SOURCES_IN, namespace),
      sourcesNamed: (name) => informer.byIndex(SOURCES_NAMED, name),
    };
  }

  get mode(): PropagationMode {
    return this.#mode;
  }

  set mode(mode: PropagationMode) {
    this.#mode = mode;
  }

  copiesIn(namespace: string): readonly KubeObject[] {
    return this.informer.byIndex(COPIES_IN, namespace);
  }

  /** Sources count where the tree reaches. */
  counts(reaches: (namespace: string) => boolean): TypeCounts {
    let sources = 0;
    for (const [namespace, count] of this.#sources) if (reaches(namespace)) sources += count;
    return { copies: this.#copies, sources };
  }

  #count(change: Change<KubeObject>): void {
    if (change.type === 'modified') this.#add(change.previous, -1);
    this.#add(change.object, change.type === 'deleted' ? -1 : 1);
  }

  #add(object: KubeObject, by: number): void {
    if (isCopy(object)) {
      this.#copies += by;
      return;
    }
    const namespace = object.metadata.namespace!;
    const count = (this.#sources.get(namespace) ?? 0) + by;
    if (count > 0) this.#sources.set(namespace, count);
    else this.#sources.delete(namespace);
  }
}
