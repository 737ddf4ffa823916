import type { PluginInstallation } from '../../../../api/plugins.tenantry.dev/v1alpha1/plugin-installation.ts';
import { formatTime } from '../../../../kube/time.ts';

type History = NonNullable<NonNullable<PluginInstallation['status']>['history']>;
const MAX_REVISIONS = 20;

/** The history once a version is at work and healthy. The version that a rollback left is known as not good. */
export function withRevision(history: History, at: { version: string; image: string; now: number; isRollback: boolean }): History {
  const last = history.at(-1);
  if (last?.version === at.version && last.image === at.image && last.until === undefined) return history;
  const time = formatTime(new Date(at.now));
  const ended = history.map((revision) =>
    revision === last && revision.until === undefined ? end(revision, time, at.isRollback) : revision,
  );
  return [...ended, { version: at.version, image: at.image, since: time, isKnownGood: true }].slice(-MAX_REVISIONS);
}

function end(revision: History[number], until: string, isRollback: boolean): History[number] {
  return isRollback ? { ...revision, until, isKnownGood: false, reason: 'RolledBack' } : { ...revision, until };
}
