import type { Json, KubeObject } from '../../../../kube/object.ts';
import type { Findings } from '../findings.ts';
import { checkNonnegative, checkOneOf } from '../formats.ts';
import { selectorForm } from '../internal-form.ts';
import { path, type Path } from '../path.ts';
import { templateOptions } from '../pod/template.ts';
import { isTimeZone, scheduleError } from './cron-schedule.ts';
import { checkJobSpec } from './job-spec.ts';

const SPEC = path('spec');
const MAX_NAME = 52;
const ZONE_PART = /^[A-Za-z.\-_0-9+]{1,14}$/;

export function validateCronJob(out: Findings, job: KubeObject, old: KubeObject | undefined, subresource: string): void {
  if (subresource === 'status') return;
  checkSpec(out, job.spec ?? {}, old?.spec);
  const name = job.metadata.name ?? '';
  // Jobs are named after it with 11 characters more.
  if (old === undefined && name.length > MAX_NAME) {
    out.invalid(path('metadata', 'name'), name, `must be no more than ${MAX_NAME} characters`);
  }
}

function checkSpec(out: Findings, spec: Json, old: Json): void {
  const { schedule, timeZone, jobTemplate = {} } = spec;
  if (!schedule) out.required(SPEC.child('schedule'));
  else checkSchedule(out, schedule, timeZone, old?.schedule?.includes('TZ') ?? false);
  checkNonnegative(out, spec.startingDeadlineSeconds, SPEC.child('startingDeadlineSeconds'));
  if (timeZone !== undefined && old?.timeZone !== timeZone) checkTimeZone(out, timeZone, SPEC.child('timeZone'));
  checkOneOf(out, spec.concurrencyPolicy, ['Allow', 'Forbid', 'Replace'], SPEC.child('concurrencyPolicy'));
  const jobSpec = jobTemplate.spec ?? {};
  const at = SPEC.child('jobTemplate', 'spec');
  checkJobSpec(out, jobSpec, at, templateOptions(old?.jobTemplate?.spec?.template));
  if (jobSpec.selector !== undefined)
    out.invalid(at.child('selector'), selectorForm(jobSpec.selector), '`selector` will be auto-generated');
  if (jobSpec.manualSelector === true) out.notSupported(at.child('manualSelector'), true, ['nil', 'false']);
  checkNonnegative(out, spec.successfulJobsHistoryLimit, SPEC.child('successfulJobsHistoryLimit'));
  checkNonnegative(out, spec.failedJobsHistoryLimit, SPEC.child('failedJobsHistoryLimit'));
}

function checkSchedule(out: Findings, schedule: string, timeZone: string | undefined, allowZone: boolean): void {
  const at = SPEC.child('schedule');
  const error = scheduleError(schedule);
  if (error !== undefined) out.invalid(at, schedule, error);
  if (!schedule.includes('TZ')) return;
  if (!allowZone) out.invalid(at, schedule, 'cannot use TZ or CRON_TZ in schedule, use timeZone field instead');
  else if (timeZone !== undefined) out.invalid(at, schedule, 'cannot use both timeZone field and TZ or CRON_TZ in schedule');
}

function checkTimeZone(out: Findings, zone: string, at: Path): void {
  if (zone === '') return out.invalid(at, zone, 'timeZone must be nil or non-empty string');
  for (const part of zone.split('/')) {
    if (part === '.' || part === '..' || part.startsWith('-') || !ZONE_PART.test(part)) {
      return out.invalid(at, zone, `unknown time zone ${zone}`);
    }
  }
  if (zone.toLowerCase() === 'local') {
    out.invalid(at, zone, 'timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones');
    if (zone === 'Local') return;
  }
  if (!isTimeZone(zone)) out.invalid(at, zone, `unknown time zone ${zone}`);
}
