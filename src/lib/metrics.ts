/**
 * A small Prometheus registry. Hot paths resolve a metric's labels once (`const served = requests.labels('GET', '200')`) and
 * then touch one number per event.
 */
export interface Counter {
  inc(by?: number): void;
}

export interface Gauge {
  set(value: number): void;
  inc(by?: number): void;
  dec(by?: number): void;
}

export interface Histogram {
  observe(value: number): void;
}

export interface Family<Child> {
  /** The child for these label values, in the order of the label names. The same values give the same child. */
  labels(...values: string[]): Child;
  /** Forgets the child, so that the label values of things that are gone do not stay forever. */
  remove(...values: string[]): void;
}

/** Seconds, from a millisecond to a minute. */
export const DURATION_BUCKETS: readonly number[] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

interface Sample {
  expose(name: string, labels: string): string;
}

class NumberSample implements Counter, Gauge, Sample {
  value = 0;
  inc(by = 1): void {
    this.value += by;
  }
  dec(by = 1): void {
    this.value -= by;
  }
  set(value: number): void {
    this.value = value;
  }
  expose(name: string, labels: string): string {
    return `${name}${braced(labels)} ${numberText(this.value)}\n`;
  }
}

class HistogramSample implements Histogram, Sample {
  #buckets: readonly number[];
  #counts: number[];
  #sum = 0;

  constructor(buckets: readonly number[]) {
    this.#buckets = buckets;
    this.#counts = Array.from({ length: buckets.length + 1 }, () => 0);
  }

  observe(value: number): void {
    let index = 0;
    while (index < this.#buckets.length && value > this.#buckets[index]) index++;
    this.#counts[index]++;
    this.#sum += value;
  }

  expose(name: string, labels: string): string {
    const prefix = labels === '' ? '' : `${labels},`;
    let text = '';
    let cumulative = 0;
    for (let i = 0; i <= this.#buckets.length; i++) {
      cumulative += this.#counts[i];
      const bound = i < this.#buckets.length ? numberText(this.#buckets[i]) : '+Inf';
      text += `${name}_bucket{${prefix}le="${bound}"} ${cumulative}\n`;
    }
    return `${text}${name}_sum${braced(labels)} ${numberText(this.#sum)}\n${name}_count${braced(labels)} ${cumulative}\n`;
  }
}

class SampleFamily<Child extends Sample> implements Family<Child> {
  #names: readonly string[];
  #make: () => Child;
  #children = new Map<string, Child>();
  /** The same by the plain values: hot paths ask again and again for the same few. */
  #known = new Map<string, Child>();
  readonly header: string;
  readonly name: string;

  constructor(name: string, help: string, type: string, labelNames: readonly string[], make: () => Child) {
    this.name = name;
    this.#names = labelNames;
    this.#make = make;
    this.header = `# HELP ${name} ${help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')}\n# TYPE ${name} ${type}\n`;
  }

  labels(...values: string[]): Child {
    const plain = values.length === 1 ? values[0] : values.join('\0');
    const known = this.#known.get(plain);
    if (known !== undefined) return known;
    const key = this.#key(values);
    const child = this.#children.get(key) ?? this.#make();
    this.#children.set(key, child);
    this.#known.set(plain, child);
    return child;
  }

  remove(...values: string[]): void {
    this.#children.delete(this.#key(values));
    this.#known.clear();
  }

  expose(): string {
    let text = this.header;
    for (const [labels, child] of this.#children) text += child.expose(this.name, labels);
    return text;
  }

  #key(values: string[]): string {
    if (values.length !== this.#names.length) {
      throw new Error(`Cannot label metric "${this.name}": ${values.length} values given; pass ${this.#names.join(', ') || 'none'}`);
    }
    return this.#names.map((label, i) => `${label}="${escapeLabel(values[i])}"`).join(',');
  }
}

export class MetricsRegistry {
  #families = new Map<string, SampleFamily<Sample>>();
  #beforeExpose: (() => void)[] = [];

  counter(name: string, help: string, labelNames: readonly string[] = []): Family<Counter> {
    return this.#family(name, help, 'counter', labelNames, () => new NumberSample());
  }

  gauge(name: string, help: string, labelNames: readonly string[] = []): Family<Gauge> {
    return this.#family(name, help, 'gauge', labelNames, () => new NumberSample());
  }

  histogram(
    name: string,
    help: string,
    labelNames: readonly string[] = [],
    buckets: readonly number[] = DURATION_BUCKETS,
  ): Family<Histogram> {
    return this.#family(name, help, 'histogram', labelNames, () => new HistogramSample(buckets));
  }

  /** Runs before each exposition: for values that are cheaper to read on demand than to keep up to date. */
  beforeExpose(update: () => void): void {
    this.#beforeExpose.push(update);
  }

  /** The text format of Prometheus (`text/plain; version=0.0.4`). */
  expose(): string {
    for (const update of this.#beforeExpose) update();
    let text = '';
    for (const family of this.#families.values()) text += family.expose();
    return text;
  }

  /** The family of that name, made when it is asked for first: several controllers share one metric. */
  #family<Child extends Sample>(
    name: string,
    help: string,
    type: string,
    labelNames: readonly string[],
    make: () => Child,
  ): SampleFamily<Child> {
    const existing = this.#families.get(name);
    if (existing) return existing as SampleFamily<Child>;
    const family = new SampleFamily(name, help, type, labelNames, make);
    this.#families.set(name, family);
    return family;
  }
}

function escapeLabel(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}

function braced(labels: string): string {
  return labels === '' ? '' : `{${labels}}`;
}

function numberText(value: number): string {
  if (value === Infinity) return '+Inf';
  if (value === -Infinity) return '-Inf';
  return String(value);
}
