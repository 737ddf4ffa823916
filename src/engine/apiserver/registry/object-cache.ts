import type { KubeObject } from '../../../kube/object.ts';
import type { Entry } from '../../store/store.ts';
import type { Resource } from './resource.ts';

/** What is known of a stored version without parsing its bytes again. Lives as the entry's attachment. */
export interface KnownObject {
  labels: Record<string, string> | undefined;
  /** Values of selectable fields, by path; each made when a selector first asks for it. No Map: every object has its own, and it would be three times as large. */
  fields?: Record<string, unknown>;
  /** The parsed object while it is in the cache. Shared: nobody edits it. */
  object?: KubeObject;
}

const decoder = new TextDecoder();

/**
 * Parsed objects, bounded by the size of their encoded form. Bytes and labels of every object stay resident; what is parsed is
 * forgotten oldest first, because a list that walks over everything must not evict by use.
 */
export class ObjectCache {
  readonly #budget: number;
  #bytes = 0;
  #queue: { known: KnownObject; size: number }[] = [];
  #head = 0;

  constructor(budgetBytes: number) {
    this.#budget = budgetBytes;
  }

  /** The attachment for a version that is about to be written, with its parsed form already in the cache. */
  adopt(object: KubeObject, size: number): KnownObject {
    const known: KnownObject = { labels: object.metadata.labels, object };
    this.#remember(known, size);
    return known;
  }

  known(entry: Entry): KnownObject {
    if (entry.attachment === undefined) this.#parse(entry);
    return entry.attachment as KnownObject;
  }

  object(entry: Entry): KubeObject {
    return (entry.attachment as KnownObject | undefined)?.object ?? this.#parse(entry);
  }

  /** One selectable field. Which there are differs between the versions of a custom resource, and with every change of its definition. */
  field(entry: Entry, resource: Resource, path: string): string {
    const fields = (this.known(entry).fields ??= {});
    const known = fields[path];
    // What every object has from its prototype is no string.
    if (typeof known === 'string') return known;
    const value = resource.selectableFields[path]?.(this.object(entry)) ?? '';
    fields[path] = value;
    return value;
  }

  /** A private copy that the caller may edit. */
  draft(entry: Entry): KubeObject {
    return JSON.parse(decoder.decode(entry.bytes)) as KubeObject;
  }

  /** The object if it need not be parsed. */
  cached(entry: Entry): KubeObject | undefined {
    return (entry.attachment as KnownObject | undefined)?.object;
  }

  #parse(entry: Entry): KubeObject {
    return this.remember(entry, JSON.parse(decoder.decode(entry.bytes)) as KubeObject);
  }

  /** Keeps what somebody else made of the entry's bytes. */
  remember(entry: Entry, object: KubeObject): KubeObject {
    const known = (entry.attachment as KnownObject | undefined) ?? { labels: object.metadata.labels };
    known.object = object;
    entry.attachment = known;
    this.#remember(known, entry.bytes.byteLength);
    return object;
  }

  #remember(known: KnownObject, size: number): void {
    this.#queue.push({ known, size });
    this.#bytes += size;
    while (this.#bytes > this.#budget && this.#head < this.#queue.length - 1) {
      const oldest = this.#queue[this.#head++];
      oldest.known.object = undefined;
      this.#bytes -= oldest.size;
    }
    if (this.#head > 1024 && this.#head * 2 > this.#queue.length) {
      this.#queue = this.#queue.slice(this.#head);
      this.#head = 0;
    }
  }
}
