import { describe, expect, test } from 'vitest';
import type { PodStatus } from '../../../../kube/generated/core-v1.ts';
import { statusPatch } from './status-patch.ts';

const ready = (status: string, more: object = {}) => ({ type: 'Ready', status, lastTransitionTime: 't', ...more });

describe('statusPatch', () => {
  test.each<[string, PodStatus, PodStatus, unknown]>([
    ['says nothing when nothing changed', { phase: 'Running' }, { phase: 'Running' }, undefined],
    ['says what is new', {}, { phase: 'Running' }, { phase: 'Running' }],
    ['takes away what is gone', { reason: 'Evicted' }, {}, { reason: null }],
    ['leaves alone what others write', { nominatedNodeName: 'n', qosClass: 'Burstable' }, {}, undefined],
    ['replaces addresses as a whole', {}, { podIPs: [{ ip: '10.0.0.1' }] }, { podIPs: [{ $patch: 'replace' }, { ip: '10.0.0.1' }] }],
    [
      'sends conditions that changed, and of them what did',
      { conditions: [ready('False', { reason: 'x' })] },
      { conditions: [ready('True', { reason: 'x' })] },
      { conditions: [{ type: 'Ready', status: 'True' }] },
    ],
    [
      'takes away what a condition no longer says',
      { conditions: [ready('False', { message: 'not yet' })] },
      { conditions: [ready('True')] },
      { conditions: [{ type: 'Ready', status: 'True', message: null }] },
    ],
    ['leaves conditions of others alone', { conditions: [{ type: 'PodScheduled', status: 'True' }] }, { conditions: [] }, undefined],
    ['does not repeat conditions that are known', { conditions: [ready('True')] }, { conditions: [ready('True')] }, undefined],
  ])('%s', (_name, before, after, patch) => {
    expect(statusPatch(before, after)).toEqual(patch);
  });
});
