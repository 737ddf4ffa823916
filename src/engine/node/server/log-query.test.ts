import { describe, expect, it } from 'vitest';
import { parseLogQuery } from './log-query.ts';

const parse = (text: string) => parseLogQuery(new URLSearchParams(text));

describe('parseLogQuery', () => {
  it('nothing asked is everything once', () => {
    expect(parse('')).toEqual({ follow: false, previous: false, timestamps: false, stream: 'All' });
  });

  it.each([
    ['follow=true&previous=true&timestamps=true', { follow: true, previous: true, timestamps: true }],
    ['tailLines=0', { tailLines: 0 }],
    ['tail=3', { tailLines: 3 }],
    ['tail=all', {}],
    ['sinceSeconds=5&limitBytes=7&stream=Stderr', { sinceSeconds: 5, limitBytes: 7, stream: 'Stderr' }],
    ['sinceTime=2026-01-01T00:00:00Z', { sinceTime: '2026-01-01T00:00:00Z' }],
  ])('%s', (text, expected) => {
    expect(parse(text)).toMatchObject(expected);
  });

  it.each([
    ['tailLines=x', 400],
    ['tailLines=-1', 422],
    ['limitBytes=0', 422],
    ['sinceTime=never', 400],
    ['stream=stdin', 400],
  ])('%s is refused with %d', (text, code) => {
    expect(() => parse(text)).toThrow(expect.objectContaining({ code }));
  });
});
