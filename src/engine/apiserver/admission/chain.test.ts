import { describe, expect, it } from 'vitest';
import type { AdmissionPlugin } from './admission.ts';
import { createAdmission, type AdmissionObservation } from './chain.ts';
import { aPod, aRequest, refusalOf } from './testing/a-request.ts';

function recording(name: string, log: string[], extra: Partial<AdmissionPlugin> = {}): AdmissionPlugin {
  return {
    name,
    handles: () => true,
    mutate: () => void log.push(`mutate ${name}`),
    validate: () => void log.push(`validate ${name}`),
    ...extra,
  };
}

describe('createAdmission', () => {
  it('runs plugins in the order of kube-apiserver, whatever order they come in', () => {
    const log: string[] = [];
    const admission = createAdmission({ plugins: ['ResourceQuota', 'LimitRanger', 'NamespaceLifecycle'].map((n) => recording(n, log)) });
    expect(admission.mutate(aRequest('pods', aPod()))).toBeUndefined();
    expect(log).toEqual(['mutate NamespaceLifecycle', 'mutate LimitRanger', 'mutate ResourceQuota']);
  });

  it('waits for an asynchronous plugin before the next one runs', async () => {
    const log: string[] = [];
    const slow = recording('LimitRanger', log, {
      mutate: async () => {
        await Promise.resolve();
        log.push('mutate LimitRanger');
      },
    });
    const admission = createAdmission({ plugins: [slow, recording('ServiceAccount', log)] });
    const pending = admission.mutate(aRequest('pods', aPod()));
    expect(pending).toBeInstanceOf(Promise);
    await pending;
    expect(log).toEqual(['mutate LimitRanger', 'mutate ServiceAccount']);
  });

  it('skips plugins that do not handle the request', () => {
    const log: string[] = [];
    const admission = createAdmission({ plugins: [recording('LimitRanger', log, { handles: () => false })] });
    void admission.validate(aRequest('pods', aPod()));
    expect(log).toEqual([]);
  });

  it('runs all mutating plugins once more, and only once, when one asks for reinvocation', () => {
    const log: string[] = [];
    const asking = recording('MutatingAdmissionWebhook', log, {
      mutate(request) {
        log.push('mutate webhook');
        request.reinvocation ??= { requested: false, active: false, invoked: new Set(), again: new Set() };
        request.reinvocation.requested = true;
      },
    });
    void createAdmission({ plugins: [asking, recording('LimitRanger', log)] }).mutate(aRequest('pods', aPod()));
    expect(log).toEqual(['mutate LimitRanger', 'mutate webhook', 'mutate LimitRanger', 'mutate webhook']);
  });

  it('runs the undo of plugins once when the write is abandoned', () => {
    const log: string[] = [];
    const taking = recording('ResourceQuota', log, { validate: (request) => void (request.undo ??= []).push(() => log.push('gave back')) });
    const admission = createAdmission({ plugins: [taking] });
    const request = aRequest('pods', aPod());
    void admission.validate(request);
    admission.abandon(request);
    admission.abandon(request);
    expect(log).toEqual(['gave back']);
  });

  it('observes duration and rejection of each plugin', async () => {
    const seen: AdmissionObservation[] = [];
    let time = 0;
    const refusing = recording('LimitRanger', [], {
      validate: () => {
        throw new Error('no');
      },
    });
    const admission = createAdmission({ plugins: [refusing], observe: (o) => void seen.push(o), now: () => (time += 500) });
    await refusalOf(() => admission.validate(aRequest('pods', aPod())));
    expect(seen).toEqual([{ plugin: 'LimitRanger', phase: 'validate', operation: 'CREATE', rejected: true, seconds: 0.5 }]);
  });

  it('refuses a plugin that has no place in the order', () => {
    expect(() => createAdmission({ plugins: [recording('Mine', [])] })).toThrow('Cannot order the admission plugin "Mine"');
  });
});
