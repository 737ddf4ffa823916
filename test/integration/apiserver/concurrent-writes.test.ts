import { describe, expect, it } from 'vitest';
import type { AdmissionRequest } from '../../../src/engine/apiserver/admission/admission.ts';
import { startServerInMemory } from './server-in-memory.ts';

const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';
const APPLY = 'application/apply-patch+yaml';

function configMap(name: string, data: Record<string, string> = {}, metadata: object = {}) {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, ...metadata }, data };
}

/** Runs `what` once, while the admission of a write to `name` waits. */
function whileAdmitting(name: string, what: () => Promise<unknown>) {
  let done = false;
  return async (request: AdmissionRequest): Promise<void> => {
    if (done || request.name !== name) return;
    done = true;
    await what();
  };
}

describe('writes that wait for admission', () => {
  it('an update without a resourceVersion, is done again, when another write came between', async () => {
    const server = await startServerInMemory({
      around: {
        mutate: whileAdmitting('a', () =>
          server.call('PATCH', `${CONFIG_MAPS}/a`, { data: { other: 'x' } }, 'application/merge-patch+json'),
        ),
      },
    });
    await server.call('POST', CONFIG_MAPS, configMap('b'));
    const { objects } = server.server;
    await objects.create({ group: '', resource: 'configmaps' }, configMap('a', {}, { namespace: 'default' }));
    const answer = await server.call('PUT', `${CONFIG_MAPS}/a`, configMap('a', { mine: '1' }));
    expect(answer.status).toBe(200);
    expect(answer.body.data).toEqual({ mine: '1' });
    server.close();
  });

  it('a create, is refused, when its namespace began to go meanwhile', async () => {
    const server = await startServerInMemory({
      namespaces: ['default', 'leaving'],
      around: { mutate: whileAdmitting('a', () => server.call('DELETE', '/api/v1/namespaces/leaving')) },
    });
    const answer = await server.call('POST', '/api/v1/namespaces/leaving/configmaps', configMap('a'));
    expect(answer.status).toBe(403);
    expect(answer.body.message).toContain('because it is being terminated');
    expect(server.store.count('core/configmaps/leaving/')).toBe(0);
    server.close();
  });

  it('warnings, are told once, when the write was done again', async () => {
    const server = await startServerInMemory({
      around: {
        validate: whileAdmitting('a', () =>
          server.call('PATCH', `${CONFIG_MAPS}/a`, { data: { other: 'x' } }, 'application/merge-patch+json'),
        ),
      },
    });
    await server.server.objects.create({ group: '', resource: 'configmaps' }, configMap('a', {}, { namespace: 'default' }));
    const answer = await server.call('PATCH', `${CONFIG_MAPS}/a`, { unknown: 1, data: { mine: '1' } }, 'application/merge-patch+json');
    expect(answer.status).toBe(200);
    expect(answer.headers.warning.match(/299/g)).toHaveLength(1);
    server.close();
  });
});

describe('creates at the same time', () => {
  it('applies of one new object, are merged, when they arrive together', async () => {
    const server = await startServerInMemory();
    const apply = (manager: string) =>
      server.call('PATCH', `${CONFIG_MAPS}/shared?fieldManager=${manager}`, configMap('shared', { [manager]: '1' }), APPLY);
    const answers = await Promise.all([apply('one'), apply('two'), apply('three')]);
    expect(answers.map(({ status }) => status).sort((a, b) => a - b)).toEqual([200, 200, 201]);
    const { body } = await server.call('GET', `${CONFIG_MAPS}/shared`);
    expect(body.data).toEqual({ one: '1', two: '1', three: '1' });
    server.close();
  });

  it('a name that the client gave, is never replaced, although the object also has a generateName', async () => {
    const server = await startServerInMemory();
    const body = configMap('web-abcde', {}, { generateName: 'web-' });
    expect((await server.call('POST', CONFIG_MAPS, body)).status).toBe(201);
    const again = await server.call('POST', CONFIG_MAPS, body);
    expect(again.status).toBe(409);
    expect(again.body.reason).toBe('AlreadyExists');
    server.close();
  });
});
