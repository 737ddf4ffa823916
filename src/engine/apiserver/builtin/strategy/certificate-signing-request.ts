import { formatTime } from '../../../../kube/time.ts';
import type { Json } from '../../../../kube/object.ts';
import type { WriteContext } from '../../registry/resource.ts';
import { copyField, keepAllBut, type KindBehaviour } from './standard.ts';

export const CERTIFICATE_SIGNING_REQUEST: KindBehaviour = {
  nameRule: 'path-segment',
  addsFields: true,
  resetFields: { '': ['status'], status: ['spec', 'status.conditions'], approval: ['spec', 'status.certificate'] },
  onCreate(request, { user }) {
    const { spec } = request;
    for (const field of ['username', 'uid', 'groups', 'extra']) delete spec[field];
    if (user.name) spec.username = user.name;
    if (user.uid) spec.uid = user.uid;
    if (user.groups.length > 0) spec.groups = [...user.groups];
    if (user.extra && Object.keys(user.extra).length > 0) spec.extra = { ...user.extra };
  },
  onUpdate: (request, old) => copyField(request, old, 'spec'),
  subresources: {
    status(request, old, context) {
      keepAllBut(request, old, 'status');
      for (const type of ['Approved', 'Denied']) keepDecisions(request, old, type);
      stampConditions(request, old, context);
    },
    approval(request, old, context) {
      stampConditions(request, old, context);
      const { conditions } = request.status;
      keepAllBut(request, old, 'metadata');
      request.status = { ...old.status };
      copyField(request.status, { conditions }, 'conditions');
    },
  },
};

/** Approval and denial are written through their own subresource; a status update cannot rewrite them. */
function keepDecisions(request: Json, old: Json, type: string): void {
  const before = (old.status.conditions ?? []).filter((condition: Json) => condition.type === type);
  const indexes: number[] = [];
  (request.status.conditions ?? []).forEach((condition: Json, index: number) => {
    if (condition.type === type) indexes.push(index);
  });
  if (before.length !== indexes.length) return;
  indexes.forEach((index, i) => (request.status.conditions[index] = before[i]));
}

function stampConditions(request: Json, old: Json, context: WriteContext): void {
  const now = formatTime(context.now());
  request.status.conditions = request.status.conditions?.map((condition: Json) => {
    const same = (candidate: Json): boolean =>
      candidate.type === condition.type && candidate.status === condition.status && Boolean(candidate.lastTransitionTime);
    return {
      ...condition,
      lastUpdateTime: condition.lastUpdateTime ?? now,
      lastTransitionTime: condition.lastTransitionTime ?? old.status.conditions?.find(same)?.lastTransitionTime ?? now,
    };
  });
  if (request.status.conditions === undefined) delete request.status.conditions;
}
