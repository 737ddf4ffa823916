import { describe, expect, it } from 'vitest';
import { execFailure, lastComplaint, startFailure } from './runtime-failure.ts';

describe('lastComplaint', () => {
  it.each([
    ['the last error', '{"level":"warning","msg":"w"}\n{"level":"error","msg":"one"}\n{"level":"error","msg":"two"}\n', 'two'],
    ['plain text of a runtime that did not get far', 'cannot stat the bundle\n', 'cannot stat the bundle'],
    ['nothing, from an empty log', '', undefined],
    ['nothing, from warnings', '{"level":"warning","msg":"w"}\n', undefined],
  ])('is %s', (_, log, expected) => {
    expect(lastComplaint(log)).toBe(expected);
  });
});

describe('startFailure', () => {
  it('says what Kubernetes says, when the program is not there', () => {
    const complaint = 'runc run failed: unable to start container process: exec: "nope": executable file not found in $PATH';
    expect(startFailure('runc', complaint)).toMatchObject({
      reason: 'StartError',
      exitCode: 128,
      message:
        'OCI runtime create failed: runc create failed: unable to start container process: exec: "nope": executable file not found in $PATH: unknown',
    });
  });
});

describe('execFailure', () => {
  it('says what Kubernetes says, when the program is not there', () => {
    const complaint = 'exec failed: unable to start container process: exec: "nope": executable file not found in $PATH';
    expect(execFailure(complaint)).toMatchObject({ reason: 'StartError', message: `OCI runtime exec failed: ${complaint}: unknown` });
  });
});
