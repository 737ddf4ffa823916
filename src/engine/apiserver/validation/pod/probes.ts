import { isHttpHeaderName } from '../../../../kube/names.ts';
import type { Json } from '../../../../kube/object.ts';
import type { Findings } from '../findings.ts';
import { checkNonnegative, checkPortNumberOrName } from '../formats.ts';
import type { Path } from '../path.ts';

/** Probes and lifecycle hooks of containers. */
const SCHEMES = ['HTTP', 'HTTPS'];
type Action = (out: Findings, action: Json, at: Path, gracePeriod: number | undefined) => void;

function checkHttpGet(out: Findings, action: Json, at: Path): void {
  if (!action.path) out.required(at.child('path'));
  checkPortNumberOrName(out, action.port, at.child('port'));
  if (!SCHEMES.includes(action.scheme)) out.notSupported(at.child('scheme'), action.scheme ?? '', SCHEMES);
  for (const header of action.httpHeaders ?? []) {
    out.invalidEach(at.child('httpHeaders'), header.name ?? '', isHttpHeaderName(header.name ?? ''));
  }
}

function checkSleep(out: Findings, action: Json, at: Path, gracePeriod: number | undefined): void {
  const seconds = action.seconds ?? 0;
  if (gracePeriod === undefined || (seconds >= 0 && seconds <= gracePeriod)) return;
  out.invalid(at, seconds, `must be non-negative and less than terminationGracePeriodSeconds (${gracePeriod})`);
}

const ACTIONS: [field: string, check: Action][] = [
  ['exec', (out, action, at) => ((action.command ?? []).length === 0 ? out.required(at.child('command')) : undefined)],
  ['httpGet', checkHttpGet],
  ['tcpSocket', (out, action, at) => checkPortNumberOrName(out, action.port, at.child('port'))],
  ['grpc', (out, action, at) => checkPortNumberOrName(out, action.port, at.child('port'))],
  ['sleep', checkSleep],
];

function checkHandler(out: Findings, handler: Json, gracePeriod: number | undefined, at: Path): void {
  let found = false;
  for (const [field, check] of ACTIONS) {
    const action = handler[field];
    if (action === undefined) continue;
    if (found) out.forbidden(at.child(field), 'may not specify more than 1 handler type');
    else check(out, action, at.child(field), gracePeriod);
    found = true;
  }
  if (!found) out.required(at, 'must specify a handler type');
}

function checkProbe(out: Findings, probe: Json, gracePeriod: number | undefined, at: Path): void {
  checkHandler(out, probe, gracePeriod, at);
  for (const field of ['initialDelaySeconds', 'timeoutSeconds', 'periodSeconds', 'successThreshold', 'failureThreshold']) {
    if (probe[field] < 0) checkNonnegative(out, probe[field], at.child(field));
  }
  const termination = probe.terminationGracePeriodSeconds;
  if (termination !== undefined && termination <= 0) {
    out.invalid(at.child('terminationGracePeriodSeconds'), termination, 'must be greater than 0');
  }
}

/** The three probes of a container that runs beside others. */
export function checkProbes(out: Findings, container: Json, gracePeriod: number | undefined, at: Path): void {
  const { livenessProbe, readinessProbe, startupProbe } = container;
  if (livenessProbe !== undefined) checkOneSuccessProbe(out, livenessProbe, gracePeriod, at.child('livenessProbe'));
  if (readinessProbe !== undefined) {
    const probeAt = at.child('readinessProbe');
    checkProbe(out, readinessProbe, gracePeriod, probeAt);
    const termination = readinessProbe.terminationGracePeriodSeconds;
    if (termination !== undefined) {
      out.invalid(probeAt.child('terminationGracePeriodSeconds'), termination, 'must not be set for readinessProbes');
    }
  }
  if (startupProbe !== undefined) checkOneSuccessProbe(out, startupProbe, gracePeriod, at.child('startupProbe'));
}

function checkOneSuccessProbe(out: Findings, probe: Json, gracePeriod: number | undefined, at: Path): void {
  checkProbe(out, probe, gracePeriod, at);
  if (probe.successThreshold !== 1) out.invalid(at.child('successThreshold'), probe.successThreshold ?? 0, 'must be 1');
}

const REALTIME_LOW = Array.from({ length: 15 }, (_, i) => `SIGRTMIN+${i + 1}`);
const REALTIME_HIGH = Array.from({ length: 14 }, (_, i) => `SIGRTMAX-${i + 1}`);
const LINUX_SIGNALS =
  `SIGABRT SIGALRM SIGBUS SIGCHLD SIGCLD SIGCONT SIGFPE SIGHUP SIGILL SIGINT SIGIO SIGIOT SIGKILL SIGPIPE SIGPOLL SIGPROF SIGPWR SIGQUIT SIGSEGV
SIGSTKFLT SIGSTOP SIGSYS SIGTERM SIGTRAP SIGTSTP SIGTTIN SIGTTOU SIGURG SIGUSR1 SIGUSR2 SIGVTALRM SIGWINCH SIGXCPU SIGXFSZ SIGRTMIN SIGRTMAX`
    .split(/\s+/)
    .concat(REALTIME_LOW, REALTIME_HIGH)
    .sort();
const WINDOWS_SIGNALS = ['SIGKILL', 'SIGTERM'];

function checkStopSignal(out: Findings, signal: string, os: Json, at: Path): void {
  if (os === undefined) return out.forbidden(at, 'may not be set for containers with empty `spec.os.name`');
  const supported = os.name === 'windows' ? WINDOWS_SIGNALS : os.name === 'linux' ? LINUX_SIGNALS : undefined;
  if (supported !== undefined && !supported.includes(signal)) out.notSupported(at, signal, supported);
}

export function checkLifecycle(out: Findings, lifecycle: Json, gracePeriod: number | undefined, os: Json, at: Path): void {
  if (lifecycle === undefined) return;
  if (lifecycle.postStart !== undefined) checkHandler(out, lifecycle.postStart, gracePeriod, at.child('postStart'));
  if (lifecycle.preStop !== undefined) checkHandler(out, lifecycle.preStop, gracePeriod, at.child('preStop'));
  if (lifecycle.stopSignal !== undefined) checkStopSignal(out, lifecycle.stopSignal, os, at.child('stopSignal'));
}
