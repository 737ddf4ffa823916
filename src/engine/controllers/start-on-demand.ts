import type { KubeObject } from '../../kube/object.ts';
import type { EventRecorder } from '../../runtime/event-recorder.ts';
import type { Environment, Running } from './environment.ts';
import type { ResourceMonitors } from './resource-monitors/resource-monitors.ts';

/** Something that starts with the first object it is about: an engine that has none pays neither for its code nor for its caches. */
export interface OnDemand {
  /** Whose name its events carry; the manager's by default. */
  controller?: string;
  /** `group/plural`; the core group is empty: `/nodes`. */
  resources: readonly string[];
  /** Which of their objects call for it; any by default. Only metadata is there. */
  calls?(object: KubeObject): boolean;
  load(): Promise<(environment: Environment) => Running>;
}

/** The monitors tell of every object, so nothing is watched for this. */
export function startOnDemand(
  environment: Environment,
  monitors: ResourceMonitors,
  list: readonly OnDemand[],
  eventsFrom: (controller: string) => EventRecorder = () => environment.events,
): Running {
  const waiting = new Set(list);
  const started: Promise<Running | undefined>[] = [];
  let stopped = false;
  const begin = async ({ load, resources, controller }: OnDemand): Promise<Running | undefined> => {
    try {
      const start = await load();
      if (stopped) return undefined;
      return start(controller === undefined ? environment : { ...environment, events: eventsFrom(controller) });
    } catch (error) {
      environment.log.error('cannot start a controller', { resources, error });
      return undefined;
    }
  };
  monitors.listen({
    observed({ group, plural }, object) {
      if (stopped || waiting.size === 0) return;
      const id = `${group}/${plural}`;
      for (const one of waiting) {
        if (!one.resources.includes(id) || one.calls?.(object) === false) continue;
        waiting.delete(one);
        started.push(begin(one));
      }
    },
  });
  return {
    async stop() {
      stopped = true;
      const running = await Promise.all(started);
      await Promise.all(running.flatMap((controller) => (controller ? [controller.stop()] : [])));
    },
  };
}
