/** What the requests to one version were like since the routes last changed. */
export interface VersionTraffic {
  /** Under way now. */
  inFlight: number;
  /** Ended, since the gateway has known the routes of now. */
  requests: number;
  /** Those of them that ended with a 5xx, or with no answer. */
  errors: number;
  p99Ms: number;
}

/** What one gateway says about one installation. */
export interface GatewayReport {
  /** Of the routes that it goes by. */
  revision: number;
  versions: Readonly<Record<string, VersionTraffic>>;
}

/** What all gateways together say. */
export interface TrafficFacts {
  /** Every gateway goes by the routes of now. */
  isCurrent: boolean;
  /** There is a gateway that tells anything. */
  isReported: boolean;
  versions: Readonly<Record<string, VersionTraffic>>;
}

const NONE: VersionTraffic = { inFlight: 0, requests: 0, errors: 0, p99Ms: 0 };

/**
 * Sums up the reports of the gateways. One that has not told of the routes of now counts with what it has under way, its counts are of
 * another step. `undefined`: a gateway that has told nothing about this installation yet. Where gateways told something before, silence does
 * not mean that there is nothing to tell.
 */
export function trafficFacts(reports: readonly (GatewayReport | undefined)[], revision: number, wasReported = false): TrafficFacts {
  const versions: Record<string, VersionTraffic> = {};
  for (const report of reports) {
    for (const [version, traffic] of Object.entries(report?.versions ?? {})) {
      const counted = report!.revision === revision ? traffic : { ...NONE, inFlight: traffic.inFlight };
      versions[version] = sum(versions[version] ?? NONE, counted);
    }
  }
  const isReported = reports.length > 0;
  const isCurrent = isReported ? reports.every((report) => report?.revision === revision) : !wasReported;
  return { isCurrent, isReported, versions };
}

export function trafficOf({ versions }: TrafficFacts, version: string): VersionTraffic {
  return versions[version] ?? NONE;
}

/** The slowest gateway's p99 stands for all: a sum of histograms would need them all. */
function sum(a: VersionTraffic, b: VersionTraffic): VersionTraffic {
  return {
    inFlight: a.inFlight + b.inFlight,
    requests: a.requests + b.requests,
    errors: a.errors + b.errors,
    p99Ms: Math.max(a.p99Ms, b.p99Ms),
  };
}
