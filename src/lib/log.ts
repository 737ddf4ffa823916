import { realClock, type Clock } from './clock.ts';
import { outliveReader } from './outlive-reader.ts';

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];
export type LogFields = Record<string, unknown>;

export interface Log {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  /** The same log with fields added to every line. */
  with(fields: LogFields): Log;
  enabled(level: LogLevel): boolean;
}

export interface LogOptions {
  level?: LogLevel;
  format?: 'json' | 'pretty';
  clock?: Clock;
  write?: (line: string) => void;
}

export function createLog(options: LogOptions = {}): Log {
  const { level = 'info', format = 'json', clock = realClock, write = toStandardError() } = options;
  const threshold = LOG_LEVELS.indexOf(level);
  const render = format === 'json' ? renderJson : renderPretty;
  const make = (bound: LogFields): Log => {
    const at = (lineLevel: LogLevel) => (message: string, fields?: LogFields) => {
      if (LOG_LEVELS.indexOf(lineLevel) < threshold) return;
      write(`${render(clock.now(), lineLevel, message, fields ? { ...bound, ...fields } : bound)}\n`);
    };
    return {
      debug: at('debug'),
      info: at('info'),
      warn: at('warn'),
      error: at('error'),
      with: (fields) => make({ ...bound, ...fields }),
      enabled: (wanted) => LOG_LEVELS.indexOf(wanted) >= threshold,
    };
  };
  return make({});
}

function toStandardError(): (line: string) => void {
  outliveReader(process.stderr);
  return (line) => void process.stderr.write(line);
}

/** Says nothing: for tests and for code that is used as a library. */
export const silentLog: Log = {
  debug() {},
  info() {},
  warn() {},
  error() {},
  with: () => silentLog,
  enabled: () => false,
};

function renderJson(now: number, level: LogLevel, message: string, fields: LogFields): string {
  const line: LogFields = { time: new Date(now).toISOString(), level, message };
  for (const [name, value] of Object.entries(fields)) line[name in line ? `field.${name}` : name] = plain(value);
  return JSON.stringify(line);
}

function renderPretty(now: number, level: LogLevel, message: string, fields: LogFields): string {
  const rest = Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => {
      const shown = plain(value);
      return `${name}=${typeof shown === 'string' && /^[\w./:@-]+$/.test(shown) ? shown : JSON.stringify(shown)}`;
    });
  return [new Date(now).toISOString().slice(11, 23), level.toUpperCase().padEnd(5), message, ...rest].join(' ');
}

/** Errors keep their text, their code and the chain of what caused them; a log line never throws. */
function plain(value: unknown): unknown {
  if (value instanceof Error) return errorText(value);
  if (typeof value === 'bigint') return value.toString();
  if (typeof value !== 'object' || value === null) return value;
  try {
    JSON.stringify(value);
    return value;
  } catch {
    return Object.prototype.toString.call(value);
  }
}

export function errorText(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const own = error.message === '' ? error.name : error.message;
  return error.cause === undefined ? own : `${own}: ${errorText(error.cause)}`;
}
