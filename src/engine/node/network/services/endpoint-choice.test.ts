import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../../lib/clock-fake.ts';
import { EndpointChoice } from './endpoint-choice.ts';
import type { ServicePort } from './model/service-endpoints.ts';

const endpoints = ['10.1.0.1', '10.1.0.2', '10.1.0.3'].map((address) => ({ address, port: 80 }));
const port = (affinitySeconds?: number): ServicePort => ({
  id: 'a',
  protocol: 'tcp',
  clusterIps: [],
  port: 80,
  endpoints,
  affinitySeconds,
});

describe('EndpointChoice', () => {
  it('gives every endpoint its turn', () => {
    let seed = 1;
    const random = (): number => (seed = (seed * 16_807) % 2_147_483_647) / 2_147_483_647;
    const choice = new EndpointChoice(new FakeClock(), random);
    const first = new Set(Array.from({ length: 50 }, () => choice.order(port(), 'client')[0].address));
    expect(first.size).toBe(3);
  });

  it('stays with the endpoint that a client had, until the time is over', async () => {
    const clock = new FakeClock();
    const choice = new EndpointChoice(clock, () => 0);
    const sticky = port(60);
    choice.remember(sticky, 'client', endpoints[2]);
    expect(choice.order(sticky, 'client').map(({ address }) => address)).toEqual(['10.1.0.3', '10.1.0.2', '10.1.0.1']);
    expect(choice.order(sticky, 'other')[0].address).toBe('10.1.0.2');
    await clock.advance(61_000);
    expect(choice.order(sticky, 'client')[0].address).toBe('10.1.0.2');
  });
});
