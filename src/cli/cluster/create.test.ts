import { expect, it } from 'vitest';
import { replicasOf } from './create.ts';

it.each(['1', '3'])('%s replicas of a control plane are taken', (text) => expect(replicasOf(text)).toBe(Number(text)));

it.each(['abc', '', '0', '2', '-3', '3.0', '1e0', 'NaN'])('"%s" replicas of a control plane are refused', (text) => {
  expect(() => replicasOf(text)).toThrow(`Cannot use --replicas "${text}": a control plane has 1 or 3 replicas; give one of them`);
});
