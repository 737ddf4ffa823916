import { hasSqlDetails, parse } from 'libpg-query';
import type { Json } from '../../../kube/object.ts';
import { judgeStatement } from './judge-statement.ts';
import { noObjects } from './new-objects.ts';
import { isAlways, MIGRATION_RULES, type MigrationRule } from './rules.ts';

export interface MigrationFile {
  name: string;
  sql: string;
  /** Declared to take away what the version before no longer uses. */
  isContract: boolean;
}

export interface MigrationProblem {
  file: string;
  line: number;
  rule: MigrationRule;
  message: string;
}

/**
 * What in these files, which the version before does not have, breaks that version on the database that they leave. Parsed by
 * PostgreSQL's own parser; judged in the order in which they are applied.
 */
export async function lintMigrations(files: readonly MigrationFile[]): Promise<MigrationProblem[]> {
  const made = noObjects();
  const problems: MigrationProblem[] = [];
  for (const { name, sql, isContract } of files) {
    const statements = await parsed(sql);
    if (!Array.isArray(statements)) {
      problems.push(problem(name, statements.line, 'syntax-error', statements.message));
      continue;
    }
    const bytes = Buffer.from(sql);
    for (const { stmt, stmt_location = 0, stmt_len } of statements) {
      const text = bytes.subarray(stmt_location, stmt_len === undefined ? undefined : stmt_location + stmt_len).toString();
      const start = text.length - withoutLeadingBlanks(text).length;
      const line = linesIn(bytes.subarray(0, stmt_location).toString()) + linesIn(text.slice(0, start)) + 1;
      const rules = judgeStatement(stmt, made).filter((rule) => !isContract || isAlways(rule));
      for (const rule of new Set(rules)) problems.push(problem(name, line, rule, excerpt(text.slice(start))));
    }
  }
  return problems;
}

type Parsed = { stmt: Json; stmt_location?: number; stmt_len?: number }[];

async function parsed(sql: string): Promise<Parsed | { line: number; message: string }> {
  try {
    return ((await parse(sql)).stmts ?? []) as Parsed;
  } catch (error) {
    if (!hasSqlDetails(error)) throw error;
    const position = error.sqlDetails?.cursorPosition ?? 0;
    return { line: linesIn(sql.slice(0, position)) + 1, message: error.message };
  }
}

function problem(file: string, line: number, rule: MigrationRule, what: string): MigrationProblem {
  return { file, line, rule, message: `${what}; ${MIGRATION_RULES[rule].how}` };
}

function linesIn(text: string): number {
  return text.split('\n').length - 1;
}

/** Comments stand before the statement that they are about. */
function withoutLeadingBlanks(text: string): string {
  return text.replace(/^(\s|--[^\n]*(\n|$)|\/\*[\s\S]*?\*\/)+/, '');
}

function excerpt(statement: string): string {
  const line = statement.replaceAll(/\s+/g, ' ').trim();
  return line.length > 100 ? `${line.slice(0, 97)}…` : line;
}
