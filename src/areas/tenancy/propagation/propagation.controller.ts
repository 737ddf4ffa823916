import { EVENT_SOURCE } from '../../../api/hnc.x-k8s.io/v1alpha2/names.ts';
import { Controller } from '../../../runtime/controller.ts';
import { EventRecorder } from '../../../runtime/event-recorder.ts';
import type { TenancyEnvironment } from '../tenancy-environment.ts';
import type { LiveType } from './live-type.ts';
import { DEFAULT_PROPAGATION_SETTINGS, type PropagationSettings } from './model/propagation-settings.ts';
import { PlaceChanges } from './place-changes.ts';
import { TypePropagation } from './type-propagation.ts';
import { copyWriter } from './write-copy.ts';

const FIELD_MANAGER = 'tenantry-tenancy';
/** Nothing is written here: as many in one turn of the event loop as fit into a few milliseconds. */
const PLACES_AT_ONCE = 64;

/** Copies of objects down the tree. */
export function propagationController(environment: TenancyEnvironment, settings: PropagationSettings = DEFAULT_PROPAGATION_SETTINGS) {
  const { client, clock, log, metrics, forest, types } = environment;
  const events = new EventRecorder({ client, log, controller: EVENT_SOURCE, instance: EVENT_SOURCE, coreSource: EVENT_SOURCE });
  const options = { client, clock, log, metrics, tree: forest, settings, events, writer: copyWriter(client, settings, FIELD_MANAGER) };
  const running = new Map<LiveType, TypePropagation>();
  const stopping: Promise<void>[] = [];
  const moves = new PlaceChanges(forest);
  const places = new Controller({
    name: 'propagation by place',
    clock,
    log,
    metrics,
    concurrency: PLACES_AT_ONCE,
    reconcile(namespace) {
      if (moves.hasMoved(namespace)) for (const propagation of running.values()) propagation.placeChanged(namespace);
      return Promise.resolve();
    },
  });

  function begin(type: LiveType): void {
    const propagation = new TypePropagation(type, options);
    running.set(type, propagation);
    propagation.start();
  }

  function end(type: LiveType): void {
    const propagation = running.get(type);
    running.delete(type);
    if (propagation) stopping.push(propagation.stop());
  }

  const stops: (() => void)[] = [];
  return {
    start(): void {
      for (const type of types.live()) begin(type);
      stops.push(
        forest.onChange((names) => {
          for (const name of names) places.queue.add(name);
        }),
        types.onChange(({ started, stopped, changed }) => {
          for (const type of stopped) end(type);
          for (const type of started) begin(type);
          for (const type of changed) running.get(type)?.resync();
        }),
      );
      places.start();
    },
    async stop(): Promise<void> {
      for (const stop of stops.splice(0)) stop();
      for (const type of running.keys()) end(type);
      await Promise.all([places.stop(), ...stopping]);
      await events.flush();
    },
  };
}
